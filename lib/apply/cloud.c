/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cloud.c - queues may burst to several regions or accounts; a machine is asked for, and ended, where it is. */
#include "lib/apply/cloud.h"

#include "lib/apply/apply.h"
#include "lib/aws/ec2.h"
#include "lib/base/err.h"
#include "lib/cluster/generation.h"
#include "lib/node/instance.h"
#include "lib/node/name.h"

#include <stdlib.h>

size_t cloud_count(const struct world *w)
{
	return w->n_clouds + 1;
}

size_t cloud_of_node(const struct world *w, const char *node)
{
	struct node_name at;
	size_t cloud;

	if (w->n_clouds == 0 || node_name_resolve_any(w->gen, node, &at) < 0)
		return 0;
	cloud = (size_t)w->gen->resources[at.resource].cloud;
	return cloud <= w->n_clouds ? cloud : 0;
}

int cloud_ids_add(struct cloud_ids *l, const char *id, size_t cloud)
{
	if (mem_grow(&l->cloud, &l->cap, l->id.n + 1, sizeof *l->cloud) < 0)
		return -1;
	l->cloud[l->id.n] = cloud;
	return strs_add(&l->id, id);
}

void cloud_ids_clear(struct cloud_ids *l)
{
	strs_clear(&l->id);
	free(l->cloud);
	*l = (struct cloud_ids){.cap = 0};
}

static int terminate_in(struct world *w, size_t cloud, const struct cloud_ids *l, const char **ids, int64_t deadline,
			struct err *e)
{
	size_t n = 0;

	for (size_t i = 0; i < l->id.n; i++) {
		if (l->cloud[i] == cloud)
			ids[n++] = l->id.v[i];
	}
	return n ? ec2_terminate_all(world_cloud_at(w, cloud), ids, n, deadline, e) : 0;
}

int cloud_terminate(struct world *w, const struct cloud_ids *l, int64_t deadline, struct err *e)
{
	const char **ids = calloc(l->id.n ? l->id.n : 1, sizeof *ids);
	struct err more;
	int rc = 0;

	if (!ids)
		return err_nomem(e);
	for (size_t i = 0; i < cloud_count(w); i++) {
		if (terminate_in(w, i, l, ids, deadline, rc < 0 ? &more : e) < 0)
			rc = -1;
	}
	free(ids);
	return rc;
}

/* Move what was read behind the rest: the call's own list is left empty. */
static int take(struct instances *out, const struct instances *read)
{
	for (size_t i = 0; i < read->n; i++) {
		struct instance *to = instances_add(out);

		if (!to)
			return -1;
		*to = read->v[i];
		read->v[i] = (struct instance){0};
	}
	return 0;
}

int cloud_describe(struct world *w, size_t cloud, const char *filter, const char *const *values, size_t n, int64_t deadline,
		   struct instances *out, struct err *e)
{
	struct ec2_call *c = ec2_describe_by(filter, values, n);
	int rc = c ? ec2_perform_one(world_cloud_at(w, cloud), c, deadline, e) : err_nomem(e);

	if (rc == 0 && take(out, ec2_describe_reply(c)) < 0)
		rc = err_nomem(e);
	ec2_call_destroy(c);
	return rc;
}
