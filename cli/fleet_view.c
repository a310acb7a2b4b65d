/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet_view.c - reading what the fleet commands show and wait for. Changes nothing. */
#include "build_config.h"

#include "cli/fleet_view.h"

#include "cli/session.h"
#include "cli/text.h"
#include "lib/apply/apply.h"
#include "lib/apply/wish.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/user.h"
#include "lib/cluster/generation.h"
#include "lib/cluster/settings.h"
#include "lib/node/name.h"
#include "lib/plan/brake.h"
#include "lib/plan/node_rules.h"
#include "lib/slurmctl/slurmctl.h"
#include "lib/state/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int fleet_view_open(struct fleet_view *v, struct err *e)
{
	struct err note = { "" };

	memset(v, 0, sizeof(*v));
	v->set = session_last_settings(e);
	if (!v->set || user_drop(SLURM_USER, e))
		return -1;
	v->gen = generation_load(APPLIED_DIR, e);
	v->store = v->gen ? store_open(STORE_PATH, &note, e) : NULL;
	if (note.text[0])
		fprintf(stderr, "%s\n", note.text);
	return v->store ? 0 : -1;
}

static void forget_look(struct fleet_view *v)
{
	free(v->word);
	v->word = NULL;
	kvs_clear(&v->closed);
	bindings_clear(&v->bindings);
	failures_clear(&v->failures);
	nodes_clear(&v->nodes);
	partitions_clear(&v->partitions);
	free(v->protection);
	v->protection = NULL;
	v->static_up = v->static_all = 0;
	v->rest = (struct fleet_rest){ 0 };
}

static int read_daemon(struct fleet_view *v, struct err *e)
{
	int64_t failed_ms, now = clock_wall_ms();
	char *why = NULL;
	int rc = store_source(v->store, "loop", &v->loop_ms, &failed_ms, &why, e);

	free(why);
	v->watched = lock_holder(CLUSTERMGTD_LOCK) != 0;
	v->hung = v->watched && now - v->loop_ms > v->set->heartbeat_limit_s * 1000;
	return rc < 0 ? -1 : 0;
}

const char *fleet_view_daemon(const struct fleet_view *v, int64_t now_ms, char out[FLEET_DAEMON])
{
	char age[TEXT_AGE];

	if (v->watched && !v->hung)
		return NULL;
	if (v->hung)
		snprintf(out, FLEET_DAEMON,
			 "clustermgtd runs, but has finished no loop %s%s, so nothing happens: something does not answer it, see its "
			 "log; else systemctl restart slurm-ec2-clustermgtd",
			 v->loop_ms ? "for " : "yet", v->loop_ms ? text_age(now_ms - v->loop_ms, age) : "");
	else
		snprintf(out, FLEET_DAEMON, "clustermgtd does not run, so nothing happens: systemctl start slurm-ec2-clustermgtd");
	return out;
}

const char *fleet_view_held(const struct events *said, int64_t now_ms, int64_t limit_ms)
{
	const struct event *last = said->n ? &said->v[said->n - 1] : NULL;

	if (!last || !last->detail || now_ms - last->time_ms > limit_ms)
		return NULL;
	return str_eq(last->detail, BRAKE_OFF_TEXT) || str_eq(last->detail, BRAKE_CONFIRMED_TEXT) ? NULL : last->detail;
}

int fleet_view_words(struct fleet_view *v, struct err *e)
{
	struct wish wish;

	free(v->word);
	v->word = NULL;
	if (store_word(v->store, FLEET_WORD, &v->word, &v->word_ms, e) || wish_read(v->store, clock_wall_ms(), &wish, e))
		return -1;
	fleet_parse(v->word, &v->fleet);
	v->frozen_until_ms = wish.frozen_until_ms;
	return read_daemon(v, e);
}

static int read_rows(struct fleet_view *v, struct err *e)
{
	int64_t since = clock_wall_ms() - v->set->protected_window_s * 1000;
	char *closed = NULL;
	int rc = store_word(v->store, FLEET_CLOSED_WORD, &closed, NULL, e);

	if (rc == 0 && fleet_closed_parse(closed, &v->closed))
		rc = err_nomem(e);
	free(closed);
	if (rc == 0)
		rc = store_bindings(v->store, &v->bindings, e);
	return rc ? -1 : store_failures(v->store, since, &v->failures, e);
}

static int judge_protection(struct fleet_view *v, struct err *e)
{
	struct protect_input in = {
		.gen = v->gen,
		.nodes = &v->nodes,
		.bindings = &v->bindings,
		.failures = &v->failures,
		.rule = { .count = v->set->protected_count, .window_ms = v->set->protected_window_s * 1000 },
		.now_ms = clock_wall_ms(),
	};

	v->protection = calloc(v->gen->n_resources + 1, sizeof(*v->protection));
	return v->protection ? protect_judge(&in, v->protection, NULL, e) : err_nomem(e);
}

/* A person, or a reservation (also ours, of a capacity block that is not active), keeps it out. */
static bool is_kept_out(const struct node *n)
{
	bool off = n->state & (NS_DRAIN | NS_FAIL) || (n->state & NS_BASE) == NS_DOWN;

	return n->state & NS_MAINT || (off && node_why(n->reason) == WHY_PERSON);
}

static void count_static(struct fleet_view *v)
{
	for (size_t i = 0; i < v->nodes.n; i++) {
		const struct node *n = &v->nodes.v[i];
		struct node_name name;

		if (node_name_resolve(v->gen, n->name, &name) || !name.is_static || is_kept_out(n))
			continue;
		v->static_all++;
		v->static_up += node_state_is(n->state, 1u << NS_IDLE | 1u << NS_ALLOCATED | 1u << NS_MIXED, 0,
					      NS_POWERED_DOWN | NS_POWERING_DOWN | NS_POWERING_UP | NS_NO_RESPOND);
	}
}

static int open_slurm(const struct fleet_view *v, struct err *e)
{
	static bool is_open;

	if (!is_open && session_slurm_open("slurm-ec2 fleet", v->set->slurm_conf, e))
		return -1;
	is_open = true;
	return slurmctl_ping(e);
}

int fleet_view_look(struct fleet_view *v, struct err *e)
{
	struct fleet_input in = { .gen = v->gen, .nodes = &v->nodes, .bindings = &v->bindings, .closed = &v->closed };

	forget_look(v);
	if (fleet_view_words(v, e) || read_rows(v, e) || open_slurm(v, e) || slurmctl_nodes(&v->nodes, e) ||
	    slurmctl_partitions(&v->partitions, e) || judge_protection(v, e))
		return -1;
	in.fleet = v->fleet;
	count_static(v);
	return fleet_rest(&in, &v->rest, e);
}

size_t fleet_view_protected(const struct fleet_view *v)
{
	size_t n = 0;

	for (size_t i = 0; v->protection && i < v->gen->n_resources; i++)
		n += v->protection[i].on;
	return n;
}

const char *fleet_view_status(const struct fleet_view *v)
{
	return fleet_view_protected(v) ? "PROTECTED" : fleet_status_text(v->fleet.status);
}

void fleet_view_close(struct fleet_view *v)
{
	forget_look(v);
	store_close(v->store);
	generation_destroy(v->gen);
	settings_destroy(v->set);
}
