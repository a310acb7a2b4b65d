/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loops.c - clustermgtd's loop, so many times without a pause, for bench/loop:
 *
 *   loops COUNT
 *
 * One line on stdout for each loop: wall_us, cpu_us (ours alone), observe_us, act_us, decide_us (CPU), actions, rss_kb and anon_kb (highest
 * during the loop), kept_kb (anonymous after it), fds (open descriptors after it). It runs in the place of clustermgtd, as the user that
 * slurmctld has, and takes no lock.
 */
#include "build_config.h"

#include "clustermgtd/loop.h"
#include "clustermgtd/observe.h"
#include "lib/apply/apply.h"
#include "lib/base/err.h"
#include "lib/base/num.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_LOOPS 1000000

static long long now_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

/* Forget the highest resident size. */
static void reset_peak(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "5", 1) != 1)
		perror("/proc/self/clear_refs");
	if (fd >= 0)
		close(fd);
}

static long status_kb(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtol(at + strlen(key), NULL, 10) : 0;
}

static int count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n - 3; /* . and .. and the folder itself */
}

static void print_memory(void)
{
	static char text[8192];
	FILE *f = fopen("/proc/self/status", "r");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
	long high, file;

	text[n] = 0;
	if (f)
		fclose(f);
	high = status_kb(text, "VmHWM:");
	file = status_kb(text, "RssFile:") + status_kb(text, "RssShmem:");
	printf(" rss_kb=%ld anon_kb=%ld kept_kb=%ld fds=%d\n", high, high - file, status_kb(text, "RssAnon:"), count_fds());
}

static void one(struct world *w, struct kept *k)
{
	struct loop_times t = {0};
	int64_t wake = INT64_MAX;
	long long wall, cpu;
	struct err e = {""};

	reset_peak();
	wall = now_us(CLOCK_MONOTONIC);
	cpu = now_us(CLOCK_PROCESS_CPUTIME_ID);
	if (world_refresh(w, &e) < 0)
		fprintf(stderr, "loops: %s\n", e.text);
	loop(w, k, &wake, &t);
	cpu = now_us(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	wall = now_us(CLOCK_MONOTONIC) - wall;
	printf("wall_us=%lld cpu_us=%lld observe_us=%lld decide_us=%lld act_us=%lld actions=%zu", wall, cpu, (long long)t.observe_us,
	       (long long)t.decide_us, (long long)t.act_us, t.actions);
	print_memory();
}

int main(int argc, char **argv)
{
	struct kept k = {0};
	struct err e = {""};
	int64_t count;
	struct world w;

	if (argc != 2 || num_i64(argv[1], 1, MAX_LOOPS, &count, NULL) < 0) {
		fprintf(stderr, "usage: loops COUNT\n");
		return 2;
	}
	if (world_begin("clustermgtd", true, &e) < 0 || world_open(&w, "clustermgtd", true, &e) < 0) {
		fprintf(stderr, "loops: %s\n", e.text);
		return 1;
	}
	for (int64_t i = 0; i < count && !apply_stop; i++)
		one(&w, &k);
	kept_clear(&k);
	world_close(&w);
	return 0;
}
