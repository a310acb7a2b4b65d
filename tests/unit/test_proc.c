/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_proc.c - running and ending programs, the sane start. */
#include "tests/unit/test.h"

#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/num.h"
#include "lib/base/proc.h"
#include "lib/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 20000 /* a condition that has not come by then will not come */

static int run(const char *script, int timeout_ms, struct buf *out, struct proc_result *r)
{
	const char *const argv[] = {"/bin/sh", "-c", script, NULL};
	struct err e = {""};

	if (proc_run(argv, NULL, timeout_ms, out, r, &e))
		fail_msg("%s: %s", script, e.text);
	return 0;
}

static void no_child_left(void)
{
	errno = 0;
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* Gone, or a zombie that waits for a parent which is not us. */
static bool is_gone(pid_t pid)
{
	char *path = str_fmt("/proc/%ld/stat", (long)pid);
	struct buf b = {0};
	bool gone = file_read(path, 4096, &b, NULL) != 0;
	const char *state = gone ? NULL : strrchr(buf_text(&b), ')');

	if (state)
		gone = state[2] == 'Z' || state[2] == 'X';
	buf_free(&b);
	free(path);
	return gone;
}

static void wait_gone(pid_t pid)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	while (!is_gone(pid)) {
		if (clock_mono_ms() > end)
			fail_msg("process %ld still runs", (long)pid);
		clock_sleep_ms(5);
	}
}

static void outcomes(void **state)
{
	static const struct {
		const char *script;
		int code, signal;
		const char *out;
	} row[] = {
		{"exit 0", 0, 0, ""},
		{"exit 7", 7, 0, ""},
		{"exit 255", 255, 0, ""},
		{"kill -9 $$", -1, SIGKILL, ""},
		{"kill -15 $$", -1, SIGTERM, ""},
		{"echo out; echo err >&2; exit 3", 3, 0, "out\nerr\n"},
		{"cat; echo end", 0, 0, "end\n"}, /* stdin is empty */
		{"exec >&- 2>&-; exit 5", 5, 0, ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct proc_result r;
		struct buf out = {0};

		run(row[i].script, -1, &out, &r);
		assert_int_equal(r.exit_code, row[i].code);
		assert_int_equal(r.signal, row[i].signal);
		assert_false(r.timed_out);
		assert_string_equal(buf_text(&out), row[i].out);
		buf_free(&out);
		run(row[i].script, PATIENCE_MS, NULL, &r);
		assert_int_equal(r.exit_code, row[i].code);
		no_child_left();
	}
}

static void cannot_start(void **state)
{
	static const char *const name[] = {"/no/such/program", "no-such-program", "/etc/passwd", "/etc"};

	(void)state;
	for (size_t i = 0; i < COUNT(name); i++) {
		const char *const argv[] = {name[i], NULL};
		struct proc_result r = {.exit_code = 4711};
		struct err e = {""};

		assert_int_equal(proc_run(argv, NULL, -1, NULL, &r, &e), -1);
		assert_non_null(strstr(e.text, name[i]));
		assert_int_equal(r.exit_code, 4711);
		assert_int_equal(proc_spawn(argv, NULL, NULL, &e), -1);
		no_child_left();
	}
}

static void safe_path_and_env(void **state)
{
	const char *const argv[] = {"env", NULL}, *const env[] = {"A=b c", NULL};
	struct buf out = {0};
	struct proc_result r;

	(void)state;
	setenv("PATH", "/nowhere", 1);
	setenv("SECRET", "x", 1);
	assert_int_equal(proc_run(argv, NULL, -1, &out, &r, NULL), 0);
	assert_non_null(strstr(buf_text(&out), "PATH=/usr/"));
	assert_non_null(strstr(buf_text(&out), "LANG=C\n"));
	assert_null(strstr(buf_text(&out), "SECRET"));
	buf_reset(&out);
	assert_int_equal(proc_run(argv, env, -1, &out, &r, NULL), 0);
	assert_string_equal(buf_text(&out), "A=b c\n");
	buf_free(&out);
}

/* The set behind a name of /proc/PID/status, without 32 and above: two of those are the C library's own. */
static unsigned long signal_set(const struct buf *status, const char *name)
{
	const char *at = strstr(buf_text(status), name);

	assert_non_null(at);
	return strtoul(at + strlen(name), NULL, 16) & 0x7fffffff;
}

/* Whatever is blocked or ignored here, the child starts afresh; and no descriptor of ours leaks. */
static void clean_child(void **state)
{
	const char *const argv[] = {"/bin/grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status", NULL};
	struct buf out = {0};
	struct proc_result r;
	sigset_t all, old;
	int leak;

	(void)state;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	signal(SIGUSR1, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	leak = fcntl(2, F_DUPFD, 60);
	assert_int_equal(proc_run(argv, NULL, -1, &out, &r, NULL), 0);
	assert_int_equal(signal_set(&out, "SigBlk:"), 0);
	assert_int_equal(signal_set(&out, "SigIgn:"), 0);
	buf_reset(&out);
	run("for fd in /proc/self/fd/*; do test \"${fd##*/}\" -gt 9 && echo $fd; done; exit 0", -1, &out, &r);
	assert_string_equal(buf_text(&out), "");
	buf_free(&out);
	close(leak);
	signal(SIGUSR1, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static pid_t printed_pid(const struct buf *out)
{
	struct strs lines = {0};
	int64_t pid = 0;

	assert_int_equal(strs_split(&lines, buf_text(out), '\n'), 0);
	assert_true(lines.n >= 1);
	assert_int_equal(num_i64(lines.v[0], 1, INT32_MAX, &pid, NULL), 0);
	strs_clear(&lines);
	return (pid_t)pid;
}

/* The time-out ends the whole group, also a grandchild that holds the pipe, also those that ignore SIGTERM, also endless
 * writers. */
static void time_out(void **state)
{
	static const char *const script[] = {
		"sleep 600 & echo $!; wait",
		"trap '' TERM; sleep 600 & echo $!; wait; sleep 600",
		"sleep 600 & echo $!; exec cat /dev/zero",
		"sleep 600 & echo $!; exec >&- 2>&-; sleep 600",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(script); i++) {
		struct buf out = {0};
		struct proc_result r;

		run(script[i], 300, &out, &r);
		assert_true(r.timed_out);
		assert_int_equal(r.exit_code, -1);
		assert_true(r.signal == SIGTERM || r.signal == SIGKILL);
		wait_gone(printed_pid(&out));
		buf_free(&out);
		no_child_left();
	}
}

/* A background process that keeps the pipe open does not hold us once the program itself has ended. */
static void background_holder(void **state)
{
	struct buf out = {0};
	struct proc_result r;
	pid_t holder;

	(void)state;
	run("sleep 600 & echo $!; exit 4", PATIENCE_MS, &out, &r);
	assert_false(r.timed_out);
	assert_int_equal(r.exit_code, 4);
	holder = printed_pid(&out);
	kill(holder, SIGKILL);
	wait_gone(holder);
	buf_free(&out);
}

static void much_output(void **state)
{
	struct buf out = {0};
	struct proc_result r;

	(void)state;
	buf_str(&out, "before");
	run("head -c 3000000 /dev/zero", PATIENCE_MS, &out, &r);
	assert_int_equal(r.exit_code, 0);
	assert_int_equal(out.n, 6 + 1024 * 1024);
	buf_free(&out);
}

static void spawn_and_end(void **state)
{
	const char *const argv[] = {"/bin/sh", "-c", "sleep 600 & echo $!; echo ready; wait", NULL};
	char *folder = test_folder(), *path = file_join(folder, "log");
	struct buf out = {0};
	int64_t end = clock_mono_ms() + PATIENCE_MS;
	struct err e = {""};
	pid_t pid;

	(void)state;
	assert_int_equal(file_replace(path, 0600, "", 0, NULL), 0);
	pid = proc_spawn(argv, NULL, path, &e);
	assert_true(pid > 0);
	assert_int_equal(getpgid(pid), pid);
	while (buf_reset(&out), file_read(path, 100, &out, NULL) == 0 && !strstr(buf_text(&out), "ready")) {
		if (clock_mono_ms() > end)
			fail_msg("the program never wrote");
		clock_sleep_ms(5);
	}
	proc_end(pid, 5000);
	assert_true(is_gone(pid));
	wait_gone(printed_pid(&out));
	no_child_left();
	proc_end(pid, 1000); /* not ours any more */
	proc_end(0, 1000);
	proc_end(-1, 1000);
	assert_int_equal(proc_spawn(argv, NULL, folder, &e), -1); /* a folder is no log */
	buf_free(&out);
	file_remove_tree(folder, NULL);
	free(path);
	free(folder);
}

/* As slurmctld 22.05 starts us; in a child, the number of the failed check is its exit code. */
static int sane_from_closed(void)
{
	struct sigaction act;
	struct stat null, st;
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	signal(SIGTERM, SIG_IGN);
	umask(077);
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	proc_sane();
	sigprocmask(SIG_SETMASK, NULL, &set);
	for (int s = 1; s < 32; s++) {
		if (sigismember(&set, s))
			return 10;
	}
	if (sigaction(SIGTERM, NULL, &act) || act.sa_handler != SIG_DFL)
		return 11;
	if (sigaction(SIGPIPE, NULL, &act) || act.sa_handler != SIG_IGN)
		return 12;
	if (umask(0) != 022)
		return 13;
	if (stat("/dev/null", &null))
		return 14;
	for (int fd = 0; fd < 3; fd++) {
		if (fstat(fd, &st) || st.st_rdev != null.st_rdev || fcntl(fd, F_GETFD) != 0)
			return 20 + fd;
	}
	return 0;
}

/* As 23.02 and later start us: a pipe on 1 and 2, which must stay. */
static int sane_with_pipe(void)
{
	struct stat before, after;
	int p[2];

	if (pipe(p) || dup2(p[1], 1) < 0 || dup2(p[1], 2) < 0 || fstat(1, &before))
		return 10;
	close(0);
	proc_sane();
	if (fstat(1, &after) || after.st_ino != before.st_ino || fstat(2, &after) || after.st_ino != before.st_ino)
		return 11;
	close(p[0]);
	return write(1, "x", 1) == -1 && errno == EPIPE && fcntl(0, F_GETFD) == 0 ? 0 : 12; /* no death by SIGPIPE */
}

static void sane(void **state)
{
	int (*const check[])(void) = {sane_from_closed, sane_with_pipe};

	(void)state;
	for (size_t i = 0; i < COUNT(check); i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0)
			_exit(check[i]());
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outcomes),	   cmocka_unit_test(cannot_start),  cmocka_unit_test(safe_path_and_env),
		cmocka_unit_test(clean_child), cmocka_unit_test(time_out),	    cmocka_unit_test(background_holder),
		cmocka_unit_test(much_output), cmocka_unit_test(spawn_and_end), cmocka_unit_test(sane),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
