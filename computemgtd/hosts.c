/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hosts.c - which nodes this machine must be able to name, and /etc/hosts with them. Called by peers.c. */
#include "computemgtd/hosts.h"

#include "lib/base/buf.h"
#include "lib/base/str.h"
#include "lib/node/node.h"
#include "lib/node/nodeset.h"

#include <arpa/inet.h>
#include <string.h>

#define BEGIN "# slurm-ec2: nodes of jobs that a restarted slurmctld took over\n"
#define END "# slurm-ec2: end\n"

static int choose_one(const char *id, const char *hostlist, const char *own, struct kvs *kept, struct nodeset *peers)
{
	struct nodeset *s = nodeset_create();
	int rc = s ? 0 : -1;

	/* a list that cannot be parsed is of another cluster's naming: not ours to name */
	if (s && nodeset_parse(s, hostlist, NULL) == 0 && nodeset_has(s, own) && nodeset_count(s) > 1) {
		rc = kvs_add(kept, id, hostlist);
		for (size_t i = 0; rc == 0 && i < nodeset_count(s); i++)
			rc = nodeset_add(peers, nodeset_get(s, i)) < 0 ? -1 : 0;
	}
	nodeset_destroy(s);
	return rc;
}

int hosts_choose(const struct kvs *jobs, const char *own, struct kvs *kept, struct nodeset *peers)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < jobs->key.n; i++)
		rc = choose_one(jobs->key.v[i], jobs->val.v[i], own, kept, peers);
	return rc;
}

bool hosts_settled(const struct nodes *l, const struct nodeset *names)
{
	size_t up = 0;

	for (size_t i = 0; i < l->n; i++)
		up += nodeset_has(names, l->v[i].name) && node_has_addr(&l->v[i]) && !(l->v[i].state & NS_POWERING_UP);
	return up == nodeset_count(names);
}

static bool is_address(const char *s)
{
	unsigned char b[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, s, b) == 1 || inet_pton(AF_INET6, s, b) == 1;
}

/* The text without our block. One that lost its end was cut by somebody: what follows is kept. */
static void add_rest(struct buf *b, const char *text)
{
	const char *begin = strstr(text, BEGIN), *end = begin ? strstr(begin, END) : NULL;

	buf_add(b, text, begin ? (size_t)(begin - text) : strlen(text));
	if (begin)
		buf_str(b, end ? end + strlen(END) : begin + strlen(BEGIN));
}

char *hosts_merge(const char *text, const struct nodes *l, const struct nodeset *names, const char *own)
{
	struct buf b = {0};
	bool any = false;

	add_rest(&b, text);
	if (b.n > 0 && buf_text(&b)[b.n - 1] != '\n')
		buf_char(&b, '\n');
	for (size_t i = 0; i < l->n; i++) {
		const struct node *n = &l->v[i];

		if (str_eq(n->name, own) || !nodeset_has(names, n->name) || !node_has_addr(n) || !is_address(n->addr))
			continue;
		buf_fmt(&b, "%s%s %s\n", any ? "" : BEGIN, n->addr, n->name);
		any = true;
	}
	if (any)
		buf_str(&b, END);
	return buf_take(&b);
}
