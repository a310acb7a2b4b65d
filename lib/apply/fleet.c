/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet.c - what a launch row asks of EC2, as a call. Called by launch.c; sends nothing. */
#include "lib/apply/fleet.h"

#include "conf/bootstrap.h"
#include "lib/aws/ec2.h"
#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/cluster/generation.h"
#include "lib/node/binding.h"
#include "lib/node/instance.h"
#include "lib/node/offering.h"

#include <stdlib.h>
#include <string.h>

static struct ec2_call *run_call(const struct generation *g, const struct gen_resource *r, const struct launch *row,
				 const struct kvs *tags, struct err *e)
{
	char *user_data = bootstrap_launch(g->bootstrap, row->id, (const char *const *)row->nodes.v, row->nodes.n, e);
	struct ec2_run run = {
	    .template_id = r->template_id,
	    .template_version = r->template_version,
	    .min_count = row->min_count,
	    .max_count = (int)row->nodes.n,
	    .client_token = row->id,
	    .user_data = user_data,
	    .tags = tags,
	    .overrides = &r->overrides,
	};
	struct ec2_call *c;

	if (!user_data)
		return NULL;
	c = ec2_run_instances(&run);
	free(user_data);
	if (!c)
		err_nomem(e);
	return c;
}

static const char *capacity_word(enum capacity_type t)
{
	return t == CAPACITY_SPOT ? MARKET_SPOT : t == CAPACITY_BLOCK ? MARKET_BLOCK : MARKET_ONDEMAND;
}

/* The resource's strategy is meant for the market it names; a stage in another market has only what EC2 knows there. */
static const char *strategy_of(const struct gen_resource *r, const struct gen_stage *s)
{
	const char *word = r->allocation_strategy;

	if (s->capacity == r->capacity || !word)
		return word;
	if (s->capacity == CAPACITY_BLOCK)
		return NULL;
	if (s->capacity == CAPACITY_SPOT)
		return str_eq(word, "prioritized") ? "capacity-optimized-prioritized" : word;
	if (str_eq(word, "capacity-optimized-prioritized"))
		return "prioritized";
	return str_eq(word, "lowest-price") || str_eq(word, "prioritized") ? word : NULL;
}

/* Subnets whose zone we do not know count as zones of their own. */
static const char *place_of(const struct gen_stage *s, size_t subnet)
{
	return subnet < s->zones.n && *s->zones.v[subnet] ? s->zones.v[subnet] : s->subnet_ids.v[subnet];
}

static int fill_choice(struct ec2_fleet *f, const struct gen_stage *s, const struct resume_choice *c, const char *strategy,
		       struct ec2_fleet_choice *to, const struct resume_choice *first)
{
	if (c->type >= s->instance_types.n || c->subnet >= s->subnet_ids.n)
		return -1;
	*to = (struct ec2_fleet_choice){
	    .type = s->instance_types.v[c->type],
	    .subnet_id = s->subnet_ids.v[c->subnet],
	    .max_price = s->capacity == CAPACITY_SPOT ? s->max_price : 0,
	    .priority = strategy && strstr(strategy, "prioritized") ? (int)c->type : -1,
	};
	f->single_type = f->single_type && c->type == first->type;
	f->single_zone = f->single_zone && str_eq(place_of(s, c->subnet), place_of(s, first->subnet));
	return 0;
}

static int fill_choices(struct ec2_fleet *f, const struct gen_stage *s, const struct resume_choice *choices, size_t n,
			struct ec2_fleet_choice *to)
{
	f->single_type = f->single_zone = true;
	f->choices = to;
	f->n_choices = n;
	for (size_t i = 0; i < n; i++) {
		if (fill_choice(f, s, &choices[i], f->allocation_strategy, &to[i], &choices[0]) < 0)
			return -1;
	}
	return n ? 0 : -1;
}

static struct ec2_call *create_call(const struct gen_resource *r, const struct gen_stage *s, const struct launch *row,
				    const struct resume_choice *choices, size_t n, const struct kvs *tags, struct err *e)
{
	struct ec2_fleet f = {
	    .template_id = r->template_id,
	    .template_version = r->template_version,
	    .total = (int)row->nodes.n,
	    .capacity = capacity_word(s->capacity),
	    .allocation_strategy = strategy_of(r, s),
	    .reservations_first = s->capacity == CAPACITY_ONDEMAND,
	    .client_token = row->id,
	    .tags = tags,
	    .overrides = &r->overrides,
	};
	struct ec2_fleet_choice *to = calloc(n ? n : 1, sizeof *to);
	struct ec2_call *c = NULL;

	if (!to) {
		err_nomem(e);
	} else if (fill_choices(&f, s, choices, n, to) < 0) {
		err_set(e, "compute resource %s/%s was changed: its stage %d has no such type or subnet any more", r->queue, r->name,
			row->stage);
	} else {
		f.min_total = f.single_type || f.single_zone ? row->min_count : 0;
		c = ec2_create_fleet(&f);
		if (!c)
			err_nomem(e);
	}
	free(to);
	return c;
}

/* Types outside, subnets inside. */
static struct resume_choice *all_choices(const struct gen_stage *s, size_t *n)
{
	struct resume_choice *v = calloc(s->instance_types.n * s->subnet_ids.n + 1, sizeof *v);

	*n = 0;
	for (size_t t = 0; v && t < s->instance_types.n; t++) {
		for (size_t k = 0; k < s->subnet_ids.n; k++)
			v[(*n)++] = (struct resume_choice){t, k};
	}
	return v;
}

static struct ec2_call *fleet(const struct gen_resource *r, const struct launch *row, const struct resume_choice *choices,
			      size_t n, const struct kvs *tags, struct err *e)
{
	const struct gen_stage *s = row->stage >= 0 && (size_t)row->stage < r->n_stages ? &r->stages[row->stage] : NULL;
	struct resume_choice *all = NULL;
	struct ec2_call *c;

	if (!s) {
		err_set(e, "compute resource %s/%s was changed: it has no stage %d any more", r->queue, r->name, row->stage);
		return NULL;
	}
	if (n == 0) {
		all = all_choices(s, &n);
		if (!all) {
			err_nomem(e);
			return NULL;
		}
		choices = all;
	}
	c = create_call(r, s, row, choices, n, tags, e);
	free(all);
	return c;
}

struct ec2_call *fleet_call(const struct generation *g, const struct gen_resource *r, const struct launch *row,
			    const struct resume_choice *choices, size_t n, struct err *e)
{
	struct kvs tags = {{0}, {0}};
	struct ec2_call *c = NULL;

	if (kvs_add(&tags, TAG_LAUNCH, row->id) < 0)
		err_nomem(e);
	else if (r->single)
		c = run_call(g, r, row, &tags, e);
	else
		c = fleet(r, row, choices, n, &tags, e);
	kvs_clear(&tags);
	return c;
}
