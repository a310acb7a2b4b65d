/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_trial_folder.c - the trial's folder and its slurmctld are gone after a kill -9 of their maker; stale ones go, owned ones
 * stay.
 */
#include "cli/trial_folder.h"

#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/proc.h"
#include "lib/base/str.h"
#include "tests/unit/test.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_MS 20000

static char base[] = "/tmp/test-trial-XXXXXX";

static int setup(void **state)
{
	(void)state;
	return mkdtemp(base) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return file_remove_tree(base, NULL);
}

struct made {
	pid_t pid;
	char path[128];
};

/* In a child: a trial with a process, told to the parent, then killed without a chance to clean up. */
static void maker(int fd)
{
	static const char *const argv[] = { "sleep", "1000", NULL };
	struct trial_folder t;
	struct made m = { 0 };

	if (trial_folder_make(&t, base, NULL))
		_exit(1);
	m.pid = proc_spawn(argv, NULL, NULL, NULL);
	trial_folder_watch(&t, m.pid);
	snprintf(m.path, sizeof(m.path), "%s", t.path);
	(void)!write(fd, &m, sizeof(m));
	raise(SIGKILL);
}

static bool runs(pid_t pid)
{
	char *path = str_fmt("/proc/%d/cmdline", (int)pid);
	bool there = access(path, F_OK) == 0 && kill(pid, 0) == 0;

	free(path);
	return there;
}

static void test_killed(void **state)
{
	int64_t until = clock_mono_ms() + LIMIT_MS;
	struct made m;
	int p[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(p), 0);
	pid = fork();
	if (pid == 0)
		maker(p[1]);
	close(p[1]);
	assert_int_equal(read(p[0], &m, sizeof(m)), (ssize_t)sizeof(m));
	close(p[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	while ((file_exists(m.path) || runs(m.pid)) && clock_mono_ms() < until) {
		waitpid(-1, NULL, WNOHANG);
		clock_sleep_ms(20);
	}
	assert_false(file_exists(m.path));
	assert_false(runs(m.pid));
}

static void test_stale_go(void **state)
{
	char *stale = file_join(base, "slurm-ec2-try-stale/state"), *other = file_join(base, "slurm-ec2-trial");
	struct trial_folder a, b;

	(void)state;
	assert_int_equal(file_mkdirs(stale, 0700, NULL), 0);
	assert_int_equal(file_mkdirs(other, 0700, NULL), 0);
	assert_int_equal(trial_folder_make(&a, base, NULL), 0);
	assert_false(file_exists(stale));
	assert_int_equal(trial_folder_make(&b, base, NULL), 0);
	assert_true(file_exists(a.path)); /* it has a living owner */
	assert_true(file_exists(other));
	trial_folder_remove(&b);
	assert_true(file_exists(a.path));
	free(stale);
	stale = str_dup(a.path);
	trial_folder_remove(&a);
	assert_false(file_exists(stale));
	trial_folder_remove(&a); /* twice is fine */
	free(stale);
	free(other);
}

static void test_no_base(void **state)
{
	struct trial_folder t;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(trial_folder_make(&t, "/nonexistent", &e), -1);
	assert_non_null(strstr(e.text, "/nonexistent"));
	trial_folder_remove(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_stale_go),
		cmocka_unit_test(test_no_base),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
