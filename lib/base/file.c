/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file.c - whole files: bounded reads, replacement by rename. Refuses to leave a half-written file under the real name. */
#include "lib/base/file.h"

#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK 8192

/* Read to the end or until more than max bytes came. */
static int read_all(int fd, const char *path, size_t max, struct buf *out, struct err *e)
{
	size_t got = 0;
	char chunk[CHUNK];

	for (;;) {
		ssize_t n = read(fd, chunk, sizeof chunk);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, errno, "cannot read %s", path);
		if (n == 0)
			return 0;
		got += (size_t)n;
		if (got > max)
			return err_set(e, "%s is longer than %zu bytes", path, max);
		buf_add(out, chunk, (size_t)n);
		if (buf_failed(out))
			return err_nomem(e);
	}
}

int file_read(const char *path, size_t max, struct buf *out, struct err *e)
{
	size_t before = out->n;
	int fd, rc;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return err_errno(e, errno, "cannot open %s", path);
	rc = read_all(fd, path, max, out, e);
	close(fd);
	if (rc && out->v) {
		out->n = before;
		out->v[before] = '\0';
	}
	return rc;
}

static int write_all(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t done = write(fd, bytes, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		bytes += done;
		n -= (size_t)done;
	}
	return 0;
}

#define SAME_UID ((uid_t)-1)
#define SAME_GID ((gid_t)-1)

/* Create the temporary file with its final content, owner and mode, on disk. Removed again on failure. */
static int write_temporary(const char *path, mode_t mode, uid_t uid, gid_t gid, const void *bytes, size_t n, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600), num;

	if (fd < 0)
		return err_errno(e, errno, "cannot create %s", path);
	/* the mode last: a change of owner takes bits away */
	if (write_all(fd, bytes, n) || fchown(fd, uid, gid) || fchmod(fd, mode) || fsync(fd)) {
		num = errno;
		close(fd);
	} else if (close(fd)) {
		num = errno;
	} else {
		return 0;
	}
	unlink(path);
	return err_errno(e, num, "cannot write %s", path);
}

/* Make the rename last through a power cut. Some file systems cannot sync a folder (EINVAL): nothing more can be done there. */
static int sync_folder_of(const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash == path ? str_dup("/") : slash ? str_fmt("%.*s", (int)(slash - path), path) : str_dup(".");
	int fd, rc = 0;

	if (!dir)
		return err_nomem(e);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || (fsync(fd) && errno != EINVAL))
		rc = err_errno(e, errno, "%s is replaced, but its folder cannot be synced", path);
	if (fd >= 0)
		close(fd);
	free(dir);
	return rc;
}

int file_replace(const char *path, mode_t mode, const void *bytes, size_t n, struct err *e)
{
	return file_replace_as(path, mode, SAME_UID, SAME_GID, bytes, n, e);
}

int file_replace_as(const char *path, mode_t mode, uid_t uid, gid_t gid, const void *bytes, size_t n, struct err *e)
{
	char tag[9], *temporary;
	int rc;

	rand_hex(tag, 8);
	temporary = str_fmt("%s.%s.tmp", path, tag);
	if (!temporary)
		return err_nomem(e);
	rc = write_temporary(temporary, mode, uid, gid, bytes, n, e);
	if (rc == 0 && rename(temporary, path)) {
		rc = err_errno(e, errno, "cannot replace %s", path);
		unlink(temporary);
	}
	free(temporary);
	return rc ? rc : sync_folder_of(path, e);
}

bool file_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

char *file_join(const char *dir, const char *name)
{
	size_t n = strlen(dir);

	return str_fmt("%s%s%s", dir, n && dir[n - 1] == '/' ? "" : "/", name);
}
