/* SPDX-License-Identifier: GPL-2.0-or-later */
/* identify.c - ask slurmctld which node this machine is, patiently. Called by computemgtd's main.
 *
 * The launch's node list and the machine's number in it make the usual case one small question; a thousand machines that each
 * read the whole node table at once would stop slurmctld. A machine of a fleet has no such list and must read the table. The
 * number spreads the first question of both, since even a thousand small ones at once keep a user's sinfo waiting for more than
 * a second; and the size of the table spreads the next ones of a fleet. It never pings: on a node, slurmctld's user may be
 * unknown, and then a ping fails. */
#include "computemgtd/identify.h"

#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/base/user.h"
#include "lib/node/node.h"
#include "lib/node/nodeset.h"
#include "lib/slurmctl/slurmctl.h"

#include <stdlib.h>

#define WAIT_FIRST_MS 500
#define WAIT_MAX_MS 4000
#define SINGLES_MAX 100 /* above this many nodes the whole table is the cheaper question */
#define SLOT_MS 5       /* between the first questions of a fleet's machines */
#define LIST_SLOT_MS 4  /* and of a launch's that knows its list: slurmctld and munged need about 1 ms for each */
#define SLOTS_MAX 1000

enum answer { ANSWER_YES, ANSWER_NO, ANSWER_NEVER };

/* A node whose machine knows SlurmUser by another number registers, and then fails every job. Say so before slurmd starts. */
static enum answer check_slurm_user(struct err *e)
{
	struct slurmctl_conf c;
	enum answer answer = ANSWER_YES;
	uid_t uid;
	gid_t gid;

	if (slurmctl_conf_load(&c, e) < 0)
		return ANSWER_NO;
	if (user_lookup(c.slurm_user, &uid, &gid, e) < 0) {
		err_set(e, "this image has no user %s: make it with uid %u, as on the head node", c.slurm_user,
			c.slurm_user_id);
		answer = ANSWER_NEVER;
	} else if (uid != c.slurm_user_id) {
		err_set(e, "user %s is uid %u in this image and %u on the head node: they must be the same", c.slurm_user,
			(unsigned)uid, c.slurm_user_id);
		answer = ANSWER_NEVER;
	}
	slurmctl_conf_clear(&c);
	return answer;
}

/* What nodes say about us. The err tells why it is not a yes. */
static enum answer judge(const struct nodes *l, const struct self *self, char **name, struct err *e)
{
	const struct node *found = NULL;
	int count = match_nodes(l, self, &found);

	if (count > 1) {
		err_set(e, "%d nodes have address %s and launch %s", count, self->address, self->launch);
		return ANSWER_NO;
	}
	if (count == 0) {
		err_set(e, "no node that is powering up has address %s and launch %s", self->address, self->launch);
		return ANSWER_NO;
	}
	*name = str_dup(found->name);
	if (!*name)
		err_nomem(e);
	return *name ? ANSWER_YES : ANSWER_NO;
}

static enum answer ask_one(const char *node, const struct self *self, char **name, struct err *e)
{
	struct nodes l = {0};
	enum answer answer = slurmctl_node(node, &l, e) < 0 ? ANSWER_NO : judge(&l, self, name, e);

	nodes_clear(&l);
	return answer;
}

/* *spread_ms: over how long the next such question should be spread. */
static enum answer ask_table(const struct self *self, char **name, int64_t *spread_ms, struct err *e)
{
	struct nodes l = {0};
	enum answer answer = slurmctl_nodes(&l, e) < 0 ? ANSWER_NO : judge(&l, self, name, e);

	*spread_ms = match_spread_ms(&l);
	nodes_clear(&l);
	return answer;
}

/* One round of asking. The first looks only at the likely node: early on, waiting helps more than asking around. */
static enum answer ask(const struct identify_spec *s, const struct nodeset *list, int round, char **name, int64_t *spread_ms,
		       struct err *e)
{
	size_t n = nodeset_count(list);

	*spread_ms = 0;
	if (n == 0)
		return ask_table(&s->self, name, spread_ms, e);
	if (ask_one(nodeset_get(list, s->index % n), &s->self, name, e) == ANSWER_YES)
		return ANSWER_YES;
	if (round == 0)
		return ANSWER_NO;
	if (n > SINGLES_MAX)
		return ask_table(&s->self, name, spread_ms, e);
	for (size_t i = 1; i < n; i++)
		if (ask_one(nodeset_get(list, (s->index + i) % n), &s->self, name, e) == ANSWER_YES)
			return ANSWER_YES;
	return ANSWER_NO;
}

/* Machines of one launch boot together: spread their questions. */
static int64_t jittered(int64_t ms)
{
	return (int64_t)((double)ms * (0.75 + 0.5 * rand_unit()));
}

static void wait_for_slot(const struct identify_spec *s, const struct nodeset *list)
{
	int64_t slot = s->index < SLOTS_MAX ? (int64_t)s->index : SLOTS_MAX;

	if (nodeset_count(list) == 0)
		clock_sleep_ms(jittered(WAIT_FIRST_MS) + slot * SLOT_MS);
	else
		clock_sleep_ms(slot * LIST_SLOT_MS);
}

static int64_t next_nap(int64_t wait_ms, int64_t spread_ms)
{
	int64_t nap = jittered(wait_ms), spread = (int64_t)((double)spread_ms * rand_unit());

	return nap > spread ? nap : spread;
}

static char *ask_until(const struct identify_spec *s, const struct nodeset *list, struct err *e)
{
	int64_t deadline = clock_mono_ms() + s->timeout_s * 1000;
	int64_t wait_ms = WAIT_FIRST_MS, spread_ms = 0;
	enum answer user = ANSWER_NO;
	char *name = NULL;

	wait_for_slot(s, list);
	for (int round = 0;; round++) {
		if (user != ANSWER_YES)
			user = check_slurm_user(e);
		if (user == ANSWER_NEVER)
			return NULL;
		if (user == ANSWER_YES && ask(s, list, round, &name, &spread_ms, e) == ANSWER_YES)
			return name;
		int64_t nap = next_nap(wait_ms, spread_ms);
		if (clock_mono_ms() + nap >= deadline)
			break;
		log_info("%s; again in %lld ms", e->text, (long long)nap);
		clock_sleep_ms(nap);
		wait_ms = wait_ms * 2 > WAIT_MAX_MS ? WAIT_MAX_MS : wait_ms * 2;
	}
	err_prefix(e, "gave up after %lld seconds", (long long)s->timeout_s);
	return NULL;
}

char *identify(const struct identify_spec *s, struct err *e)
{
	struct nodeset *list = nodeset_create();
	char *name = NULL;

	if (!list) {
		err_nomem(e);
		return NULL;
	}
	if (s->nodes && nodeset_parse(list, s->nodes, e) < 0) {
		err_prefix(e, "node list");
		goto out;
	}
	if (slurmctl_open(s->conf, e) < 0)
		goto out;
	name = ask_until(s, list, e);
	slurmctl_close();
out:
	nodeset_destroy(list);
	return name;
}
