/* SPDX-License-Identifier: GPL-2.0-or-later */
/* floor.c - what the same work costs without us, for bench/resume to compare with:
 *
 *   floor api URL REGION ACCESS SECRET FILE      send FILE's form bodies (one a line, each with a ClientToken of its own), 8 at a
 *                                                time, and throw the answers away
 *   floor slurm HOSTLIST                         load all nodes from slurmctld, then give those of HOSTLIST their own address again,
 *                                                in one update
 *
 * One line on stdout: wall_us and what was counted. Uses libcurl and libslurm alone, nothing of lib/.
 */
#include "build_config.h"

#include <curl/curl.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PARALLEL 8

static long long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static int fail(const char *what)
{
	fprintf(stderr, "floor: %s\n", what);
	return 1;
}

/* --- api */

struct bodies {
	char **v;
	size_t n, sent, done, bad;
	long long bytes;
};

static size_t discard(char *bytes, size_t size, size_t n, void *arg)
{
	(void)bytes;
	((struct bodies *)arg)->bytes += (long long)(size * n);
	return size * n;
}

/* The body with another token: the same token would launch nothing. Bodies in a log begin anywhere, the pair ends at '&'. */
static char *renew_token(const char *body, size_t number)
{
	const char *at = strstr(body, "ClientToken="), *end = at ? strchr(at, '&') : NULL;
	char *out = NULL;

	if (!at)
		return strdup(body);
	if (asprintf(&out, "%.*sClientToken=floor-%ld-%lld-%zu%s", (int)(at - body), body, (long)getpid(), now_us(), number,
		     end ? end : "") < 0)
		return NULL;
	return out;
}

static int read_bodies(const char *path, struct bodies *b)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t cap = 0;

	if (!f)
		return fail("cannot read the file of bodies");
	while (getline(&line, &cap, f) > 0) {
		char **v = realloc(b->v, (b->n + 1) * sizeof(*v));

		if (!v)
			break;
		b->v = v;
		line[strcspn(line, "\n")] = 0;
		v[b->n] = renew_token(line, b->n);
		b->n += v[b->n] != NULL;
	}
	free(line);
	fclose(f);
	return b->n ? 0 : fail("no bodies");
}

static CURL *request(char **argv, struct bodies *b)
{
	CURL *c = curl_easy_init();
	char key[300], sign[100];

	if (!c)
		return NULL;
	snprintf(key, sizeof key, "%s:%s", argv[2], argv[3]);
	snprintf(sign, sizeof sign, "aws:amz:%s:ec2", argv[1]);
	curl_easy_setopt(c, CURLOPT_URL, argv[0]);
	curl_easy_setopt(c, CURLOPT_AWS_SIGV4, sign);
	curl_easy_setopt(c, CURLOPT_USERPWD, key);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, discard);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, b);
	return c;
}

static void next(CURLM *m, CURL *c, struct bodies *b)
{
	const char *body = b->v[b->sent++];

	curl_easy_setopt(c, CURLOPT_POSTFIELDS, body);
	curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE, (long)strlen(body));
	curl_multi_add_handle(m, c);
}

static void take_ended(CURLM *m, struct bodies *b)
{
	CURLMsg *msg;
	int left;

	while ((msg = curl_multi_info_read(m, &left))) {
		CURL *c = msg->easy_handle;
		long status = 0;

		curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
		b->bad += msg->data.result != CURLE_OK || status != 200;
		b->done++;
		curl_multi_remove_handle(m, c);
		if (b->sent < b->n)
			next(m, c, b);
		else
			curl_easy_cleanup(c);
	}
}

static int api(char **argv)
{
	struct bodies b = {0};
	long long start;
	CURLM *m;
	int running;

	if (read_bodies(argv[4], &b))
		return 1;
	curl_global_init(CURL_GLOBAL_DEFAULT);
	m = curl_multi_init();
	start = now_us();
	while (b.sent < b.n && b.sent < PARALLEL)
		next(m, request(argv, &b), &b);
	while (b.done < b.n) {
		curl_multi_perform(m, &running);
		take_ended(m, &b);
		if (b.done < b.n)
			curl_multi_poll(m, NULL, 0, 1000, NULL);
	}
	printf("wall_us=%lld calls=%zu bytes=%lld failed=%zu\n", now_us() - start, b.n, b.bytes, b.bad);
	curl_multi_cleanup(m);
	for (size_t i = 0; i < b.n; i++)
		free(b.v[i]);
	free(b.v);
	return b.bad ? 1 : 0;
}

/* --- slurm */

/* "a,b,c" of the addresses that the nodes of the list have, in the order of the list. */
static char *addresses(const node_info_msg_t *nodes, hostlist_t list)
{
	char *out = calloc((size_t)slurm_hostlist_count(list) + 1, 64), *end = out, *name;

	while (out && (name = slurm_hostlist_shift(list))) {
		/* records and hostlists come in the same order, so the search is short; the floor should be one */
		static uint32_t at;

		for (uint32_t k = 0; k < nodes->record_count; k++, at++) {
			const node_info_t *n = &nodes->node_array[at % nodes->record_count];

			if (n->name && !strcmp(n->name, name)) {
				end += snprintf(end, 64, "%s%s", end == out ? "" : ",", n->node_addr);
				break;
			}
		}
		free(name);
	}
	return out;
}

static int slurm(char **argv)
{
	hostlist_t list = slurm_hostlist_create(argv[0]);
	node_info_msg_t *nodes = NULL;
	update_node_msg_t u;
	long long start, loaded, prepared, end;
	int count = slurm_hostlist_count(list);

	slurm_init(NULL);
	start = now_us();
	if (slurm_load_node(0, &nodes, SHOW_ALL) != SLURM_SUCCESS)
		return fail("slurmctld does not tell its nodes");
	loaded = now_us();
	slurm_init_update_node_msg(&u);
	u.node_names = argv[0];
	u.node_addr = addresses(nodes, list);
	prepared = now_us();
	if (!u.node_addr || slurm_update_node(&u) != SLURM_SUCCESS)
		return fail("slurmctld refuses the update");
	end = now_us();
	printf("wall_us=%lld load_us=%lld update_us=%lld nodes=%d\n", loaded - start + end - prepared, loaded - start,
	       end - prepared, count);
	free(u.node_addr);
	slurm_free_node_info_msg(nodes);
	slurm_hostlist_destroy(list);
	slurm_fini();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 7 && !strcmp(argv[1], "api"))
		return api(argv + 2);
	if (argc == 3 && !strcmp(argv[1], "slurm"))
		return slurm(argv + 2);
	fprintf(stderr, "usage: floor api URL REGION ACCESS SECRET FILE | floor slurm HOSTLIST\n");
	return 2;
}
