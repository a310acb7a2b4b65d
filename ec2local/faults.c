/* SPDX-License-Identifier: GPL-2.0-or-later */
/* faults.c - what was asked for, kept until it is used up or reset. Decides nothing: api.c, run.c and describe.c ask. */
#include "ec2local/faults.h"
#include "ec2local/policy.h"
#include "lib/base/clock.h"
#include "lib/base/str.h"

#include <stdio.h>
#include <stdlib.h>

void bucket_set(struct bucket *b, double size, double refill_per_s)
{
	*b = (struct bucket){size, refill_per_s, size, clock_mono_ms()};
}

/* As the developer guide lists them for an account and region; calls it does not list fall under their kind. */
static void set_ec2_rates(struct action_state *a)
{
	static const struct {
		const char *action;
		double requests, refill, instances, instances_refill;
	} known[] = {
	    {"RunInstances", 5, 2, 1000, 2},
	    {"CreateFleet", 50, 5, 1000, 2},
	    {"TerminateInstances", 100, 5, 1000, 20},
	    {"CreateTags", 100, 10, 0, 0},
	    {"CreateLaunchTemplateVersion", 100, 5, 0, 0},
	};
	bool reads = str_prefix(a->name, "Describe") || str_prefix(a->name, "Get");

	bucket_set(&a->requests, reads ? 100 : 50, reads ? 20 : 5);
	if (str_prefix(a->name, "DescribeInstance") || str_eq(a->name, "DescribeSecurityGroups"))
		bucket_set(&a->unpaged, 50, 10);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (!str_eq(known[i].action, a->name))
			continue;
		bucket_set(&a->requests, known[i].requests, known[i].refill);
		bucket_set(&a->instances, known[i].instances, known[i].instances_refill);
	}
}

struct action_state *faults_action(struct faults *f, const char *name)
{
	struct action_state *a = index_get(&f->by_name, name);

	if (a)
		return a;
	a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->name = str_dup(name);
	if (!a->name || mem_grow(&f->actions, &f->cap_actions, f->n_actions + 1, sizeof(struct action_state *)) < 0 ||
	    index_put(&f->by_name, a->name, a) < 0) {
		free(a->name);
		free(a);
		return NULL;
	}
	f->actions[f->n_actions++] = a;
	if (f->ec2_rates)
		set_ec2_rates(a);
	return a;
}

static void set_text(char **slot, char *fresh)
{
	free(*slot);
	*slot = fresh;
}

int faults_set_capacity(struct faults *f, const char *type, const char *zone, const char *market, int64_t left,
			const char *code)
{
	struct capacity fresh = {str_dup(type), str_dup(zone), str_dup(market), left, str_dup(code)};

	if (!fresh.type || !fresh.zone || (market && !fresh.market) || (code && !fresh.code))
		goto error;
	for (size_t i = 0; i < f->n_capacity; i++) {
		struct capacity *c = &f->capacity[i];

		if (!str_eq(c->type, type) || !str_eq(c->zone, zone) || !str_eq(c->market, market))
			continue;
		c->left = left;
		set_text(&c->code, fresh.code);
		free(fresh.type);
		free(fresh.zone);
		free(fresh.market);
		return 0;
	}
	if (mem_grow(&f->capacity, &f->cap_capacity, f->n_capacity + 1, sizeof(*f->capacity)) < 0)
		goto error;
	f->capacity[f->n_capacity++] = fresh;
	return 0;
error:
	free(fresh.type);
	free(fresh.zone);
	free(fresh.market);
	free(fresh.code);
	return -1;
}

/* Does the rule speak of that market, or of that reservation? */
static bool of_market(const struct capacity *c, const char *market, const char *reservation)
{
	char reserved[160];

	if (!c->market)
		return !reservation;
	if (!reservation)
		return policy_glob(c->market, market);
	snprintf(reserved, sizeof(reserved), "reserved:%s", reservation);
	return policy_glob(c->market, reserved) || (str_eq(market, "capacity-block") && policy_glob(c->market, market));
}

struct capacity *faults_capacity(struct faults *f, const char *type, const char *zone, const char *market,
				 const char *reservation)
{
	for (size_t i = 0; i < f->n_capacity; i++) {
		if (policy_glob(f->capacity[i].type, type) && policy_glob(f->capacity[i].zone, zone) &&
		    of_market(&f->capacity[i], market, reservation))
			return &f->capacity[i];
	}
	return NULL;
}

int faults_set_spot_price(struct faults *f, const char *type, const char *zone, double price)
{
	struct spot_price fresh = {str_dup(type), str_dup(zone), price};

	for (size_t i = 0; i < f->n_prices; i++) {
		if (str_eq(f->prices[i].type, type) && str_eq(f->prices[i].zone, zone)) {
			f->prices[i].price = price;
			free(fresh.type);
			free(fresh.zone);
			return 0;
		}
	}
	if (!fresh.type || !fresh.zone || mem_grow(&f->prices, &f->cap_prices, f->n_prices + 1, sizeof(*f->prices)) < 0) {
		free(fresh.type);
		free(fresh.zone);
		return -1;
	}
	f->prices[f->n_prices++] = fresh;
	return 0;
}

double faults_spot_price(const struct faults *f, const char *type, const char *zone)
{
	for (size_t i = 0; i < f->n_prices; i++) {
		if (policy_glob(f->prices[i].type, type) && policy_glob(f->prices[i].zone, zone))
			return f->prices[i].price;
	}
	return 0;
}

bool bucket_take(struct bucket *b, double n, int64_t now_ms)
{
	if (b->size <= 0)
		return true;
	b->tokens += (double)(now_ms - b->at_ms) / 1000.0 * b->refill_per_s;
	b->at_ms = now_ms;
	if (b->tokens > b->size)
		b->tokens = b->size;
	if (b->tokens < n)
		return false;
	b->tokens -= n;
	return true;
}

void faults_ec2_rates(struct faults *f)
{
	f->ec2_rates = true;
	for (size_t i = 0; i < f->n_actions; i++)
		set_ec2_rates(f->actions[i]);
}

static void capacity_clear(struct faults *f)
{
	for (size_t i = 0; i < f->n_capacity; i++) {
		free(f->capacity[i].type);
		free(f->capacity[i].zone);
		free(f->capacity[i].market);
		free(f->capacity[i].code);
	}
	f->n_capacity = 0;
}

static void prices_clear(struct faults *f)
{
	for (size_t i = 0; i < f->n_prices; i++) {
		free(f->prices[i].type);
		free(f->prices[i].zone);
	}
	f->n_prices = 0;
}

void faults_reset(struct faults *f)
{
	capacity_clear(f);
	prices_clear(f);
	for (size_t i = 0; i < f->n_actions; i++) {
		struct action_state *a = f->actions[i];

		a->throttle = a->errors = a->delay_ms = 0;
		a->requests = a->unpaged = a->instances = (struct bucket){0};
		set_text(&a->code, NULL);
		set_text(&a->message, NULL);
	}
	f->ec2_rates = false;
	if (f->ec2_by_default)
		faults_ec2_rates(f);
	f->hide_ip = f->lost_answers = f->unseen_ms = f->unseen_most_ms = 0;
	f->address_delay_ms = f->skew_s = 0;
	f->quota_vcpus = f->quota[0] = f->quota[1] = f->quota[2] = -1;
	for (int i = 0; i < QUOTA_ROWS; i++)
		f->quota_row[i] = -1;
	f->fleet_empty = f->fleet_errors = f->hide_launch = 0;
	f->page_size = f->fail_page = f->fail_pages = 0;
	set_text(&f->fail_page_code, NULL);
	f->fleet_replay_empty = false;
	set_text(&f->fleet_code, NULL);
}

void faults_free(struct faults *f)
{
	faults_reset(f);
	free(f->capacity);
	free(f->prices);
	for (size_t i = 0; i < f->n_actions; i++) {
		free(f->actions[i]->name);
		free(f->actions[i]);
	}
	free(f->actions);
	index_free(&f->by_name);
	*f = (struct faults){0};
}
