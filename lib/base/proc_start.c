/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proc_start.c - fork and exec. Between the two only calls that are safe in the child of a threaded program are made; a failed
 * exec comes back through a pipe that a successful one closes.
 */
#include "lib/base/proc_start.h"

#include "lib/base/err.h"
#include "lib/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAFE_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define FD_LIMIT 65536 /* where close_range() is missing: closing more one by one would take seconds */

/* The file to execute; caller frees. NULL with e if it is nowhere. */
static char *find_program(const char *name, struct err *e)
{
	struct strs dirs = {0};
	char *path = NULL;

	if (strchr(name, '/')) {
		path = str_dup(name);
		if (!path)
			err_nomem(e);
		return path;
	}
	if (strs_split(&dirs, SAFE_PATH, ':')) {
		err_nomem(e);
		return NULL;
	}
	for (size_t i = 0; i < dirs.n && !path; i++) {
		path = str_fmt("%s/%s", dirs.v[i], name);
		if (path && access(path, X_OK)) {
			free(path);
			path = NULL;
		}
	}
	strs_clear(&dirs);
	if (!path)
		err_set(e, "cannot run \"%s\": there is no such program in %s", name, SAFE_PATH);
	return path;
}

static void default_signals(void)
{
	struct sigaction deflt = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int s = 1; s < NSIG; s++)
		sigaction(s, &deflt, NULL); /* refused for KILL and STOP, which have no handler */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Close every descriptor from 3 on except `keep`, which is 3 itself. */
static void close_above(int keep)
{
	struct rlimit limit = {0};
	rlim_t end = FD_LIMIT;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, (unsigned)keep + 1, ~0u, 0u) == 0)
		return;
#endif
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < end)
		end = limit.rlim_cur;
	for (int fd = keep + 1; (rlim_t)fd < end; fd++)
		close(fd);
}

/* In the child: never returns. report = write end of the pipe, above 3. */
static void child(const char *path, const char *const argv[], const char *const env[], const int out[2], int report)
{
	int null, num;

	setpgid(0, 0);
	default_signals();
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || dup2(out[0] < 0 ? null : out[0], 1) < 0 || dup2(out[1] < 0 ? null : out[1], 2) < 0 ||
	    dup2(null, 0) < 0 || dup2(report, 3) < 0 || fcntl(3, F_SETFD, FD_CLOEXEC) < 0)
		_exit(127);
	close_above(3);
	/* the casts drop const only for exec's old prototype; it changes neither */
	execve(path, (char *const *)(const void *)argv, (char *const *)(const void *)env);
	num = errno;
	(void)!write(3, &num, sizeof num);
	_exit(127);
}

/* A pipe whose ends are above the descriptors that the child rearranges. */
static int high_pipe(int p[2])
{
	int low[2];

	if (pipe(low))
		return -1;
	p[0] = fcntl(low[0], F_DUPFD_CLOEXEC, 4);
	p[1] = fcntl(low[1], F_DUPFD_CLOEXEC, 4);
	close(low[0]);
	close(low[1]);
	if (p[0] >= 0 && p[1] >= 0)
		return 0;
	if (p[0] >= 0)
		close(p[0]);
	if (p[1] >= 0)
		close(p[1]);
	return -1;
}

/* 0 when exec worked, else its errno; the child is then reaped. */
static int exec_outcome(pid_t pid, int fd)
{
	int num = 0;
	ssize_t n;

	do {
		n = read(fd, &num, sizeof num);
	} while (n < 0 && errno == EINTR);
	if (n == 0)
		return 0;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return n == (ssize_t)sizeof num && num ? num : EIO;
}

pid_t proc_start(const char *const argv[], const char *const env[], int out_fd, int err_fd, struct err *e)
{
	static const char *const plain_env[] = {"PATH=" SAFE_PATH, "LANG=C", NULL};
	char *path = find_program(argv[0], e);
	int report[2], num;
	pid_t pid;

	if (!path)
		return -1;
	if (high_pipe(report)) {
		free(path);
		return err_errno(e, errno, "cannot make a pipe for %s", argv[0]);
	}
	pid = fork();
	if (pid == 0)
		child(path, argv, env ? env : plain_env, (const int[2]){out_fd, err_fd}, report[1]);
	num = pid < 0 ? errno : 0;
	close(report[1]);
	if (pid > 0)
		num = exec_outcome(pid, report[0]);
	close(report[0]);
	free(path);
	return num ? err_errno(e, num, "cannot run %s", argv[0]) : pid;
}
