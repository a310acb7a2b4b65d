/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clouds.c - each cloud is read on its own: one that is away stops only what needs it. */
#include "clustermgtd/clouds.h"

#include "clustermgtd/observe.h"
#include "lib/apply/apply.h"
#include "lib/aws/ec2.h"
#include "lib/base/err.h"
#include "lib/cluster/generation.h"
#include "lib/node/map.h"

#include <stdlib.h>

/* One of the connections; its name stands in front of trouble with it. */
static bool read_cloud(struct world *w, struct observed *o, size_t i, int64_t deadline)
{
	struct err e = {""};

	o->call[i] = ec2_describe_cluster(w->gen->uuid);
	if (!o->call[i])
		err_nomem(&e);
	else if (ec2_perform_one(world_cloud_at(w, i), o->call[i], deadline, &e) == 0)
		return true;
	if (i == 0)
		o->ec2_why = e;
	else
		err_set(&o->ec2_why, "%s: %s", w->gen->clouds[i - 1].region, e.text);
	return false;
}

/* A list of all; the texts stay where they are. */
static int merge(struct observed *o)
{
	for (size_t i = 0; i < o->n_calls; i++) {
		const struct instances *l = o->cloud_unread[i] ? NULL : ec2_describe_reply(o->call[i]);

		for (size_t k = 0; l && k < l->n; k++) {
			struct instance *m = instances_add(&o->merged);

			if (!m)
				return -1;
			*m = l->v[k];
			m->cloud = i;
		}
	}
	o->instances = &o->merged;
	return 0;
}

void clouds_read(struct world *w, struct observed *o, int64_t deadline)
{
	size_t n = w->gen->n_clouds + 1, unread = 0;

	err_nomem(&o->ec2_why);
	o->call = calloc(n, sizeof *o->call);
	o->cloud_unread = calloc(n, sizeof *o->cloud_unread);
	if (!o->call || !o->cloud_unread)
		return;
	o->n_calls = n;
	for (size_t i = 0; i < n; i++) {
		o->cloud_unread[i] = !read_cloud(w, o, i, deadline);
		unread += o->cloud_unread[i];
	}
	if (unread == n)
		return;
	if (n == 1)
		o->instances = ec2_describe_reply(o->call[0]);
	else if (merge(o) < 0)
		err_nomem(&o->ec2_why);
	o->ec2 = unread == 0 && o->instances;
}

/* ---- health */

static int copy_health(struct healths *out, const struct health *from)
{
	struct health *h = healths_add(out);

	if (!h)
		return -1;
	*h = *from;
	h->instance = str_dup(from->instance);
	h->event = str_dup(from->event);
	h->event_text = str_dup(from->event_text);
	return h->instance && (h->event || !from->event) && (h->event_text || !from->event_text) ? 0 : -1;
}

/* The account has other machines, too. */
static int keep_ours(const struct observed *o, const struct map *ours, size_t cloud, const struct healths *told,
		     struct healths *out)
{
	for (size_t i = 0; told && i < told->n; i++) {
		size_t at = map_get(ours, told->v[i].instance);

		if (at != SIZE_MAX && o->instances->v[at].cloud == cloud && copy_health(out, &told->v[i]) < 0)
			return -1;
	}
	return 0;
}

static int ask_health(struct world *w, struct observed *o, const struct map *ours, size_t cloud, struct healths *out,
		      int64_t deadline)
{
	struct ec2_call *c = ec2_describe_unwell();
	int rc = c ? ec2_perform_one(world_cloud_at(w, cloud), c, deadline, &o->health_why) : err_nomem(&o->health_why);

	if (rc == 0 && keep_ours(o, ours, cloud, ec2_describe_unwell_reply(c), out) < 0)
		rc = err_nomem(&o->health_why);
	ec2_call_destroy(c);
	return rc;
}

static bool any_machine(const struct observed *o, size_t cloud)
{
	for (size_t i = 0; i < o->instances->n; i++) {
		if (o->instances->v[i].cloud == cloud && instance_alive(o->instances->v[i].state))
			return true;
	}
	return false;
}

bool clouds_read_health(struct world *w, struct observed *o, struct healths *out, int64_t deadline)
{
	struct healths got = {0};
	struct map ours = {0};
	int rc = map_instances(&ours, o->instances) < 0 ? err_nomem(&o->health_why) : 0;

	for (size_t i = 0; i < o->n_calls && rc == 0; i++) {
		if (!o->cloud_unread[i] && any_machine(o, i))
			rc = ask_health(w, o, &ours, i, &got, deadline);
	}
	map_clear(&ours);
	healths_clear(rc == 0 ? out : &got);
	if (rc == 0)
		*out = got;
	return rc == 0;
}
