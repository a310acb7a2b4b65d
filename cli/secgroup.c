/* SPDX-License-Identifier: GPL-2.0-or-later */
/* secgroup.c - the rules that decide whether head and nodes can talk.
 *
 * Called by apply before a launch costs money. Reads ingress rules only: EC2 tracks connections, and whoever closed egress
 * knows it.
 */
#include "cli/secgroup.h"

#include "lib/base/num.h"

#include <arpa/inet.h>
#include <string.h>

static int cidr_parse(const char *text, uint32_t *net, int *bits)
{
	const char *slash = strchr(text, '/');
	size_t n = slash ? (size_t)(slash - text) : strlen(text);
	char address[INET_ADDRSTRLEN];
	struct in_addr in;
	int64_t len = 32;

	if (n >= sizeof(address))
		return -1;
	memcpy(address, text, n);
	address[n] = 0;
	if (inet_pton(AF_INET, address, &in) != 1 || (slash && num_i64(slash + 1, 0, 32, &len, NULL)))
		return -1;
	*net = ntohl(in.s_addr);
	*bits = (int)len;
	return 0;
}

bool cidr_contains(const char *outer, const char *inner)
{
	uint32_t a, b, mask;
	int bits_a, bits_b;

	if (cidr_parse(outer, &a, &bits_a) || cidr_parse(inner, &b, &bits_b) || bits_b < bits_a)
		return false;
	mask = bits_a ? ~(uint32_t)0 << (32 - bits_a) : 0;
	return (a & mask) == (b & mask);
}

const struct ec2_group *secgroup_find(const struct ec2_groups *all, const char *id)
{
	for (size_t i = 0; all && i < all->n; i++) {
		if (str_eq(all->v[i].id, id))
			return &all->v[i];
	}
	return NULL;
}

/* Protocol "-1" is everything; EC2 leaves the ports out then. */
static bool rule_covers(const struct ec2_rule *r, int port)
{
	bool any = str_eq(r->protocol, "-1");
	bool tcp = str_eq(r->protocol, "tcp") || str_eq(r->protocol, "6");

	if (any)
		return true;
	if (!tcp)
		return false;
	if (r->from_port < 0)
		return true;
	return port < 0 ? r->from_port <= 1 && r->to_port >= 65535 : r->from_port <= port && port <= r->to_port;
}

static bool rule_from(const struct ec2_rule *r, const struct strs *sources, const char *from)
{
	for (size_t i = 0; sources && i < sources->n; i++) {
		if (strs_has(&r->groups, sources->v[i]))
			return true;
	}
	for (size_t i = 0; from && i < r->cidrs.n; i++) {
		if (cidr_contains(r->cidrs.v[i], from))
			return true;
	}
	return false;
}

bool secgroup_admits(const struct ec2_groups *all, const struct strs *targets, const struct strs *sources, const char *from,
		     int port)
{
	for (size_t i = 0; i < targets->n; i++) {
		const struct ec2_group *g = secgroup_find(all, targets->v[i]);

		for (size_t j = 0; g && j < g->n_in; j++) {
			if (rule_covers(&g->in[j], port) && rule_from(&g->in[j], sources, from))
				return true;
		}
	}
	return false;
}
