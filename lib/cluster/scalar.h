/* scalar.h - single values of a YAML document: variables filled in, type and rule judged, stored. Inside lib/cluster only. */
#ifndef SE_CLUSTER_SCALAR_H
#define SE_CLUSTER_SCALAR_H

#include "lib/base/str.h"
#include "lib/cluster/document.h"
#include "lib/cluster/load.h"
#include "lib/cluster/schema.h"

struct scalar_reader {
	struct document doc;
	cluster_getenv_fn get; /* NULL: no variables */
	void *arg;
};

/* Values that must differ, with their places. Zero-initialised = empty. */
struct unique {
	char *text, *path;
	struct place at;
};
struct uniques {
	struct unique *v;
	size_t n, cap;
};

/* Read one value and store it at base (NULL: judge only). -1: it was refused and a problem says so. */
int scalar_read(struct scalar_reader *s, const struct key *k, const yaml_node_t *val, const struct path *at, void *base);
/* The same for a list of values. */
void scalar_read_list(struct scalar_reader *s, const struct key *k, const yaml_node_t *list, const struct path *at, void *base);
/* One pair of a free mapping of `pairs` pairs into out (NULL: judge only). */
void scalar_read_pair(struct scalar_reader *s, const struct key *k, const struct pair *pair, size_t pairs,
		      const struct path *at, struct kvs *out);
/* False, with a problem, for an application tag such as !Ref. */
bool scalar_tag_ok(struct scalar_reader *s, const yaml_node_t *val, const struct path *at);

/* Take note of a value; name: key below `at`, NULL = `at` itself. */
void uniques_add(struct scalar_reader *s, struct uniques *u, const yaml_node_t *val, const struct path *at, const char *name);
/* A problem for each repeated one; leaves u empty. */
void uniques_judge(struct scalar_reader *s, struct uniques *u);

#endif
