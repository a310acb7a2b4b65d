/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wait.c - one ppoll: signals are blocked outside it, so none is lost between looking at the flag and waiting. */
#include "build_config.h" /* ppoll() */

#include "clustermgtd/wait.h"

#include "clustermgtd/notify.h"
#include "lib/apply/apply.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LEAST_MS 1000 /* between two loops, however often we are poked */

int wait_open(struct err *e)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = CLUSTERMGTD_SOCKET};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t old;
	int rc;

	if (fd < 0)
		return err_errno(e, errno, "socket");
	unlink(CLUSTERMGTD_SOCKET); /* of a process that was killed; the lock says that none lives */
	old = umask(0177);
	rc = bind(fd, (struct sockaddr *)&at, sizeof at);
	umask(old);
	if (rc < 0) {
		err_errno(e, errno, "cannot listen on %s", CLUSTERMGTD_SOCKET);
		close(fd);
		return -1;
	}
	return fd;
}

void wait_close(int fd)
{
	if (fd < 0)
		return;
	close(fd);
	unlink(CLUSTERMGTD_SOCKET);
}

static void drain(int fd)
{
	char c[16];

	while (recv(fd, c, sizeof c, MSG_DONTWAIT) >= 0)
		;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void wait_some(int fd, int64_t ms, const sigset_t *during)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	ppoll(&p, fd < 0 ? 0 : 1, &t, during);
}

static bool poked(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

bool wait_for_work(int fd, int64_t ms)
{
	int64_t start = clock_mono_ms(), now;
	int64_t watchdog = notify_period_ms();
	sigset_t block, old;
	bool woken = false;

	sigemptyset(&block);
	sigaddset(&block, SIGTERM);
	sigaddset(&block, SIGINT);
	sigprocmask(SIG_BLOCK, &block, &old);
	while (!apply_stop && (now = clock_mono_ms()) - start < ms) {
		bool early = now - start < LEAST_MS;

		woken = !early && poked(fd);
		if (woken)
			break;
		/* not listening while it is too early to answer */
		wait_some(early ? -1 : fd, least(early ? LEAST_MS - (now - start) : ms - (now - start), watchdog), &old);
		notify("WATCHDOG=1");
	}
	drain(fd);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return woken;
}
