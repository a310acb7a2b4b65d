/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_user.c - becoming another user for a while and for good; the parts that need root are skipped without. */
#include "tests/unit/test.h"

#include "lib/base/err.h"
#include "lib/base/user.h"

#include <sys/wait.h>
#include <unistd.h>

#define OTHER "nobody" /* exists on every machine and owns nothing */

static void lookup(void **state)
{
	uid_t uid = 77, by_number = 77;
	gid_t gid = 77;
	char number[24];
	struct err e;

	(void)state;
	assert_int_equal(user_lookup("root", &uid, &gid, NULL), 0);
	assert_int_equal(uid, 0);
	assert_int_equal(gid, 0);
	assert_int_equal(user_lookup("no-such-user-here", &uid, &gid, &e), -1);
	assert_non_null(strstr(e.text, "no-such-user-here"));
	assert_int_equal(uid, 0);
	assert_int_equal(user_lookup("", &uid, &gid, NULL), -1);
	assert_int_equal(user_lookup("-1", &uid, &gid, NULL), -1);
	assert_int_equal(user_lookup("4294967295", &uid, &gid, NULL), -1);
	assert_int_equal(user_lookup(OTHER, &uid, &gid, NULL), 0);
	snprintf(number, sizeof number, "%lu", (unsigned long)uid);
	assert_int_equal(user_lookup(number, &by_number, &gid, NULL), 0);
	assert_int_equal(by_number, uid);
}

/* Run in a child: what it changes cannot be undone. */
static void in_child(int (*what)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(what());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static int become(void)
{
	uid_t uid;
	gid_t gid;

	if (user_lookup(OTHER, &uid, &gid, NULL) || user_become(OTHER, NULL))
		return 1;
	if (geteuid() != uid || getegid() != gid || getuid() != 0)
		return 2;
	if (user_become(OTHER, NULL)) /* twice is fine */
		return 3;
	user_restore();
	if (geteuid() != 0 || getegid() != 0)
		return 4;
	user_restore();
	return user_become("root", NULL) ? 5 : 0;
}

static int drop(void)
{
	uid_t uid;
	gid_t gid;
	struct err e = {""};

	if (user_lookup(OTHER, &uid, &gid, NULL) || user_become(OTHER, NULL) || user_drop(OTHER, NULL))
		return 1;
	if (getuid() != uid || geteuid() != uid || getgid() != gid || getegid() != gid)
		return 2;
	if (setuid(0) == 0 || seteuid(0) == 0)
		return 3;
	user_restore();
	if (geteuid() != uid)
		return 4;
	if (user_drop(OTHER, NULL) || user_become(OTHER, NULL)) /* already that user */
		return 5;
	if (user_become("root", &e) != -1 || !strstr(e.text, "only root or the user \"root\""))
		return 6;
	return user_drop("root", NULL) == -1 ? 0 : 7;
}

static void becoming(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	in_child(become);
}

static void dropping(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	in_child(drop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(lookup), cmocka_unit_test(becoming), cmocka_unit_test(dropping)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
