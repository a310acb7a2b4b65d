/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_schema.c - walks the whole schema of cluster.yaml: each key is acted on (it changes the cluster value and says
 * nothing), or known (exactly one warning), or refused (an error); and the man page says which.
 */
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/problem.h"
#include "lib/base/str.h"
#include "lib/cluster/cluster.h"
#include "lib/cluster/reader.h"
#include "lib/cluster/rule.h"
#include "lib/cluster/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_STEPS = 12, MAX_TRIES = 24 };

/* The way to one key: its row in each section from the top. */
struct way {
	const struct key *step[MAX_STEPS];
	size_t n;
};

static const struct key *last(const struct way *w)
{
	return w->step[w->n - 1];
}

static bool has_flag(const struct way *w, unsigned flag)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->step[i]->flags & flag)
			return true;
	return false;
}

static char *way_text(const struct way *w)
{
	struct buf b = {0};

	for (size_t i = 0; i < w->n; i++)
		buf_fmt(&b, "%s%s%s", i ? "." : "", w->step[i]->name, w->step[i]->kind == KEY_MAPS ? "[]" : "");
	return buf_take(&b);
}

/* The i-th text to try for a key of one value, or false when there are no more. */
static bool sample(const struct key *k, size_t i, struct buf *out)
{
	struct strs all = {0};

	switch (k->kind) {
	case KEY_INT:
		buf_fmt(out, "%lld", (long long)(k->min + (int64_t)i));
		return i < 3 && (!k->max || k->min + (int64_t)i <= k->max);
	case KEY_FLOAT:
		buf_str(out, "1.5");
		return i < 1;
	case KEY_BOOL:
		buf_str(out, i ? "true" : "false");
		return i < 2;
	default:
		break;
	}
	if (k->choices) {
		assert_int_equal(strs_split(&all, k->choices, '|'), 0);
		if (i < all.n)
			buf_str(out, all.v[i]);
		i = i < all.n ? 0 : 1;
		strs_clear(&all);
		return i == 0;
	}
	buf_fmt(out, "\"%s\"", k->rule ? k->rule->example : "text");
	return i < 1;
}

static bool value(const struct key *k, size_t i, struct buf *out)
{
	static const char *const free_map = "{Comment: x}";

	if (k->kind == KEY_FREE || k->kind == KEY_ANY) {
		buf_str(out, free_map);
		return i < 1;
	}
	if (k->kind == KEY_FREES) {
		buf_fmt(out, "[%s]", free_map);
		return i < 1;
	}
	if (k->kind == KEY_LIST) {
		bool more;

		buf_char(out, '[');
		more = sample(k, i, out);
		buf_char(out, ']');
		return more;
	}
	return sample(k, i, out);
}

/* A section in flow form: what is required, and the way (NULL: none) from step `at` on. False when try `i` has no value. */
static bool emit(const struct section *s, const struct way *w, size_t at, size_t i, struct buf *out)
{
	bool more = true;

	buf_char(out, '{');
	for (size_t j = 0; j < s->n; j++) {
		const struct key *k = &s->keys[j];
		bool on_way = w && at < w->n && w->step[at] == k, list = k->kind == KEY_MAPS;

		if (!on_way && !(k->flags & KEY_REQUIRED))
			continue;
		buf_fmt(out, "%s: %s", k->name, list ? "[" : "");
		if (k->section)
			more = emit(k->section, on_way ? w : NULL, at + 1, i, out) && more;
		else
			more = value(k, on_way && at + 1 == w->n ? i : 0, out) && more;
		buf_fmt(out, "%s, ", list ? "]" : "");
	}
	buf_char(out, '}');
	return more;
}

static void dump_kvs(struct buf *b, const struct kvs *l)
{
	for (size_t i = 0; i < l->key.n; i++)
		buf_fmt(b, " %s=%s", l->key.v[i], l->val.v[i]);
	buf_char(b, '\n');
}

static void dump_strs(struct buf *b, const struct strs *l)
{
	for (size_t i = 0; i < l->n; i++)
		buf_fmt(b, " %s", l->v[i]);
	buf_char(b, '\n');
}

#define S(s) ((s) ? (s) : "-")

static void dump_resource(struct buf *b, const struct compute_resource *r)
{
	buf_fmt(b, "%s %d %d %d %g %d %lld %d %d %d %s %s %s %lld %lld\n", S(r->name), r->flexible, r->min_count, r->max_count,
		r->spot_price, r->disable_smt, (long long)r->schedulable_memory_mib, r->efa, r->gdr, r->placement.enabled,
		S(r->placement.name), S(r->capacity_reservation_id), S(r->capacity_reservation_group), (long long)r->static_priority,
		(long long)r->dynamic_priority);
	dump_strs(b, &r->instance_types);
	dump_kvs(b, &r->custom_slurm);
	dump_kvs(b, &r->tags);
}

static void dump_queue(struct buf *b, const struct queue *q)
{
	const struct root_volume *v = &q->root_volume;

	buf_fmt(b, "%s %d %s %d %s %d %d %s %s %s %s %s\n", S(q->name), (int)q->capacity, S(q->allocation_strategy), q->job_exclusive,
		S(q->custom_ami), q->assign_public_ip, q->placement.enabled, S(q->placement.name), S(q->instance_profile),
		S(q->instance_role), S(q->capacity_reservation_id), S(q->capacity_reservation_group));
	buf_fmt(b, "%lld %s %lld %lld %d\n", (long long)v->size_gib, S(v->type), (long long)v->iops, (long long)v->throughput,
		v->encrypted);
	dump_strs(b, &q->subnet_ids);
	dump_strs(b, &q->security_groups);
	dump_strs(b, &q->additional_security_groups);
	dump_kvs(b, &q->custom_slurm);
	dump_kvs(b, &q->tags);
	for (size_t i = 0; i < q->n_resources; i++)
		dump_resource(b, &q->resources[i]);
}

static char *dump(const struct cluster *c)
{
	struct buf b = {0};

	buf_fmt(&b, "%s %s %s %s %s %d %lld %d %lld %d %d\n", S(c->region), S(c->os), S(c->custom_ami), S(c->head_subnet_id),
		S(c->head_instance_type), (int)c->scaling, (long long)c->scaledown_idletime_min, c->memory_scheduling,
		(long long)c->resume_timeout_s, c->imds_v2_only, c->detailed_monitoring);
	dump_kvs(&b, &c->tags);
	for (size_t i = 0; i < c->n_custom_slurm; i++)
		dump_kvs(&b, &c->custom_slurm[i]);
	for (size_t i = 0; i < c->n_queues; i++)
		dump_queue(&b, &c->queues[i]);
	return buf_take(&b);
}

/* Read without the rules across keys, which have tests of their own. */
static char *read_and_dump(const char *text, struct problems *p)
{
	struct cluster *c = cluster_create();
	char *out;

	assert_non_null(c);
	reader_read("f", text, strlen(text), &schema_cluster, c, NULL, NULL, false, p);
	out = dump(c);
	cluster_destroy(c);
	return out;
}

static size_t warnings_of_later(const struct problems *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		n += p->v[i].level == PROBLEM_WARNING && strstr(p->v[i].text, "does not act on it yet") != NULL;
	return n;
}

/* Parse with one value of the key. True if the cluster value is another one than without the key. */
static bool try_value(const struct way *w, const char *text)
{
	struct way up = *w;
	struct problems p = {0}, ignored = {0};
	struct buf without = {0};
	char *with, *plain, *name = way_text(w);
	bool differs;

	up.n--;
	emit(&schema_cluster, up.n ? &up : NULL, 0, 0, &without);
	/* A required key would be in there too: compare with an empty file then. */
	plain = read_and_dump(has_flag(w, KEY_REQUIRED) ? "{}" : buf_text(&without), &ignored);
	with = read_and_dump(text, &p);
	if (problems_count(&p, PROBLEM_ERROR) != (has_flag(w, KEY_REFUSED) ? 1 : 0)) {
		problems_print(&p, stderr);
		fail_msg("%s: wrong number of errors in %s", name, text);
	}
	if (warnings_of_later(&p) != (has_flag(w, KEY_LATER) ? 1 : 0) || problems_count(&p, PROBLEM_WARNING) != warnings_of_later(&p))
		fail_msg("%s: wrong number of warnings", name);
	differs = strcmp(with, plain) != 0;
	free(with);
	free(plain);
	free(name);
	buf_free(&without);
	problems_clear(&p);
	problems_clear(&ignored);
	return differs;
}

static void judge_key(const struct way *w)
{
	bool acted = false, silent = has_flag(w, KEY_LATER | KEY_REFUSED) || str_eq(last(w)->name, "Scheduler");
	size_t tries = 0;

	for (size_t i = 0; i < MAX_TRIES; i++) {
		struct buf text = {0};
		bool more = emit(&schema_cluster, w, 0, i, &text);

		if (more) {
			acted = try_value(w, buf_text(&text)) || acted;
			tries++;
		}
		buf_free(&text);
		if (!more)
			break;
	}
	assert_true(tries > 0 && tries < MAX_TRIES);
	if (!acted && !silent)
		fail_msg("%s changes nothing and gives no warning", way_text(w));
}

static size_t walk(const struct section *s, struct way *w, void (*judge)(const struct way *))
{
	size_t n = 0;

	assert_true(w->n < MAX_STEPS);
	for (size_t i = 0; i < s->n; i++) {
		w->step[w->n++] = &s->keys[i];
		if (s->keys[i].section)
			n += walk(s->keys[i].section, w, judge);
		else
			judge(w);
		n++;
		w->n--;
	}
	return n;
}

static void every_key(void **state)
{
	struct way w = {.n = 0};

	(void)state;
	assert_true(walk(&schema_cluster, &w, judge_key) > 300);
}

static char *page;

/* Keys below one that is not acted on have no entry of their own. */
static void judge_page(const struct way *w)
{
	char *name = way_text(w), *entry;
	struct way up = *w;

	for (up.n = 1; up.n < w->n && !(last(&up)->flags & (KEY_LATER | KEY_REFUSED));)
		up.n++;
	if (last(&up)->flags & (KEY_LATER | KEY_REFUSED)) {
		char *top = way_text(&up);

		entry = str_fmt("\n.br\n%s\n", top);
		free(top);
	} else {
		entry = str_fmt("\n.TP\n.B %s\n", name);
	}
	if (!strstr(page, entry))
		fail_msg("slurm-ec2-cluster.5 lacks:%s", entry);
	free(entry);
	free(name);
}

static void man_page(void **state)
{
	const char *src = getenv("srcdir");
	char *path = str_fmt("%s/doc/slurm-ec2-cluster.5", src ? src : ".");
	struct way w = {.n = 0};
	struct buf b = {0};
	struct err e;

	(void)state;
	if (file_read(path, 1 << 20, &b, &e) < 0)
		fail_msg("%s", e.text);
	page = buf_take(&b);
	walk(&schema_cluster, &w, judge_page);
	free(page);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_key), cmocka_unit_test(man_page)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
