/* SPDX-License-Identifier: GPL-2.0-or-later */
/* credentials_cache.c - temporary keys in a file that concurrent programs share, so that a burst of resumes asks the metadata
 * service, STS or a process once. Called by every source of such keys.
 *
 * The file is replaced whole, so it is read without a lock; the lock beside it is held by the one program that fetches.
 */
#include "lib/aws/credentials_chain.h"

#include "lib/aws/secret.h"
#include "lib/aws/share.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/file.h"
#include "lib/base/str.h"

#include <stdlib.h>
#include <unistd.h>

#define WAIT_MS 15000 /* for another program's fetch: as long as one try of a service may take, shorter than a resume */
#define MAX_FILE 16384
#define MODE 0600

/* The shared keys, if they are good for a while and not the refused ones. */
static bool look(const char *path, const struct credentials *refused, struct credentials *out)
{
	static const struct key_words words = {"shared keys", "SessionToken", 1};
	struct credentials c = {0};
	char text[MAX_FILE];
	int fd = share_open(path, false);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
	bool good = n > 0 && n < (ssize_t)sizeof text && !keys_from_json(text, (size_t)n, &words, &c, NULL) &&
		    c.expires_ms - clock_wall_ms() >= CREDENTIALS_MUST_MS && !(refused && credentials_equal(&c, refused));

	if (fd >= 0)
		close(fd);
	secret_wipe(text, sizeof text);
	if (good)
		*out = c;
	else
		credentials_clear(&c);
	return good;
}

/* AWS makes keys of base64. What JSON would have to escape is not kept. */
static bool is_plain(const char *s)
{
	for (; s && *s; s++)
		if (*s <= ' ' || *s >= 127 || *s == '"' || *s == '\\')
			return false;
	return true;
}

static void keep(const char *path, const struct credentials *c)
{
	char until[25];
	struct buf b = {0};

	if (!c->expires_ms || c->expires_ms - clock_wall_ms() < CREDENTIALS_MUST_MS || !is_plain(c->access_key) ||
	    !is_plain(c->secret) || !is_plain(c->token))
		return;
	clock_iso(c->expires_ms, until);
	secret_reserve(&b);
	buf_fmt(&b, "{\"Version\":1,\"AccessKeyId\":\"%s\",\"SecretAccessKey\":\"%s\",", c->access_key, c->secret);
	if (c->token)
		buf_fmt(&b, "\"SessionToken\":\"%s\",", c->token);
	buf_fmt(&b, "\"Expiration\":\"%s\"}\n", until);
	if (!buf_failed(&b))
		file_replace(path, MODE, buf_text(&b), b.n, NULL);
	secret_buf_free(&b);
}

static bool is_fresh(const struct credentials *c)
{
	return c->expires_ms - clock_wall_ms() > CREDENTIALS_TRY_MS;
}

static int fetch_and_keep(const char *path, bool locked, struct credentials *have,
			  int (*fetch)(void *, struct credentials *, struct err *), void *arg, struct credentials *out,
			  struct err *e)
{
	struct credentials fresh = {0};

	if (fetch(arg, &fresh, have->access_key ? NULL : e)) {
		*out = *have;
		return have->access_key ? 0 : -1;
	}
	credentials_clear(have);
	if (locked)
		keep(path, &fresh);
	*out = fresh;
	return 0;
}

/* Nobody else fetches now, or the wait for it was in vain. have: as below. */
static int fetch_unless_there(const char *path, bool locked, const struct credentials *refused, struct credentials *have,
			      int (*fetch)(void *, struct credentials *, struct err *), void *arg, struct credentials *out,
			      struct err *e)
{
	credentials_clear(have);
	if (locked && look(path, refused, have) && is_fresh(have)) { /* it was fetched while we waited */
		*out = *have;
		return 0;
	}
	return fetch_and_keep(path, locked, have, fetch, arg, out, e);
}

static int through_file(const char *path, const char *lock, const struct credentials *refused,
			int (*fetch)(void *, struct credentials *, struct err *), void *arg, struct credentials *out,
			struct err *e)
{
	struct credentials have = {0}; /* keys that will do if there are no better ones */
	int fd, rc = 0;
	bool locked;

	if (look(path, refused, &have) && is_fresh(&have)) {
		*out = have;
		return 0;
	}
	fd = share_open(lock, true);
	locked = fd >= 0 && !share_lock(fd, have.access_key ? 0 : WAIT_MS);
	if (have.access_key && fd >= 0 && !locked) /* somebody else is at it */
		*out = have;
	else
		rc = fetch_unless_there(path, locked, refused, &have, fetch, arg, out, e);
	if (fd >= 0)
		close(fd);
	return rc;
}

int keys_shared(const struct chain *c, const char *kind, const char *const *parts, size_t n,
		int (*fetch)(void *arg, struct credentials *out, struct err *e), void *arg, struct credentials *out,
		struct err *e)
{
	char *path = c->s->share_dir ? share_path(c->s->share_dir, kind, parts, n) : NULL;
	char *lock = path ? str_fmt("%s.lock", path) : NULL;
	int rc = lock ? through_file(path, lock, c->refused, fetch, arg, out, e) : fetch(arg, out, e);

	free(path);
	free(lock);
	return rc;
}
