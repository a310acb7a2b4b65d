/* SPDX-License-Identifier: GPL-2.0-or-later */
/* user.c - become SlurmUser, for a while (commands of root) or for good (daemons). Refuses to go on half changed. */
#include "lib/base/user.h"

#include "lib/base/err.h"
#include "lib/base/num.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* What root was before user_become(), for user_restore(). */
static struct {
	bool changed;
	gid_t gid;
	gid_t *groups;
	int n_groups;
} before;

int user_lookup(const char *name, uid_t *uid, gid_t *gid, struct err *e)
{
	size_t n = 1024;
	struct passwd pw, *found = NULL;
	int64_t number;
	char *memory = NULL, *more;
	int num;

	do {
		n *= 2;
		more = realloc(memory, n);
		if (!more) {
			free(memory);
			return err_nomem(e);
		}
		memory = more;
		num = getpwnam_r(name, &pw, memory, n, &found);
		if (num == 0 && !found && num_i64(name, 0, UINT32_MAX - 1, &number, NULL) == 0)
			num = getpwuid_r((uid_t)number, &pw, memory, n, &found);
	} while (num == ERANGE || num == EINTR);
	if (found) {
		*uid = pw.pw_uid;
		*gid = pw.pw_gid;
	}
	free(memory);
	if (found)
		return 0;
	return num ? err_errno(e, num, "cannot look up the user \"%s\"", name)
		   : err_set(e, "there is no user \"%s\" on this machine", name);
}

static int remember(struct err *e)
{
	int n = getgroups(0, NULL);

	if (n < 0)
		return err_errno(e, errno, "cannot read the groups of this process");
	before.groups = calloc((size_t)n + 1, sizeof *before.groups);
	if (!before.groups)
		return err_nomem(e);
	before.n_groups = getgroups(n, before.groups);
	before.gid = getegid();
	before.changed = true;
	return 0;
}

/* The user's own name for initgroups(); `name` may be a number. */
static int take_groups(const char *name, uid_t uid, gid_t gid)
{
	struct passwd *pw = getpwuid(uid);

	return initgroups(pw ? pw->pw_name : name, gid);
}

int user_become(const char *name, struct err *e)
{
	uid_t uid;
	gid_t gid;

	if (user_lookup(name, &uid, &gid, e))
		return -1;
	if (geteuid() == uid)
		return 0;
	if (geteuid() != 0)
		return err_set(e, "only root or the user \"%s\" may run this", name);
	if (remember(e))
		return -1;
	if (take_groups(name, uid, gid) || setegid(gid) || seteuid(uid)) {
		int num = errno;

		user_restore();
		return err_errno(e, num, "cannot become the user \"%s\"", name);
	}
	return 0;
}

void user_restore(void)
{
	if (!before.changed)
		return;
	/* If the first call fails we stay the lesser user: what root's rights were needed for fails by itself and says so. */
	if (seteuid(0) == 0 && setegid(before.gid) == 0 && before.n_groups >= 0)
		(void)!setgroups((size_t)before.n_groups, before.groups);
	free(before.groups);
	before.groups = NULL;
	before.changed = false;
}

int user_drop(const char *name, struct err *e)
{
	uid_t uid;
	gid_t gid;

	if (user_lookup(name, &uid, &gid, e))
		return -1;
	user_restore();
	if (geteuid() != 0 && (getuid() != uid || geteuid() != uid))
		return err_set(e, "only root or the user \"%s\" may run this", name);
	if (geteuid() != 0 || uid == 0)
		return 0;
	/* as root, setgid and setuid change the real, effective and saved ids at once */
	if (take_groups(name, uid, gid) || setgid(gid) || setuid(uid))
		return err_errno(e, errno, "cannot become the user \"%s\"", name);
	if (setuid(0) == 0)
		return err_set(e, "root's rights are still there after becoming \"%s\"", name);
	return 0;
}
