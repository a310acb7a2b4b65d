/* SPDX-License-Identifier: GPL-2.0-or-later */
/* share.c - opens and locks what concurrent programs share. Called by bucket_share.c and credentials_cache.c. Refuses folders
 * and files that another user owns or may read: keys lie in them. */
#include "lib/aws/share.h"

#include "lib/base/clock.h"
#include "lib/base/str.h"

#include <openssl/evp.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES 16 /* of the hash: enough that no two sources meet */
#define NAP_MS 1     /* between two looks at a lock, at first: one on the buckets is held for microseconds */
#define NAP_PART 300 /* at most this part of the limit: one on the keys is held for as long as a service takes to answer */

static bool hash_parts(const char *const *parts, size_t n, unsigned char out[EVP_MAX_MD_SIZE])
{
	EVP_MD_CTX *c = EVP_MD_CTX_new();
	bool ok = c && EVP_DigestInit_ex(c, EVP_sha256(), NULL);

	for (size_t i = 0; i < n && ok; i++) {
		ok = EVP_DigestUpdate(c, parts[i] ? "+" : "-", 1);
		if (ok && parts[i])
			ok = EVP_DigestUpdate(c, parts[i], strlen(parts[i]) + 1);
	}
	ok = ok && EVP_DigestFinal_ex(c, out, NULL);
	EVP_MD_CTX_free(c);
	return ok;
}

char *share_path(const char *dir, const char *kind, const char *const *parts, size_t n)
{
	static const char digit[] = "0123456789abcdef";
	unsigned char hash[EVP_MAX_MD_SIZE];
	char name[NAME_BYTES * 2 + 1] = "";

	if (!hash_parts(parts, n, hash))
		return NULL;
	for (size_t i = 0; i < NAME_BYTES; i++) {
		name[i * 2] = digit[hash[i] >> 4];
		name[i * 2 + 1] = digit[hash[i] & 15];
	}
	return str_fmt("%s/%s-%s", dir, kind, name);
}

static bool is_ours(int fd, mode_t kind)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == kind && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IRWXG | S_IRWXO));
}

/* Root's programs must not make a folder that SlurmUser's cannot use afterwards. */
static void make_folder(const char *dir)
{
	const char *slash = strrchr(dir, '/');
	char *parent = slash && slash != dir ? str_fmt("%.*s", (int)(slash - dir), dir) : str_dup(slash ? "/" : ".");
	struct stat st;

	if (parent && stat(parent, &st) == 0 && st.st_uid == geteuid())
		mkdir(dir, 0700);
	free(parent);
}

/* The folder of the path, -1 if it is not ours. */
static int open_folder(const char *path, bool make)
{
	char *dir = str_fmt("%.*s", (int)(strrchr(path, '/') - path), path);
	int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

	if (dir && fd < 0 && make && errno == ENOENT) {
		make_folder(dir);
		fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	free(dir);
	if (fd >= 0 && !is_ours(fd, S_IFDIR)) {
		close(fd);
		return -1;
	}
	return fd;
}

int share_open(const char *path, bool make)
{
	int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (make ? O_CREAT : 0);
	int dir = open_folder(path, make), fd;

	if (dir < 0)
		return -1;
	fd = openat(dir, strrchr(path, '/') + 1, flags, 0600);
	close(dir);
	if (fd >= 0 && !is_ours(fd, S_IFREG)) {
		close(fd);
		return -1;
	}
	return fd;
}

int share_lock(int fd, int64_t limit_ms)
{
	int64_t until_ms = clock_mono_ms() + limit_ms, longest_ms = limit_ms / NAP_PART, nap_ms = NAP_MS;

	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if ((errno != EWOULDBLOCK && errno != EINTR) || clock_mono_ms() >= until_ms)
			return -1;
		clock_sleep_ms(nap_ms);
		nap_ms = nap_ms * 2 <= longest_ms ? nap_ms * 2 : nap_ms;
	}
	return 0;
}

void share_unlock(int fd)
{
	flock(fd, LOCK_UN);
}
