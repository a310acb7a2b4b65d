/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lock.c - one clustermgtd at a time. A POSIX lock, because others can ask who holds it without taking it for a moment. */
#include "lib/apply/apply.h"

#include "lib/base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static struct flock whole_file(void)
{
	return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

int lock_take(const char *path, int *fd, struct err *e)
{
	struct flock l = whole_file();
	int f = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);

	if (f < 0)
		return err_errno(e, errno, "cannot open %s", path);
	if (fcntl(f, F_SETLK, &l) == 0) {
		*fd = f;
		return 0;
	}
	if (errno == EACCES || errno == EAGAIN)
		err_set(e, "clustermgtd already runs (process %ld holds %s)", (long)lock_holder(path), path);
	else
		err_errno(e, errno, "cannot lock %s", path);
	close(f);
	return -1;
}

pid_t lock_holder(const char *path)
{
	struct flock l = whole_file();
	int f = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	pid_t pid = 0;

	if (f < 0)
		return 0;
	if (fcntl(f, F_GETLK, &l) == 0 && l.l_type != F_UNLCK)
		pid = l.l_pid;
	close(f);
	return pid;
}
