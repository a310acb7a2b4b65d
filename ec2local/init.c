/* SPDX-License-Identifier: GPL-2.0-or-later */
/* init.c - process 1 of a machine. Called by ec2local-machine after it has entered the new root; it starts no service itself.
 */
#include "ec2local/init.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHUTDOWN_GRACE_S 2 /* what a service gets between SIGTERM and the end */

static void on_signal(int sig)
{
	(void)sig;
}

/* Handlers, because the kernel drops signals that process 1 leaves at their default. */
static void watch_signals(sigset_t *set)
{
	static const int wanted[] = {SIGCHLD, SIGTERM, SIGINT, SIGPWR};
	struct sigaction sa = {.sa_handler = on_signal};

	sigemptyset(set);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		sigaddset(set, wanted[i]);
		sigaction(wanted[i], &sa, NULL);
	}
	sigprocmask(SIG_SETMASK, set, NULL);
}

static pid_t start(char *const argv[])
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	execv(argv[0], argv);
	fprintf(stderr, "init: cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static int exit_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Reap all that ended. 1 = the program was among them, its status in *code; 0 = not; -1 = there is no child left. */
static int reap(pid_t program, int *code)
{
	int status, found = 0;

	for (;;) {
		pid_t pid = waitpid(-1, &status, WNOHANG);
		if (pid == 0)
			return found;
		if (pid < 0)
			return found ? found : -1;
		if (pid == program) {
			*code = exit_status(status);
			found = 1;
		}
	}
}

static void shut_down(const sigset_t *set)
{
	struct timespec now, end;
	int ignored;

	kill(-1, SIGTERM);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += SHUTDOWN_GRACE_S;
	while (reap(-1, &ignored) >= 0) {
		struct timespec step = {.tv_nsec = 100 * 1000 * 1000};
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec))
			return;
		sigtimedwait(set, NULL, &step);
	}
}

int init_run(char *const argv[], bool stay)
{
	sigset_t set;
	pid_t program = 0;
	int code = 0;

	watch_signals(&set);
	if (argv && argv[0]) {
		program = start(argv);
		if (program < 0)
			return 127;
	}
	for (;;) {
		int sig = sigwaitinfo(&set, NULL);
		if (sig == SIGCHLD) {
			if (reap(program, &code) != 1 || stay)
				continue;
			break;
		}
		if (sig > 0)
			break;
	}
	shut_down(&set);
	return stay ? 0 : code;
}
