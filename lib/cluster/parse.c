/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parse.c - cluster.yaml from memory to a cluster value: read by the schema, then judged across keys. Opens nothing. */
#include "lib/base/problem.h"
#include "lib/cluster/check.h"
#include "lib/cluster/cluster.h"
#include "lib/cluster/filled.h"
#include "lib/cluster/load.h"
#include "lib/cluster/reader.h"

struct cluster *cluster_parse(const char *path, const char *text, size_t n, cluster_getenv_fn get, void *arg,
			      struct problems *p)
{
	size_t errors = problems_count(p, PROBLEM_ERROR);
	struct cluster *c = cluster_create();

	if (c)
		c->file = str_dup(path);
	if (!c || !c->file) {
		p->nomem = true;
		cluster_destroy(c);
		return NULL;
	}
	reader_read(path, text, n, &schema_cluster, c, get, arg, false, p);
	check_cluster(c, p);
	if (problems_count(p, PROBLEM_ERROR) == errors) {
		c->text = filled_text(text, n, get, arg);
		if (c->text)
			return c;
		p->nomem = true;
	}
	cluster_destroy(c);
	return NULL;
}
