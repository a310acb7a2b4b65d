/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_sim.c - thousands of random worlds (sim.h): whatever fails, all comes back into agreement, and no running job is hurt.
 *
 *   test_sim                       as many worlds as SE_SIM_WORLDS says, from seed SE_SIM_SEED on
 *   test_sim SEED [--jobs N] [--faults NAME,NAME...] [--seconds N] [--trace]    one of them
 *
 * A world that fails is made smaller (fewer kinds of faults, fewer jobs, a shorter time of faults) as long as it fails, and the
 * command that runs the smallest alone is printed.
 */
#include "tests/sim/sim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define WORLDS 250
#else
#define WORLDS 2500
#endif
#define MOST_SHOWN 5

static struct world *world;

struct totals {
	int64_t launched, kills, loops, requeues, steps, well_s;
};

static void add(struct totals *t, const struct world *w)
{
	t->launched += w->launched;
	t->kills += w->kills;
	t->loops += w->loops;
	t->requeues += w->requeues;
	t->steps += w->steps;
	t->well_s += (w->now - w->faults_end_ms) / 1000;
}

static bool run(const struct sim_spec *s, struct totals *t, char wrong_out[400])
{
	bool ok;

	world_begin(world, s);
	ok = world_run(world);
	if (t)
		add(t, world);
	if (wrong_out)
		memcpy(wrong_out, world->wrong, sizeof(world->wrong));
	world_end(world);
	return ok;
}

/* --- making it small */

static bool still_fails(const struct sim_spec *s)
{
	return !run(s, NULL, NULL);
}

static void fewer_faults(struct sim_spec *s)
{
	for (int f = 0; f < N_FAULT; f++) {
		struct sim_spec less = *s;

		less.faults &= ~(1u << f);
		if (less.faults != s->faults && still_fails(&less))
			*s = less;
	}
}

static void fewer_jobs(struct sim_spec *s)
{
	for (int n = 0; n < s->jobs; n++) {
		struct sim_spec less = *s;

		less.jobs = n;
		if (still_fails(&less)) {
			*s = less;
			return;
		}
	}
}

static void less_time(struct sim_spec *s)
{
	for (int seconds = 60; seconds < 2400; seconds += 60) {
		struct sim_spec less = *s;

		less.fault_s = seconds;
		if (still_fails(&less)) {
			*s = less;
			return;
		}
	}
}

static void print_command(const struct sim_spec *s)
{
	bool first = true;

	printf("  tests/unit/test_sim %" PRIu64 " --jobs %d --faults ", s->seed, s->jobs);
	for (int f = 0; f < N_FAULT; f++) {
		if (!(s->faults >> f & 1))
			continue;
		printf("%s%s", first ? "" : ",", fault_text[f]);
		first = false;
	}
	if (first)
		printf("none");
	if (s->fault_s >= 0)
		printf(" --seconds %d", s->fault_s);
	printf("    (--trace tells each event)\n");
}

static void show(uint64_t seed)
{
	struct sim_spec s = {.seed = seed, .jobs = N_JOB, .faults = UINT32_MAX, .fault_s = -1};
	char why[400];

	run(&s, NULL, why);
	printf("FAILED: seed %" PRIu64 ": %s\n", seed, why);
	fewer_faults(&s);
	fewer_jobs(&s);
	less_time(&s);
	run(&s, NULL, why);
	printf("  smallest: %s\n", why);
	print_command(&s);
	fflush(stdout);
}

/* --- one and many */

static uint32_t faults_of(const char *names)
{
	uint32_t mask = 0;

	for (int f = 0; f < N_FAULT; f++) {
		size_t n = strlen(fault_text[f]);

		for (const char *p = names; (p = strstr(p, fault_text[f])); p += n)
			if ((p == names || p[-1] == ',') && (!p[n] || p[n] == ','))
				mask |= 1u << f;
	}
	return mask;
}

static int one(int argc, char **argv)
{
	struct sim_spec s = {.seed = strtoull(argv[1], NULL, 10), .jobs = N_JOB, .faults = UINT32_MAX, .fault_s = -1};
	char why[400];

	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "--trace"))
			s.trace = true;
		else if (!strcmp(argv[i], "--jobs") && i + 1 < argc)
			s.jobs = atoi(argv[++i]);
		else if (!strcmp(argv[i], "--faults") && i + 1 < argc)
			s.faults = faults_of(argv[++i]);
		else if (!strcmp(argv[i], "--seconds") && i + 1 < argc)
			s.fault_s = atoi(argv[++i]);
		else
			return 2;
	}
	if (run(&s, NULL, why)) {
		printf("seed %" PRIu64 ": all is well\n", s.seed);
		return 0;
	}
	printf("seed %" PRIu64 ": %s\n", s.seed, why);
	return 1;
}

static int64_t number(const char *name, int64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoll(text, NULL, 10) : otherwise;
}

static int many(void)
{
	int64_t n = number("SE_SIM_WORLDS", WORLDS), first = number("SE_SIM_SEED", 1), failed = 0;
	struct totals t = {0};

	for (int64_t i = 0; i < n; i++) {
		struct sim_spec s = {.seed = (uint64_t)(first + i), .jobs = N_JOB, .faults = UINT32_MAX, .fault_s = -1};

		if (run(&s, &t, NULL))
			continue;
		if (failed++ < MOST_SHOWN)
			show(s.seed);
		else
			printf("FAILED: seed %" PRIu64 "\n", s.seed);
	}
	printf("%" PRId64 " worlds, %" PRId64 " failed; %" PRId64 " machines launched, %" PRId64 " loops, %" PRId64
	       " steps, %" PRId64 " programs killed, %" PRId64 " jobs queued again; all well %" PRId64
	       " s after the faults on average\n",
	       n, failed, t.launched, t.loops, t.steps, t.kills, t.requeues, n ? t.well_s / n : 0);
	return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	int rc;

	world = calloc(1, sizeof(*world));
	if (!world)
		return 1;
	rc = argc > 1 ? one(argc, argv) : many();
	free(world);
	return rc;
}
