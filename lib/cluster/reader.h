/* reader.h - a YAML text into a struct, driven by the tables of schema.h. Inside lib/cluster only. */
#ifndef SE_CLUSTER_READER_H
#define SE_CLUSTER_READER_H

#include "lib/cluster/load.h"
#include "lib/cluster/schema.h"

#include <stdbool.h>

struct problems;
struct place;

/* Read `text` as section `s` into `base`. get NULL: a "$" in a value is an ordinary character. empty_ok: an empty document is
 * an empty section. What is wrong becomes problems; a value in doubt is not stored. */
void reader_read(const char *file, const char *text, size_t n, const struct section *s, void *base, cluster_getenv_fn get,
		 void *arg, bool empty_ok, struct problems *p);

/* The place of a key that was given, but with a value that was refused. */
bool place_refused(struct place at);

#endif
