/* SPDX-License-Identifier: GPL-2.0-or-later */
/* instances.c - the store of instances and their life: pending, running, shutting-down, terminated, forgotten. Changes by time
 * wait in a heap, so that ten thousand of them cost nothing until they are due.
 */
#include "ec2local/instances.h"
#include "ec2local/cloud.h"
#include "ec2local/machine.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *instance_state_name(enum instance_code s)
{
	switch (s) {
	case PENDING:
		return "pending";
	case RUNNING:
		return "running";
	case SHUTTING_DOWN:
		return "shutting-down";
	case TERMINATED:
		return "terminated";
	case STOPPING:
		return "stopping";
	case STOPPED:
		return "stopped";
	}
	return "unknown";
}

void instance_hostname(const struct instance *i, char out[32])
{
	snprintf(out, 32, "ip-%u-%u-%u-%u", i->ip >> 24, i->ip >> 16 & 255, i->ip >> 8 & 255, i->ip & 255);
}

char *instance_console(const struct instances *l, const struct instance *i)
{
	return l->boot.run_dir ? str_fmt("%s/%s.console", l->boot.run_dir, i->id) : NULL;
}

bool instance_seen(const struct cloud *cloud, const struct instance *i, int64_t now_ms)
{
	const struct faults *f = &cloud->faults;
	int64_t wait = f->unseen_ms + (int64_t)(i->luck * (double)(f->unseen_most_ms - f->unseen_ms));

	return i->head || now_ms - i->launched_ms >= wait;
}

struct instance *instances_find(const struct instances *l, const char *id)
{
	return index_get(&l->by_id, id);
}

struct instance *instances_by_ip(const struct instances *l, const char *ip)
{
	return index_get(&l->by_ip, ip);
}

size_t instances_behind(const struct instances *l, uint64_t after)
{
	size_t lo = 0, hi = l->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->v[mid]->seq <= after)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* --- the heap of changes */

static void heap_swap(struct instances *l, size_t a, size_t b)
{
	struct change x = l->heap[a];

	l->heap[a] = l->heap[b];
	l->heap[b] = x;
}

static int heap_push(struct instances *l, struct instance *i, int64_t at_ms)
{
	size_t k = l->n_heap;

	if (mem_grow(&l->heap, &l->cap_heap, k + 1, sizeof(*l->heap)) < 0)
		return -1;
	l->heap[l->n_heap++] = (struct change){at_ms, i};
	i->in_heap++;
	for (; k && l->heap[(k - 1) / 2].at_ms > l->heap[k].at_ms; k = (k - 1) / 2)
		heap_swap(l, k, (k - 1) / 2);
	return 0;
}

static struct change heap_pop(struct instances *l)
{
	struct change top = l->heap[0];
	size_t k = 0;

	l->heap[0] = l->heap[--l->n_heap];
	for (;;) {
		size_t least = k;

		for (size_t c = 2 * k + 1; c <= 2 * k + 2 && c < l->n_heap; c++) {
			if (l->heap[c].at_ms < l->heap[least].at_ms)
				least = c;
		}
		if (least == k)
			break;
		heap_swap(l, k, least);
		k = least;
	}
	top.i->in_heap--;
	return top;
}

/* The next change of this instance comes then; one set before is void. */
static void change_at(struct instances *l, struct instance *i, int64_t at_ms)
{
	i->due_ms = at_ms;
	if (heap_push(l, i, at_ms) < 0)
		log_error("%s: out of memory, it stays %s", i->id, instance_state_name(i->state));
}

/* --- making and forgetting */

static void destroy(struct instance *i)
{
	if (!i)
		return;
	launch_unref(i->launch);
	kvs_clear(&i->tags);
	free(i->addresses);
	free(i->instance_check.status);
	free(i->system_check.status);
	for (size_t k = 0; k < i->n_events; k++) {
		free(i->events[k].code);
		free(i->events[k].text);
	}
	free(i->events);
	free(i);
}

void instances_free(struct instances *l)
{
	for (size_t i = 0; i < l->n; i++) {
		machine_stop(l->v[i]->pid);
		destroy(l->v[i]);
	}
	run_tokens_free(l);
	free(l->v);
	free(l->heap);
	index_free(&l->by_id);
	index_free(&l->by_ip);
	index_free(&l->by_token);
	*l = (struct instances){0};
}

static void say(struct cloud *cloud, const struct instance *i)
{
	char at[25];

	if (!cloud->state_log)
		return;
	clock_iso(clock_wall_ms(), at);
	fprintf(cloud->state_log, "%s %s %s %s\n", at, i->id, instance_state_name(i->state),
		i->reason_code ? i->reason_code : "-");
	fflush(cloud->state_log);
}

static void give_back(struct instance *i)
{
	for (size_t k = 0; i->addresses && k < i->launch->n_nics; k++) {
		if (i->addresses[k].ip)
			pool_give(i->launch->nics[k].subnet->pool, i->addresses[k].ip);
		i->addresses[k].ip = 0;
	}
	i->ip = 0;
}

/* A locally administered MAC of its own for each, so that a stale ARP entry never reaches the next owner of an address. */
static void set_mac(struct address *a)
{
	char h[9];

	rand_hex(h, 8);
	snprintf(a->mac, sizeof(a->mac), "0a:ec:%.2s:%.2s:%.2s:%.2s", h, h + 2, h + 4, h + 6);
}

/* Addresses for every interface; false = a subnet has none left. */
static bool take_addresses(struct instance *i)
{
	for (size_t k = 0; k < i->launch->n_nics; k++) {
		const struct nic *n = &i->launch->nics[k];
		struct address *a = &i->addresses[k];
		bool wants = !str_eq(n->type, "efa-only");

		if (wants && !(a->ip = pool_take(n->subnet->pool)))
			return false;
		cloud_new_id(a->eni, "eni-");
		set_mac(a);
		if (n->device == 0 && n->card == 0)
			i->ip = a->ip;
	}
	return true;
}

static int store(struct instances *l, struct instance *i)
{
	network_ip_text(i->ip, i->ip_key);
	if (mem_grow(&l->v, &l->cap, l->n + 1, sizeof(struct instance *)) < 0 || index_put(&l->by_id, i->id, i) < 0)
		return -1;
	if (index_put(&l->by_ip, i->ip_key, i) < 0) {
		index_del(&l->by_id, i->id);
		return -1;
	}
	i->seq = ++l->last_seq;
	l->v[l->n++] = i;
	return 0;
}

static struct instance *create(struct launch *launch, int index, int64_t now_ms)
{
	struct instance *i = calloc(1, sizeof(*i));

	if (!i)
		return NULL;
	cloud_new_id(i->id, "i-");
	i->launch = launch;
	launch->refs++;
	i->index = index;
	i->launched_ms = now_ms;
	i->luck = rand_unit();
	i->addresses = calloc(launch->n_nics, sizeof(*i->addresses));
	for (size_t k = 0; i->addresses && k < launch->tags.key.n; k++) {
		if (kvs_add(&i->tags, launch->tags.key.v[k], launch->tags.val.v[k]) < 0)
			goto error;
	}
	if (i->addresses)
		return i;
error:
	destroy(i);
	return NULL;
}

static void count(struct cloud *cloud, const struct instance *i, int by)
{
	struct placement *p = i->launch->placement ? placements_find(&cloud->placements, i->launch->placement) : NULL;

	cloud->instances.vcpus[i->launch->market] += (int64_t)by * i->launch->type->vcpus;
	if (i->launch->quota_row >= 0)
		cloud->instances.quota_vcpus[i->launch->quota_row] += (int64_t)by * i->launch->type->vcpus;
	if (i->launch->from)
		i->launch->from->used += by;
	if (p)
		p->in_use += by;
}

struct instance *instances_launch(struct cloud *cloud, struct launch *launch, int index, int64_t now_ms, bool *no_address)
{
	struct instance *i = create(launch, index, now_ms);

	*no_address = i && !take_addresses(i);
	if (!i || *no_address || store(&cloud->instances, i) < 0) {
		if (i)
			give_back(i);
		destroy(i);
		return NULL;
	}
	i->state = PENDING;
	count(cloud, i, 1);
	say(cloud, i);
	change_at(&cloud->instances, i, now_ms + cloud->instances.delay_running_ms);
	return i;
}

static int add_head(struct cloud *cloud, const struct kvs *kv, int64_t now_ms, struct err *e)
{
	const char *ip = kvs_get(kv, "ip"), *id = kvs_get(kv, "id"), *type = kvs_get(kv, "type"),
		   *subnet = kvs_get(kv, "subnet");
	struct launch *l = NULL;
	struct instance *i = NULL;
	uint32_t address;

	if (!ip || network_parse_ip(ip, &address) < 0 || !id || !str_prefix(id, "i-") || strlen(id) >= ID_BYTES)
		return err_set(e, "the head needs ip=ADDRESS and id=i-...");
	l = launch_plain(cloud, type ? type : "t3.medium",
			 subnet ? network_subnet(&cloud->network, subnet) : network_default_subnet(&cloud->network, NULL),
			 kvs_get(kv, "profile"));
	if (!l)
		return err_set(e, "the head's type or subnet is unknown (give --subnet first)");
	i = create(l, 0, now_ms);
	launch_unref(l);
	if (!i)
		return err_nomem(e);
	strcpy(i->id, id);
	i->head = true;
	i->state = RUNNING;
	i->running_ms = now_ms;
	i->ip = i->addresses[0].ip = address;
	cloud_new_id(i->addresses[0].eni, "eni-");
	set_mac(&i->addresses[0]);
	network_reserve(&cloud->network, address);
	if (store(&cloud->instances, i) < 0) {
		destroy(i);
		return err_nomem(e);
	}
	count(cloud, i, 1);
	return 0;
}

int instances_add_head(struct cloud *cloud, const char *spec, int64_t now_ms, struct err *e)
{
	static const char *const known[] = {"ip", "id", "type", "subnet", "profile"};
	struct strs part = {0};
	struct kvs kv = {0};
	int rc = strs_split(&part, spec, ',');

	for (size_t k = 0; rc == 0 && k < part.n; k++) {
		char *eq = strchr(part.v[k], '=');
		bool ok = false;

		if (eq)
			*eq = '\0';
		for (size_t j = 0; j < sizeof(known) / sizeof(*known); j++)
			ok = ok || str_eq(known[j], part.v[k]);
		if (!ok || !eq)
			rc = err_set(e, "\"%s\" is none of ip=, id=, type=, subnet=, profile=", part.v[k]);
		else if (kvs_add(&kv, part.v[k], eq + 1) < 0)
			rc = err_nomem(e);
	}
	if (rc == 0)
		rc = add_head(cloud, &kv, now_ms, e);
	strs_clear(&part);
	kvs_clear(&kv);
	return rc;
}

/* Drop those that are forgotten from the list, when it is worth the walk. */
static void pack(struct instances *l)
{
	size_t kept = 0;

	if (l->n_gone < 64 || l->n_gone < l->n / 4)
		return;
	for (size_t k = 0; k < l->n; k++) {
		if (l->v[k]->gone && !l->v[k]->in_heap)
			destroy(l->v[k]);
		else
			l->v[kept++] = l->v[k];
	}
	l->n_gone -= l->n - kept;
	l->n = kept;
}

/* --- life */

static void become_terminated(struct cloud *cloud, struct instance *i, int64_t now_ms)
{
	struct instances *l = &cloud->instances;

	i->state = TERMINATED;
	if (i->ended_ms == 0)
		i->ended_ms = now_ms;
	if (instances_by_ip(l, i->ip_key) == i)
		index_del(&l->by_ip, i->ip_key);
	give_back(i);
	count(cloud, i, -1);
	say(cloud, i);
	change_at(l, i, now_ms + SHOWN_AFTER_END_MS);
}

static void start_machine(struct cloud *cloud, struct instance *i, int64_t now_ms)
{
	const struct boot *b = &cloud->instances.boot;
	char *console = instance_console(&cloud->instances, i), host[32];
	struct err e = {""};

	instance_hostname(i, host);
	i->pid = console ? machine_start(&(struct machine_spec){.id = i->id,
								.hostname = host,
								.ip = i->ip_key,
								.prefix_len = cloud->network.prefix_len,
								.gateway = b->gateway,
								.mac = i->addresses[i->launch->primary].mac,
								.bridge = b->bridge,
								.console = console,
								.run_dir = b->run_dir,
								.image_args = b->image_args},
					 &e)
			 : err_nomem(&e);
	if (i->pid < 0) {
		i->pid = 0;
		log_error("%s: %s", i->id, e.text);
		instances_terminate(cloud, i, now_ms, "Server.InternalError", "Server.InternalError: Internal error on launch");
	}
	free(console);
}

static void become_running(struct cloud *cloud, struct instance *i, int64_t now_ms)
{
	i->state = RUNNING;
	i->running_ms = now_ms;
	i->due_ms = 0;
	say(cloud, i);
	if (i->interrupted)
		change_at(&cloud->instances, i, i->spot_action_ms);
	if (cloud->instances.boot.on)
		start_machine(cloud, i, now_ms);
}

void instances_terminate(struct cloud *cloud, struct instance *i, int64_t now_ms, const char *code, const char *text)
{
	if (i->state == SHUTTING_DOWN || i->state == TERMINATED)
		return;
	i->state = SHUTTING_DOWN;
	i->reason_code = code;
	i->reason_text = text;
	i->ended_ms = now_ms;
	say(cloud, i);
	machine_stop(i->pid);
	change_at(&cloud->instances, i, now_ms + cloud->instances.delay_terminated_ms);
}

bool instances_stop(struct cloud *cloud, struct instance *i, int64_t now_ms, const char *code, const char *text)
{
	if (i->state != PENDING && i->state != RUNNING)
		return false;
	i->state = STOPPING;
	i->reason_code = code;
	i->reason_text = text;
	i->interrupted = false;
	say(cloud, i);
	machine_stop(i->pid);
	change_at(&cloud->instances, i, now_ms + cloud->instances.delay_terminated_ms);
	return true;
}

bool instances_start(struct cloud *cloud, struct instance *i, int64_t now_ms)
{
	if (i->state != STOPPED)
		return false;
	i->state = PENDING;
	i->reason_code = i->reason_text = NULL;
	i->spot_action_ms = 0;
	say(cloud, i);
	change_at(&cloud->instances, i, now_ms + cloud->instances.delay_running_ms);
	return true;
}

static void take_back(struct cloud *cloud, struct instance *i, int64_t now_ms)
{
	if (i->spot_action && !str_eq(i->spot_action, "terminate"))
		instances_stop(cloud, i, now_ms, "Server.SpotInstanceShutdown",
			       "Server.SpotInstanceShutdown: Spot instance shutdown");
	else
		instances_terminate(cloud, i, now_ms, "Server.SpotInstanceTermination",
				    "Server.SpotInstanceTermination: Spot instance termination");
}

void instances_interrupt(struct cloud *cloud, struct instance *i, int64_t now_ms)
{
	i->interrupted = true;
	if (i->spot_action_ms <= now_ms)
		take_back(cloud, i, now_ms);
	else if (i->state == RUNNING)
		change_at(&cloud->instances, i, i->spot_action_ms);
}

static void become_stopped(struct cloud *cloud, struct instance *i)
{
	i->state = STOPPED;
	i->due_ms = 0;
	say(cloud, i);
}

void instances_reaped(struct cloud *cloud, pid_t pid, int64_t now_ms)
{
	struct instances *l = &cloud->instances;

	for (size_t k = l->n; k-- > 0;) {
		struct instance *i = l->v[k];

		if (i->pid != pid)
			continue;
		i->pid = 0;
		if (i->state == STOPPING)
			return;
		if (i->state == RUNNING && i->launch->stop_on_shutdown) {
			i->reason_code = "Client.InstanceInitiatedShutdown";
			i->reason_text = "Client.InstanceInitiatedShutdown: Instance initiated shutdown";
			become_stopped(cloud, i);
		} else {
			instances_terminate(cloud, i, now_ms, "Client.InstanceInitiatedShutdown",
					    "Client.InstanceInitiatedShutdown: Instance initiated shutdown");
		}
		return;
	}
}

static void forget(struct instances *l, struct instance *i)
{
	char *console = instance_console(l, i);

	i->gone = true;
	l->n_gone++;
	index_del(&l->by_id, i->id);
	if (console)
		remove(console);
	free(console);
}

static void change(struct cloud *cloud, struct instance *i, int64_t now_ms)
{
	struct instances *l = &cloud->instances;

	if (i->state == PENDING)
		become_running(cloud, i, now_ms);
	else if (i->state == RUNNING && i->interrupted)
		take_back(cloud, i, now_ms);
	else if ((i->state == SHUTTING_DOWN || i->state == STOPPING) && i->pid)
		change_at(l, i, now_ms + 20); /* its machine is not quite dead: look again */
	else if (i->state == STOPPING)
		become_stopped(cloud, i);
	else if (i->state == SHUTTING_DOWN)
		become_terminated(cloud, i, now_ms);
	else if (i->state == TERMINATED)
		forget(l, i);
}

int64_t instances_settle(struct cloud *cloud, int64_t now_ms)
{
	struct instances *l = &cloud->instances;

	while (l->n_heap && l->heap[0].at_ms <= now_ms) {
		struct change c = heap_pop(l);

		if (!c.i->gone && c.i->due_ms == c.at_ms)
			change(cloud, c.i, now_ms);
	}
	pack(l);
	return l->n_heap ? l->heap[0].at_ms - now_ms : -1;
}
