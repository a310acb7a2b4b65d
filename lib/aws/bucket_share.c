/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bucket_share.c - token buckets in a file under a lock. Called by perform.c for each request; the lock is held for one read
 * and one write, never while waiting.
 *
 * The file names the boot of the machine: times of an earlier one mean nothing, so a reboot fills the buckets.
 */
#include "lib/aws/bucket_share.h"

#include "lib/aws/aws.h"
#include "lib/aws/share.h"
#include "lib/base/clock.h"
#include "lib/base/str.h"

#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_MS 1000	    /* longer than hundreds of holders need; a stopped one must not hold us up for long */
#define ALONE_MS 5000	    /* after a failure: the time until the file is tried again */
#define CLOCK_SLACK_MS 1000 /* a time further ahead is not of this clock */
#define BOOT_ID "/proc/sys/kernel/random/boot_id"

struct image {
	char magic[8];
	char boot[40];
	struct {
		double tokens;
		int64_t at_ms;
	} v[BUCKET_KINDS];
};

struct bucket_share {
	struct bucket v[BUCKET_KINDS];
	char *path;
	int fd;
	char boot[40];
	int64_t alone_until_ms;
};

static const char magic[8] = "SEBUCK1";

static void read_boot_id(char out[40])
{
	int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, out, 39);

	out[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

static void set_rate(struct bucket *b, const struct aws_rate *r)
{
	if (r->size == 0)
		return;
	b->capacity = r->size;
	if (r->size > 0)
		b->tokens = r->size; /* without a limit it stays full, for whoever shares it and has one */
	b->per_second = r->per_second;
}

struct bucket_share *bucket_share_create(const struct aws_rates *rates, const char *path, int64_t now_ms)
{
	struct bucket_share *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->fd = -1;
	s->path = str_dup(path);
	if (path && !s->path) {
		free(s);
		return NULL;
	}
	read_boot_id(s->boot);
	bucket_init_all(s->v, now_ms);
	set_rate(&s->v[BUCKET_RUN], &rates->launch_requests);
	set_rate(&s->v[BUCKET_RUN_INSTANCES], &rates->launch_instances);
	set_rate(&s->v[BUCKET_TERMINATE], &rates->terminate_requests);
	set_rate(&s->v[BUCKET_TERMINATE_INSTANCES], &rates->terminate_instances);
	set_rate(&s->v[BUCKET_READ], &rates->reads);
	set_rate(&s->v[BUCKET_MUTATE], &rates->changes);
	set_rate(&s->v[BUCKET_TAG], &rates->changes);
	return s;
}

static void close_file(struct bucket_share *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

void bucket_share_destroy(struct bucket_share *s)
{
	if (!s)
		return;
	close_file(s);
	free(s->path);
	free(s);
}

static bool has_name(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

/* Take up what others left. What cannot be believed leaves our own values, which at the start are full buckets. */
static void load(struct bucket_share *s, int64_t now_ms)
{
	struct image i;

	if (pread(s->fd, &i, sizeof i, 0) != (ssize_t)sizeof i || memcmp(i.magic, magic, sizeof magic) ||
	    memcmp(i.boot, s->boot, sizeof i.boot))
		return;
	for (int k = 0; k < BUCKET_KINDS; k++) {
		if (!isfinite(i.v[k].tokens) || i.v[k].at_ms < 0 || i.v[k].at_ms > now_ms + CLOCK_SLACK_MS)
			continue;
		s->v[k].tokens = i.v[k].tokens;
		if (s->v[k].capacity >= 0 && s->v[k].tokens > s->v[k].capacity)
			s->v[k].tokens = s->v[k].capacity;
		s->v[k].at_ms = i.v[k].at_ms;
	}
}

static bool save(const struct bucket_share *s)
{
	struct image i = {{0}, {0}, {{0, 0}}};

	memcpy(i.magic, magic, sizeof magic);
	memcpy(i.boot, s->boot, sizeof i.boot);
	for (int k = 0; k < BUCKET_KINDS; k++) {
		i.v[k].tokens = s->v[k].tokens;
		i.v[k].at_ms = s->v[k].at_ms;
	}
	return pwrite(s->fd, &i, sizeof i, 0) == (ssize_t)sizeof i;
}

/* With the lock and the common values, or alone. */
static void begin(struct bucket_share *s, int64_t now_ms)
{
	if (!s->path || now_ms < s->alone_until_ms)
		return;
	if (s->fd >= 0 && !has_name(s->fd))
		close_file(s);
	if (s->fd < 0)
		s->fd = share_open(s->path, true);
	if (s->fd >= 0 && !share_lock(s->fd, LOCK_MS)) {
		load(s, now_ms);
		return;
	}
	close_file(s);
	s->alone_until_ms = now_ms + ALONE_MS;
}

static void end(struct bucket_share *s, int64_t now_ms)
{
	if (s->fd < 0 || now_ms < s->alone_until_ms)
		return;
	if (!save(s))
		s->alone_until_ms = now_ms + ALONE_MS;
	share_unlock(s->fd);
}

int64_t bucket_share_take(struct bucket_share *s, const struct bucket_cost *cost, int64_t now_ms)
{
	int64_t longest = 0;

	begin(s, now_ms);
	for (int k = 0; k < BUCKET_KINDS; k++) {
		int64_t wait = cost->v[k] > 0 ? bucket_wait_ms(&s->v[k], cost->v[k], now_ms) : 0;

		longest = wait > longest ? wait : longest;
	}
	for (int k = 0; k < BUCKET_KINDS && !longest; k++)
		if (cost->v[k] > 0)
			bucket_take(&s->v[k], cost->v[k], now_ms);
	end(s, now_ms);
	return longest;
}

void bucket_share_refund(struct bucket_share *s, const struct bucket_cost *cost, int64_t now_ms)
{
	begin(s, now_ms);
	for (int k = 0; k < BUCKET_KINDS; k++)
		if (cost->v[k] > 0)
			bucket_take(&s->v[k], -cost->v[k], now_ms);
	end(s, now_ms);
}

void bucket_share_empty(struct bucket_share *s, enum bucket_kind kind, int64_t now_ms)
{
	begin(s, now_ms);
	bucket_empty(&s->v[kind], now_ms);
	end(s, now_ms);
}
