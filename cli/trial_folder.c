/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trial_folder.c - called by apply_scratch.c.
 *
 * A child, the keeper, waits for the end of a pipe that only we hold: when we die in any way, it ends slurmctld and removes the
 * folder. (A parent-death signal would not do: slurmctld loses it when it becomes SlurmUser.) Should the keeper die too, the
 * next trial finds the folder without a lock and removes it.
 */
#include "build_config.h"

#include "cli/trial_folder.h"

#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME "slurm-ec2-try-"
#define END_LIMIT_MS 5000
#define POLL_MS 20

/* Open and lock a folder that is ours. -1 = it is not, or somebody has it. */
static int lock_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	return -1;
}

static void remove_unowned(const char *base)
{
	DIR *d = opendir(base);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		char *path = str_prefix(entry->d_name, NAME) ? file_join(base, entry->d_name) : NULL;
		int fd = path ? lock_folder(path) : -1;

		if (fd >= 0) {
			file_remove_tree(path, NULL);
			close(fd);
		}
		free(path);
	}
	if (d)
		closedir(d);
}

/* In the keeper; never returns. */
static void keep(const char *path, int watch_fd)
{
	int64_t until;
	pid_t pid = 0, got;
	ssize_t n;

	while ((n = read(watch_fd, &got, sizeof(got))) != 0) {
		if (n == (ssize_t)sizeof(got))
			pid = got;
		else if (n < 0 && errno != EINTR)
			break;
	}
	if (pid > 0)
		kill(-pid, SIGKILL);
	until = clock_mono_ms() + END_LIMIT_MS;
	while (pid > 0 && kill(-pid, 0) == 0 && clock_mono_ms() < until)
		clock_sleep_ms(POLL_MS);
	file_remove_tree(path, NULL);
	_exit(0);
}

/* Neither a terminal's Ctrl-C nor our other descriptors (the lock of apply) are the keeper's. */
static void keeper_alone(int watch_fd, int lock_fd)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	static const int deaf[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };

	setsid();
	for (size_t i = 0; i < sizeof(deaf) / sizeof(deaf[0]); i++)
		sigaction(deaf[i], &ignore, NULL);
	for (int fd = 0; fd < 1024; fd++) {
		if (fd != watch_fd && fd != lock_fd)
			close(fd);
	}
}

static int start_keeper(struct trial_folder *t, struct err *e)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC))
		return err_errno(e, errno, "a pipe");
	t->keeper = fork();
	if (t->keeper == 0) {
		keeper_alone(p[0], t->lock_fd);
		keep(t->path, p[0]);
	}
	close(p[0]);
	t->watch_fd = p[1];
	return t->keeper < 0 ? err_errno(e, errno, "fork") : 0;
}

int trial_folder_make(struct trial_folder *t, const char *base, struct err *e)
{
	*t = (struct trial_folder){ .lock_fd = -1, .watch_fd = -1, .keeper = -1 };
	remove_unowned(base);
	t->path = str_fmt("%s/" NAME "XXXXXX", base);
	if (!t->path)
		return err_nomem(e);
	if (!mkdtemp(t->path)) {
		err_errno(e, errno, "%s", t->path);
		free(t->path);
		t->path = NULL;
		return -1;
	}
	t->lock_fd = lock_folder(t->path);
	if (t->lock_fd >= 0 && start_keeper(t, e) == 0)
		return 0;
	if (t->lock_fd < 0)
		err_set(e, "%s: somebody else took it", t->path);
	trial_folder_remove(t);
	return -1;
}

void trial_folder_watch(struct trial_folder *t, pid_t pid)
{
	(void)!write(t->watch_fd, &pid, sizeof(pid)); /* less than PIPE_BUF: whole or not at all */
}

void trial_folder_remove(struct trial_folder *t)
{
	if (t->keeper > 0) {
		kill(t->keeper, SIGKILL);
		while (waitpid(t->keeper, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (t->path)
		file_remove_tree(t->path, NULL);
	if (t->watch_fd >= 0)
		close(t->watch_fd);
	if (t->lock_fd >= 0)
		close(t->lock_fd);
	free(t->path);
	*t = (struct trial_folder){ .lock_fd = -1, .watch_fd = -1, .keeper = -1 };
}
