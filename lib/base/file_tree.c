/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file_tree.c - folders: make a path, remove a tree. Walks by descriptor and never follows a symbolic link downwards. */
#include "lib/base/file.h"

#include "lib/base/err.h"
#include "lib/base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_one(const char *path, mode_t mode, struct err *e)
{
	struct stat st;

	if (mkdir(path, mode) == 0)
		return 0;
	if (errno != EEXIST)
		return err_errno(e, errno, "cannot make the folder %s", path);
	if (stat(path, &st))
		return err_errno(e, errno, "cannot use the folder %s", path);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, "%s is not a folder", path);
	return 0;
}

int file_mkdirs(const char *path, mode_t mode, struct err *e)
{
	char *copy = str_dup(path);
	int rc = 0;

	if (!copy)
		return err_nomem(e);
	for (char *p = copy; *p && rc == 0; p++) {
		if (*p != '/' || p == copy || p[-1] == '/')
			continue;
		*p = '\0';
		rc = make_one(copy, mode, e);
		*p = '/';
	}
	if (rc == 0)
		rc = make_one(copy, mode, e);
	free(copy);
	return rc;
}

static int remove_at(int dir, const char *name);

static int remove_entries(DIR *d)
{
	struct dirent *entry;

	while ((errno = 0, entry = readdir(d)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (remove_at(dirfd(d), entry->d_name))
			return -1;
	}
	return errno ? -1 : 0;
}

/* -1 with errno; absent is success */
static int remove_at(int dir, const char *name)
{
	int fd, rc, saved;
	DIR *d;

	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -1;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	d = fdopendir(fd);
	if (!d) {
		saved = errno;
		close(fd);
		errno = saved;
		return -1;
	}
	rc = remove_entries(d);
	saved = errno;
	closedir(d);
	errno = saved;
	if (rc)
		return -1;
	return unlinkat(dir, name, AT_REMOVEDIR) && errno != ENOENT ? -1 : 0;
}

int file_remove_tree(const char *path, struct err *e)
{
	if (remove_at(AT_FDCWD, path))
		return err_errno(e, errno, "cannot remove %s", path);
	return 0;
}
