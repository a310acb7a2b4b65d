/* SPDX-License-Identifier: GPL-2.0-or-later */
/* update.c - node updates: many nodes in few calls, addresses paired with names in order. */
#include "lib/slurmctl/slurmctl.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/slurmctl/slurm_compat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Nodes in one call. 22.05 holds its node, job and partition locks for the whole call and writes its state after it, so neither
 * one call a node nor one of 10 000 is kind to it. */
#define PART_NODES 500

static char *join(const char *const *v, size_t n)
{
	struct buf b = {0};

	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buf_char(&b, ',');
		buf_str(&b, v[i]);
	}
	return buf_take(&b);
}

static int refused(struct err *e, const struct node_update *u)
{
	int num = errno;

	if (num == ESLURM_USER_ID_MISSING)
		return err_set(e, "slurmctld does not let this user change nodes: run it as SlurmUser or root");
	return err_set(e, "cannot update %zu node%s starting with %s: %s", u->n, u->n == 1 ? "" : "s", u->names[0],
		       slurm_strerror(num));
}

/* The parameters of update_node_msg_t are not const, but slurm_update_node() only packs them. */
static char *unconst(const char *s)
{
	union {
		const char *in;
		char *out;
	} u = {.in = s};

	return u.out;
}

/* One call for u->n nodes. */
static int send_part(const struct node_update *u, struct err *e)
{
	update_node_msg_t m;
	int rc = -1;

	slurmctl_asked("update nodes");
	slurm_init_update_node_msg(&m);
	m.node_names = join(u->names, u->n);
	m.node_addr = u->addrs ? join(u->addrs, u->n) : NULL;
	m.reason = unconst(u->reason);
	m.extra = unconst(u->extra);
	m.comment = unconst(u->comment);
	if (u->state)
		m.node_state = u->state;
	if (!m.node_names || (u->addrs && !m.node_addr))
		err_nomem(e);
	else if (slurm_update_node(&m) != 0)
		refused(e, u);
	else
		rc = 0;
	free(m.node_names);
	free(m.node_addr);
	return rc;
}

/* The part of u that starts at `at`. */
static struct node_update part_of(const struct node_update *u, size_t at, size_t n)
{
	struct node_update p = *u;

	p.names += at;
	p.n = n;
	if (p.addrs)
		p.addrs += at;
	if (p.instance_ids)
		p.instance_ids += at;
	return p;
}

/* The running slurmctld's release as a number of SLURM_VERSION_NUM's kind, 0 = unknown. Asked once a process. */
static int running_release(void)
{
	static int known = -1;
	struct slurmctl_conf c;
	int major, minor, micro;

	if (known >= 0)
		return known;
	if (slurmctl_conf_load(&c, NULL) < 0)
		return 0;
	known = c.version && sscanf(c.version, "%d.%d.%d", &major, &minor, &micro) == 3 ? SLURM_VERSION_NUM(major, minor, micro)
											 : 0;
	slurmctl_conf_clear(&c);
	return known;
}

#if COMPAT_NODE_INSTANCE
#define IDS_ONE_BY_ONE 100 /* a few milliseconds each, and each takes slurmctld's locks */

/* After addresses and states, and apart from them: they only help to find a machine again, so trouble with them is none. */
static void send_ids(const struct node_update *u)
{
	bool lists = running_release() >= COMPAT_ID_LISTS;
	size_t n = lists || u->n < IDS_ONE_BY_ONE ? u->n : IDS_ONE_BY_ONE, step;

	for (size_t at = 0; u->instance_ids && at < n; at += step) {
		update_node_msg_t m;

		step = !lists ? 1 : n - at < PART_NODES ? n - at : PART_NODES;

		slurm_init_update_node_msg(&m);
		m.node_names = join(u->names + at, step);
		m.instance_id = join(u->instance_ids + at, step);
		if (m.node_names && m.instance_id)
			slurm_update_node(&m);
		free(m.node_names);
		free(m.instance_id);
	}
}
#else
static void send_ids(const struct node_update *u)
{
	(void)u;
}
#endif

#if COMPAT_MAY_PAIR_WRONGLY
/* Is the running slurmctld one that may pair wrongly? Unknown counts as yes. */
static bool pairs_wrongly(void)
{
	int release = running_release();

	return release == 0 || (release >= SLURM_VERSION_NUM(22, 5, 0) && release < SLURM_VERSION_NUM(22, 5, 8));
}

static int repair_one(const struct node_update *u, size_t i, struct err *e)
{
	struct node_update one = part_of(u, i, 1);
	struct nodes got = {0};
	int rc = slurmctl_node(u->names[i], &got, e);

	if (rc == 0 && got.n == 1 && !str_eq(got.v[0].addr, u->addrs[i])) {
		one.state = 0; /* it was applied, in the right order: only addresses go astray */
		one.reason = NULL;
		rc = send_part(&one, e);
	}
	nodes_clear(&got);
	return rc;
}

static int check_pairs(const struct node_update *u, struct err *e)
{
	if (!u->addrs || u->n < 2 || !pairs_wrongly())
		return 0;
	for (size_t i = 0; i < u->n; i++) {
		if (repair_one(u, i, e) < 0)
			return -1;
	}
	return 0;
}
#else
static int check_pairs(const struct node_update *u, struct err *e)
{
	(void)u;
	(void)e;
	return 0;
}
#endif

int slurmctl_update_nodes(const struct node_update *u, struct err *e)
{
	struct err other;
	int rc = 0;

	for (size_t at = 0; at < u->n; at += PART_NODES) {
		struct node_update p = part_of(u, at, u->n - at < PART_NODES ? u->n - at : PART_NODES);

		/* a refused part does not stop the next; the first refusal is the one told */
		if (send_part(&p, rc == 0 ? e : &other) < 0 || check_pairs(&p, rc == 0 ? e : &other) < 0)
			rc = -1;
	}
	if (rc == 0)
		send_ids(u);
	return rc;
}
