/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proc.c - run programs and end them; the sane start of our own. Called by programs and apply; refuses to know of a shell.
 *
 * Waiting is done by short naps rather than by SIGCHLD: a library must not own a signal handler of the program it is in.
 */
#include "lib/base/proc.h"

#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/proc_start.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_MAX (1024 * 1024) /* bytes kept; the rest is read and dropped so that the child is not stopped by a full pipe   \
				  */
#define DRAIN_CHUNKS 16 /* reads in one go, twice a full pipe: a child that never stops writing must not hide its deadline */
#define GRACE_MS 2000	/* from SIGTERM to SIGKILL after a time-out */
#define NAP_MAX_MS 20	/* longest sleep between two looks at a child */

/* 1 = the child has ended and waits to be reaped, 0 = it runs, -1 = there is no such child. */
static int ended(pid_t pid)
{
	siginfo_t info = {0};

	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT)) {
		if (errno != EINTR)
			return -1;
	}
	return info.si_pid == pid;
}

static int reap(pid_t pid, int *status)
{
	while (waitpid(pid, status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return 0;
}

/* Keep what fits, drop the rest. 1 = more may come, 0 = the writers are gone. */
static int drain(int fd, struct buf *out, size_t limit)
{
	char chunk[8192];

	for (int i = 0; i < DRAIN_CHUNKS; i++) {
		size_t space = out->n < limit ? limit - out->n : 0;
		ssize_t n = read(fd, chunk, sizeof chunk);

		if (n <= 0)
			return n < 0 && (errno == EAGAIN || errno == EINTR);
		buf_add(out, chunk, (size_t)n < space ? (size_t)n : space);
	}
	return 1;
}

/* Wait until something can be read or wait_ms are over; without a pipe just sleep. */
static void nap(int fd, int wait_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (fd < 0)
		clock_sleep_ms(wait_ms);
	else
		(void)poll(&p, 1, wait_ms);
}

/* Until the child ends (1) or the deadline (0; < 0 = none), reading its output into out. -1: no such child. */
static int wait_child(pid_t pid, int fd, struct buf *out, size_t limit, int64_t deadline)
{
	int wait_ms = 1;

	for (;;) {
		int done = ended(pid);

		if (fd >= 0 && !drain(fd, out, limit))
			fd = -1;
		if (done)
			return done;
		if (deadline >= 0 && clock_mono_ms() >= deadline)
			return 0;
		nap(fd, wait_ms);
		wait_ms = wait_ms * 2 < NAP_MAX_MS ? wait_ms * 2 : NAP_MAX_MS;
	}
}

/* Ask the group to end, then make it. The leader stays a zombie meanwhile, so its group id cannot be another's by now. */
static void end_group(pid_t pid, int grace_ms, int fd, struct buf *out, size_t limit)
{
	kill(-pid, SIGTERM);
	wait_child(pid, fd, out, limit, clock_mono_ms() + grace_ms);
	kill(-pid, SIGKILL);
}

static int watch(pid_t pid, int fd, int timeout_ms, struct buf *out, struct proc_result *r, struct err *e)
{
	int64_t deadline = timeout_ms < 0 ? -1 : clock_mono_ms() + timeout_ms;
	struct proc_result result = {.exit_code = -1};
	size_t limit = out->n + OUTPUT_MAX;
	int status;

	if (wait_child(pid, fd, out, limit, deadline) == 0) {
		result.timed_out = true;
		end_group(pid, GRACE_MS, fd, out, limit);
	}
	if (reap(pid, &status))
		return err_errno(e, errno, "the outcome of a child process is lost");
	if (fd >= 0)
		drain(fd, out, limit);
	if (buf_failed(out))
		return err_nomem(e);
	if (WIFSIGNALED(status))
		result.signal = WTERMSIG(status);
	else
		result.exit_code = WEXITSTATUS(status);
	*r = result;
	return 0;
}

/* The pipe of a child's output, our end not blocking. */
static int output_pipe(int p[2])
{
	if (pipe(p))
		return -1;
	if (fcntl(p[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl(p[1], F_SETFD, FD_CLOEXEC) == 0 &&
		fcntl(p[0], F_SETFL, O_NONBLOCK) == 0)
		return 0;
	close(p[0]);
	close(p[1]);
	return -1;
}

static int run(const char *const argv[], const char *const env[], int timeout_ms, struct buf *out, bool with_stderr,
	       struct proc_result *r, struct err *e)
{
	struct buf none = {0};
	int p[2] = {-1, -1}, rc;
	pid_t pid;

	if (out && output_pipe(p))
		return err_errno(e, errno, "cannot make a pipe for %s", argv[0]);
	pid = proc_start(argv, env, p[1], with_stderr ? p[1] : -1, e);
	if (out)
		close(p[1]);
	rc = pid < 0 ? -1 : watch(pid, p[0], timeout_ms, out ? out : &none, r, e);
	if (out)
		close(p[0]);
	return rc;
}

int proc_run(const char *const argv[], const char *const env[], int timeout_ms, struct buf *out, struct proc_result *r,
	     struct err *e)
{
	return run(argv, env, timeout_ms, out, true, r, e);
}

int proc_read(const char *const argv[], const char *const env[], int timeout_ms, struct buf *out, struct proc_result *r,
	      struct err *e)
{
	return run(argv, env, timeout_ms, out, false, r, e);
}

pid_t proc_spawn(const char *const argv[], const char *const env[], const char *log_path, struct err *e)
{
	int fd = -1;
	pid_t pid;

	if (log_path) {
		fd = open(log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0640);
		if (fd < 0)
			return err_errno(e, errno, "cannot open %s", log_path);
	}
	pid = proc_start(argv, env, fd, fd, e);
	if (fd >= 0)
		close(fd);
	return pid;
}

void proc_end(pid_t pid, int grace_ms)
{
	struct buf none = {0};
	int status;

	if (pid <= 0 || ended(pid) < 0)
		return;
	end_group(pid, grace_ms, -1, &none, 0);
	reap(pid, &status);
}

void proc_sane(void)
{
	struct sigaction deflt = {.sa_handler = SIG_DFL}, ignore = {.sa_handler = SIG_IGN};
	sigset_t none;
	int fd;

	/* slurmctld of 22.05 starts programs with most signals blocked and descriptors 0-2 closed; a mask survives execve, and
	 * the first file opened would become our stdout. Later versions hand over a pipe whose reader may go away: SIGPIPE. */
	for (int s = 1; s < NSIG; s++)
		sigaction(s, &deflt, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	do {
		fd = open("/dev/null", O_RDWR);
		if (fd < 0)
			_exit(111);
	} while (fd <= 2);
	close(fd);
	umask(022);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}
