/* SPDX-License-Identifier: GPL-2.0-or-later */
/* partitions.c - close and open the partitions of our queues, and move the fleet's status on. */
#include "lib/apply/partitions.h"

#include "lib/apply/apply.h"
#include "lib/apply/launch.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/node/partition.h"
#include "lib/plan/fleet.h"
#include "lib/plan/plan.h"
#include "lib/slurmctl/slurmctl.h"
#include "lib/state/store.h"

#include <stdlib.h>

/* Is this an action that closes (else: that opens, or only forgets)? */
static bool closes(const struct action *a)
{
	return a->kind == ACT_PARTITION && str_eq(a->word, partition_state_text(PART_DOWN));
}

static bool opens(const struct action *a)
{
	return a->kind == ACT_PARTITION && !closes(a);
}

/* The list as it is to be: those that are about to be closed are in it (`closing`), those that are open again are not. */
static int change_list(const struct plan *p, const bool *failed, bool closing, const struct kvs *old, struct kvs *out)
{
	struct kvs gone = { 0 };
	int rc = 0;

	for (size_t i = 0; i < p->n && rc == 0; i++) {
		const struct action *a = &p->v[i];

		if (closing ? !closes(a) : !opens(a) || failed[i])
			continue;
		rc = kvs_add(&gone, a->partition, "");
		if (rc == 0 && closing)
			rc = kvs_add(out, a->partition, a->was);
	}
	for (size_t i = 0; i < old->key.n && rc == 0; i++)
		if (!kvs_get(&gone, old->key.v[i]))
			rc = kvs_add(out, old->key.v[i], old->val.v[i]);
	kvs_clear(&gone);
	return rc;
}

static int write_list(struct world *w, const char *old, const struct kvs *now, struct err *e)
{
	char *text = now->key.n ? fleet_closed_text(now) : NULL;
	int rc;

	if (now->key.n && !text)
		return err_nomem(e);
	rc = store_word_swap(w->store, FLEET_CLOSED_WORD, old, text, clock_wall_ms(), e);
	free(text);
	return rc == 0 ? err_set(e, "another process changes the list of closed partitions") : rc < 0 ? -1 : 0;
}

static int keep_list(struct world *w, const struct plan *p, const bool *failed, bool closing, struct err *e)
{
	struct kvs old = { 0 }, now = { 0 };
	char *word = NULL;
	int rc = store_word(w->store, FLEET_CLOSED_WORD, &word, NULL, e);

	if (rc == 0 && (fleet_closed_parse(word, &old) || change_list(p, failed, closing, &old, &now)))
		rc = err_nomem(e);
	if (rc == 0)
		rc = write_list(w, word, &now, e);
	kvs_clear(&old);
	kvs_clear(&now);
	free(word);
	return rc;
}

static bool any(const struct plan *p, bool (*is)(const struct action *))
{
	for (size_t i = 0; i < p->n; i++)
		if (is(&p->v[i]))
			return true;
	return false;
}

static void say_failed(const struct err *e)
{
	if (say_again(e->text))
		log_error("fleet: %s", e->text);
}

static void fail_all(const struct plan *p, bool *failed, bool (*is)(const struct action *), const struct err *e)
{
	say_failed(e);
	for (size_t i = 0; i < p->n; i++)
		failed[i] = failed[i] || is(&p->v[i]);
}

static void set_one(struct world *w, const struct action *a, bool *failed)
{
	char *detail = str_fmt("partition %s %s: %s", a->partition, a->word ? a->word : "is left as it is", a->reason);
	struct err e = { "" };

	if (a->word && slurmctl_partition_state(a->partition, partition_state_parse(a->word), &e) < 0) {
		say_failed(&e);
		*failed = true;
	} else {
		log_info("%s (%s)", detail ? detail : a->partition, a->code);
		apply_event(w, a->code, NULL, NULL, detail);
	}
	free(detail);
}

/* A slurmctld that went away is noticed after ten seconds, each time: the others are not tried then. */
static void set_all(struct world *w, const struct plan *p, bool *failed)
{
	bool away = false;

	for (size_t i = 0; i < p->n; i++) {
		if (p->v[i].kind != ACT_PARTITION || failed[i])
			continue;
		failed[i] = away && p->v[i].word;
		if (!failed[i])
			set_one(w, &p->v[i], &failed[i]);
		away = away || (failed[i] && slurmctl_ping(NULL) < 0);
	}
}

void partitions_carry(struct world *w, const struct plan *p, bool *failed)
{
	struct err e = { "" };

	if (!any(p, closes) && !any(p, opens))
		return;
	if (any(p, closes) && keep_list(w, p, failed, true, &e) < 0)
		fail_all(p, failed, closes, &e);
	set_all(w, p, failed);
	if (any(p, opens) && keep_list(w, p, failed, false, &e) < 0)
		fail_all(p, failed, opens, &e);
}

static void move_one(struct world *w, const struct action *a, bool *failed)
{
	char *detail = str_fmt("%s -> %s: %s", a->was, a->word, a->reason);
	struct err e = { "" };
	int rc = store_word_swap(w->store, FLEET_WORD, a->was, a->word, clock_wall_ms(), &e);

	if (rc < 0) {
		say_failed(&e);
		*failed = true;
	} else if (rc == 1) {
		log_info("fleet %s", detail ? detail : a->word);
		apply_event(w, "fleet", NULL, NULL, detail);
	}
	free(detail);
}

void partitions_carry_fleet(struct world *w, const struct plan *p, bool *failed)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].kind == ACT_FLEET)
			move_one(w, &p->v[i], &failed[i]);
}
