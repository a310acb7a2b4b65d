/* network.h - the one VPC: subnets with their addresses, security groups, zones. Addresses are given in order and again after
 * use, as EC2 does: an address alone never names a machine.
 */
#ifndef EC2LOCAL_NETWORK_H
#define EC2LOCAL_NETWORK_H

#include "ec2local/call.h"
#include "lib/base/str.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* Addresses of one CIDR; two subnets that name the same CIDR share them. */
struct pool {
	uint32_t base; /* host order */
	uint32_t size;
	uint32_t next;
	uint32_t n_free;
	int64_t held;	     /* promised while a fleet is planned */
	unsigned char *used; /* a bit each */
};

struct subnet {
	char *id;
	char *zone;
	char *cidr;
	struct pool *pool;
	struct kvs tags;
};

struct group {
	char *id;
	char *name;
	bool open; /* to itself */
	struct kvs tags;
};

struct network {
	char *cidr; /* of the VPC */
	int prefix_len;
	char *vpc_id;
	char *region;
	struct pool **pools;
	size_t n_pools, cap_pools;
	struct subnet *subnets;
	size_t n_subnets, cap_subnets;
	struct group *groups;
	size_t n_groups, cap_groups;
};

int network_init(struct network *n, const char *cidr, const char *region, struct err *e);
void network_free(struct network *n);
/* "id:zone[:cidr]" and "id:name:open|closed", as options give them. */
int network_add_subnet(struct network *n, const char *spec, struct err *e);
int network_add_group(struct network *n, const char *spec, struct err *e);
/* Never give this address (the head's). Outside every pool is fine. */
void network_reserve(struct network *n, uint32_t ip);
int network_parse_ip(const char *text, uint32_t *ip);
void network_ip_text(uint32_t ip, char out[INET_ADDRSTRLEN]);

const struct subnet *network_subnet(const struct network *n, const char *id);
/* The one a launch gets that names none: the first (of the zone, if given). NULL if there is none. */
const struct subnet *network_default_subnet(const struct network *n, const char *zone);
const struct group *network_group(const struct network *n, const char *id);
const struct group *network_group_named(const struct network *n, const char *name);
struct kvs *network_tags(struct network *n, const char *id); /* of a subnet or group; NULL if there is none */

/* The next free address, 0 when the pool is used up. */
uint32_t pool_take(struct pool *p);
void pool_give(struct pool *p, uint32_t ip);

extern const struct action network_actions[];

#endif
