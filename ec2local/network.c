/* SPDX-License-Identifier: GPL-2.0-or-later */
/* network.c - addresses, subnets and groups as records; network_describe.c answers for them. */
#include "ec2local/network.h"
#include "lib/base/err.h"
#include "lib/base/num.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX_MIN 16 /* EC2's own limits of a subnet */
#define PREFIX_MAX 28

int network_parse_ip(const char *text, uint32_t *ip)
{
	struct in_addr a;

	if (inet_pton(AF_INET, text, &a) != 1)
		return -1;
	*ip = ntohl(a.s_addr);
	return 0;
}

void network_ip_text(uint32_t ip, char out[INET_ADDRSTRLEN])
{
	struct in_addr a = {.s_addr = htonl(ip)};

	inet_ntop(AF_INET, &a, out, INET_ADDRSTRLEN);
}

static int parse_cidr(const char *text, uint32_t *base, int64_t *len, struct err *e)
{
	const char *slash = strchr(text, '/');
	char ip[INET_ADDRSTRLEN] = "";

	if (slash && slash - text < (ptrdiff_t)sizeof(ip))
		memcpy(ip, text, (size_t)(slash - text));
	if (!slash || network_parse_ip(ip, base) < 0 || num_i64(slash + 1, PREFIX_MIN, PREFIX_MAX, len, NULL) < 0 ||
	    *base & ((1u << (32 - *len)) - 1))
		return err_set(e, "\"%s\" is not a network such as 10.77.0.0/16 (prefix %d to %d)", text, PREFIX_MIN,
			       PREFIX_MAX);
	return 0;
}

static void mark(struct pool *p, uint32_t i)
{
	if (!(p->used[i / 8] & 1u << i % 8))
		p->n_free--;
	p->used[i / 8] |= (unsigned char)(1u << i % 8);
}

uint32_t pool_take(struct pool *p)
{
	if (!p->n_free)
		return 0;
	while (p->used[p->next / 8] & 1u << p->next % 8)
		p->next = (p->next + 1) % p->size;
	mark(p, p->next);
	return p->base + p->next;
}

void pool_give(struct pool *p, uint32_t ip)
{
	uint32_t i = ip - p->base;

	if (ip < p->base || i >= p->size || !(p->used[i / 8] & 1u << i % 8))
		return;
	p->used[i / 8] &= (unsigned char)~(1u << i % 8);
	p->n_free++;
	/* The lowest free address goes out first, so that addresses come back soon, and a client that trusts them is caught. */
	if (i < p->next)
		p->next = i;
}

static void pool_destroy(struct pool *p)
{
	if (p)
		free(p->used);
	free(p);
}

static struct pool *pool_create(uint32_t base, uint32_t size)
{
	struct pool *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	*p = (struct pool){.base = base, .size = size, .n_free = size, .used = calloc(size / 8 + 1, 1)};
	if (!p->used) {
		pool_destroy(p);
		return NULL;
	}
	for (uint32_t i = 0; i < 4; i++) /* AWS keeps the first four addresses and the last one */
		mark(p, i);
	mark(p, size - 1);
	return p;
}

static struct pool *pool_for(struct network *n, const char *cidr, struct err *e)
{
	uint32_t base;
	int64_t len;
	struct pool *p;

	if (parse_cidr(cidr, &base, &len, e) < 0)
		return NULL;
	for (size_t i = 0; i < n->n_pools; i++) {
		if (n->pools[i]->base == base && n->pools[i]->size == 1u << (32 - len))
			return n->pools[i];
	}
	p = pool_create(base, 1u << (32 - len));
	if (!p || mem_grow(&n->pools, &n->cap_pools, n->n_pools + 1, sizeof(struct pool *)) < 0) {
		pool_destroy(p);
		err_nomem(e);
		return NULL;
	}
	return n->pools[n->n_pools++] = p;
}

int network_init(struct network *n, const char *cidr, const char *region, struct err *e)
{
	uint32_t base;
	int64_t len;

	*n = (struct network){0};
	if (parse_cidr(cidr, &base, &len, e) < 0)
		return -1;
	n->prefix_len = (int)len;
	n->cidr = str_dup(cidr);
	n->region = str_dup(region);
	n->vpc_id = str_dup("vpc-0ec2000000000001a");
	if (!n->cidr || !n->region || !n->vpc_id)
		return err_nomem(e);
	return network_add_group(n, "sg-0ec2000000000001a:default:open", e);
}

int network_add_subnet(struct network *n, const char *spec, struct err *e)
{
	struct strs part = {0};
	struct subnet s = {0};
	int rc = -1;

	if (strs_split(&part, spec, ':') < 0)
		return err_nomem(e);
	if (part.n < 2 || part.n > 3 || !str_prefix(part.v[0], "subnet-")) {
		err_set(e, "\"%s\" is not subnet-ID:ZONE[:CIDR]", spec);
		goto out;
	}
	s = (struct subnet){
	    str_dup(part.v[0]), str_dup(part.v[1]), str_dup(part.n == 3 ? part.v[2] : n->cidr), NULL, {{0}, {0}}};
	if (!s.id || !s.zone || !s.cidr || mem_grow(&n->subnets, &n->cap_subnets, n->n_subnets + 1, sizeof(s)) < 0) {
		err_nomem(e);
		goto out;
	}
	s.pool = pool_for(n, s.cidr, e);
	if (!s.pool)
		goto out;
	n->subnets[n->n_subnets++] = s;
	s = (struct subnet){0};
	rc = 0;
out:
	free(s.id);
	free(s.zone);
	free(s.cidr);
	strs_clear(&part);
	return rc;
}

int network_add_group(struct network *n, const char *spec, struct err *e)
{
	struct strs part = {0};
	struct group g = {0};
	int rc = -1;

	if (strs_split(&part, spec, ':') < 0)
		return err_nomem(e);
	if (part.n != 3 || !str_prefix(part.v[0], "sg-") || (!str_eq(part.v[2], "open") && !str_eq(part.v[2], "closed"))) {
		err_set(e, "\"%s\" is not sg-ID:NAME:open or sg-ID:NAME:closed", spec);
		goto out;
	}
	g = (struct group){str_dup(part.v[0]), str_dup(part.v[1]), str_eq(part.v[2], "open"), {{0}, {0}}};
	if (!g.id || !g.name || mem_grow(&n->groups, &n->cap_groups, n->n_groups + 1, sizeof(g)) < 0) {
		free(g.id);
		free(g.name);
		err_nomem(e);
		goto out;
	}
	n->groups[n->n_groups++] = g;
	rc = 0;
out:
	strs_clear(&part);
	return rc;
}

void network_reserve(struct network *n, uint32_t ip)
{
	for (size_t i = 0; i < n->n_pools; i++) {
		struct pool *p = n->pools[i];

		if (ip >= p->base && ip - p->base < p->size)
			mark(p, ip - p->base);
	}
}

const struct subnet *network_subnet(const struct network *n, const char *id)
{
	for (size_t i = 0; i < n->n_subnets; i++) {
		if (str_eq(n->subnets[i].id, id))
			return &n->subnets[i];
	}
	return NULL;
}

const struct subnet *network_default_subnet(const struct network *n, const char *zone)
{
	for (size_t i = 0; i < n->n_subnets; i++) {
		if (!zone || str_eq(n->subnets[i].zone, zone))
			return &n->subnets[i];
	}
	return NULL;
}

const struct group *network_group(const struct network *n, const char *id)
{
	for (size_t i = 0; i < n->n_groups; i++) {
		if (str_eq(n->groups[i].id, id))
			return &n->groups[i];
	}
	return NULL;
}

const struct group *network_group_named(const struct network *n, const char *name)
{
	for (size_t i = 0; i < n->n_groups; i++) {
		if (str_eq(n->groups[i].name, name))
			return &n->groups[i];
	}
	return NULL;
}

struct kvs *network_tags(struct network *n, const char *id)
{
	for (size_t i = 0; i < n->n_subnets; i++) {
		if (str_eq(n->subnets[i].id, id))
			return &n->subnets[i].tags;
	}
	for (size_t i = 0; i < n->n_groups; i++) {
		if (str_eq(n->groups[i].id, id))
			return &n->groups[i].tags;
	}
	return NULL;
}

void network_free(struct network *n)
{
	for (size_t i = 0; i < n->n_pools; i++)
		pool_destroy(n->pools[i]);
	for (size_t i = 0; i < n->n_subnets; i++) {
		free(n->subnets[i].id);
		free(n->subnets[i].zone);
		free(n->subnets[i].cidr);
		kvs_clear(&n->subnets[i].tags);
	}
	for (size_t i = 0; i < n->n_groups; i++) {
		free(n->groups[i].id);
		free(n->groups[i].name);
		kvs_clear(&n->groups[i].tags);
	}
	free(n->pools);
	free(n->subnets);
	free(n->groups);
	free(n->cidr);
	free(n->vpc_id);
	free(n->region);
	*n = (struct network){0};
}
