/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine.c - build the command line of ec2local-machine and run it. Called by ec2local's instance life cycle. */
#include "ec2local/machine.h"

#include "lib/base/err.h"
#include "lib/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MACHINE_PROGRAM PKGLIBEXECDIR "/ec2local-machine"
#define MACHINE_BOOT "/usr/local/sbin/ec2local-boot" /* inside; part of the image */

/* An interface name of at most 15 bytes: the last digits of the id are its random part. */
static int add_wire(struct strs *argv, const char *id)
{
	size_t n = strlen(id);

	return strs_addf(argv, "--wire=v%s", n > 14 ? id + n - 14 : id);
}

static int build_argv(struct strs *argv, const struct machine_spec *s, struct err *e)
{
	if (strs_add(argv, MACHINE_PROGRAM) || strs_add(argv, "--die-with-parent") || strs_add(argv, "--fresh-clock") ||
	    strs_add(argv, "--stay") || strs_addf(argv, "--hostname=%s", s->hostname) ||
	    strs_addf(argv, "--bridge=%s", s->bridge) || add_wire(argv, s->id) ||
	    strs_addf(argv, "--address=%s/%d", s->ip, s->prefix_len) || strs_addf(argv, "--gateway=%s", s->gateway) ||
	    strs_addf(argv, "--mac=%s", s->mac))
		return err_nomem(e);
	for (const char *const *a = s->image_args; a && *a; a++)
		if (strs_add(argv, *a))
			return err_nomem(e);
	if (strs_add(argv, "--") || strs_add(argv, MACHINE_BOOT))
		return err_nomem(e);
	return 0;
}

static int build_actions(posix_spawn_file_actions_t *fa, const char *console)
{
	int rc = posix_spawn_file_actions_addopen(fa, 0, "/dev/null", O_RDONLY, 0);

	if (!rc)
		rc = posix_spawn_file_actions_addopen(fa, 1, console, O_WRONLY | O_CREAT | O_APPEND, 0640);
	return rc ? rc : posix_spawn_file_actions_adddup2(fa, 1, 2);
}

/* Nothing of the server's signal handling reaches the machine, and a Ctrl-C for the server is not one for its machines. */
static int build_attributes(posix_spawnattr_t *at)
{
	sigset_t none, all;
	int rc;

	sigemptyset(&none);
	sigfillset(&all);
	rc = posix_spawnattr_setsigmask(at, &none);
	if (!rc)
		rc = posix_spawnattr_setsigdefault(at, &all);
	if (!rc)
		rc = posix_spawnattr_setpgroup(at, 0);
	return rc ? rc : posix_spawnattr_setflags(at, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

static int spawn(pid_t *pid, char **argv, const char *console)
{
	static char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", lang[] = "LANG=C";
	char *env[] = {path, lang, NULL};
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	int rc = posix_spawn_file_actions_init(&fa);

	if (rc)
		return rc;
	rc = posix_spawnattr_init(&at);
	if (rc)
		goto out;
	rc = build_actions(&fa, console);
	if (!rc)
		rc = build_attributes(&at);
	if (!rc)
		rc = posix_spawn(pid, argv[0], &fa, &at, argv, env);
	posix_spawnattr_destroy(&at);
out:
	posix_spawn_file_actions_destroy(&fa);
	return rc;
}

pid_t machine_start(const struct machine_spec *spec, struct err *e)
{
	struct strs list = {0};
	char **argv = NULL;
	size_t cap = 0;
	pid_t pid = -1;
	int rc;

	if (build_argv(&list, spec, e) < 0)
		goto out;
	if (mem_grow(&argv, &cap, list.n + 1, sizeof(*argv)) < 0) {
		err_nomem(e);
		goto out;
	}
	memcpy(argv, list.v, list.n * sizeof(*argv));
	argv[list.n] = NULL;
	rc = spawn(&pid, argv, spec->console);
	if (rc)
		pid = err_errno(e, rc, "cannot start %s for %s", MACHINE_PROGRAM, spec->id);
out:
	free(argv);
	strs_clear(&list);
	return pid;
}

void machine_stop(pid_t pid)
{
	if (pid > 0)
		kill(pid, SIGKILL);
}
