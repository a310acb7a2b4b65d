/* SPDX-License-Identifier: GPL-2.0-or-later */
/* instance.c - EC2 instances as values: the list, and the words of their state. It never calls EC2. */
#include "lib/node/instance.h"

#include "lib/base/str.h"

#include <stdlib.h>
#include <string.h>

struct instance *instances_add(struct instances *l)
{
	if (mem_grow(&l->v, &l->cap, l->n + 1, sizeof(*l->v)))
		return NULL;
	memset(&l->v[l->n], 0, sizeof(*l->v));
	return &l->v[l->n++];
}

static void instance_free(struct instance *i)
{
	for (size_t g = 0; g < i->groups.n; g++)
		free(i->groups.id[g]);
	free(i->groups.id);
	free(i->id);
	free(i->type);
	free(i->private_ip);
	free(i->private_dns);
	free(i->subnet_id);
	free(i->zone);
	free(i->lifecycle);
	free(i->client_token);
	free(i->cluster);
	free(i->cluster_name);
	free(i->launch);
	free(i->queue);
	free(i->resource);
	free(i->state_reason);
}

void instances_clear(struct instances *l)
{
	for (size_t i = 0; i < l->n; i++)
		instance_free(&l->v[i]);
	free(l->v);
	*l = (struct instances){ 0 };
}

const struct instance *instances_find(const struct instances *l, const char *id)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->v[i].id, id))
			return &l->v[i];
	return NULL;
}

static const char *const words[] = {
	[INSTANCE_UNKNOWN] = "unknown",
	[INSTANCE_PENDING] = "pending",
	[INSTANCE_RUNNING] = "running",
	[INSTANCE_STOPPING] = "stopping",
	[INSTANCE_STOPPED] = "stopped",
	[INSTANCE_SHUTTING_DOWN] = "shutting-down",
	[INSTANCE_TERMINATED] = "terminated",
};

enum instance_state instance_state_parse(const char *text)
{
	for (int s = INSTANCE_PENDING; text && s <= INSTANCE_TERMINATED; s++)
		if (!strcmp(text, words[s]))
			return (enum instance_state)s;
	return INSTANCE_UNKNOWN;
}

const char *instance_state_text(enum instance_state s)
{
	return s >= INSTANCE_UNKNOWN && s <= INSTANCE_TERMINATED ? words[s] : "unknown";
}

int instance_alive(enum instance_state s)
{
	return s >= INSTANCE_PENDING && s <= INSTANCE_STOPPED;
}

int instance_ended(enum instance_state s)
{
	return s == INSTANCE_SHUTTING_DOWN || s == INSTANCE_TERMINATED;
}
