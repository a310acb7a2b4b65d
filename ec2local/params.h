/* params.h - the parameters of one query-protocol request: parsed from the form body, sorted, each key once.
 *
 * Names are EC2's: "Filter.1.Value.2". Lists count from 1 without a gap. Values are decoded.
 */
#ifndef EC2LOCAL_PARAMS_H
#define EC2LOCAL_PARAMS_H

#include "lib/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct param {
	char *key;
	char *val;
};

/* Zero-initialised = empty. */
struct params {
	struct param *v; /* sorted by key */
	size_t n;
	size_t cap;
};

/* Parse an application/x-www-form-urlencoded body. Refuses bad escapes, a key given twice, NUL bytes. */
int params_parse(struct params *p, const char *body, size_t n, struct err *e);
/* Append a pair; params_sort must follow the last one. -1 on no memory. */
int params_add(struct params *p, const char *key, const char *val);
void params_sort(struct params *p);
void params_clear(struct params *p);
/* Copy those below "prefix." with the prefix cut off ("LaunchTemplateData"); appends in order. -1 on no memory. */
int params_below(struct params *out, const struct params *p, const char *prefix);

const char *params_get(const struct params *p, const char *key); /* NULL if absent; borrowed */
const char *params_getf(const struct params *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Is there "key" or anything below "key."? */
bool params_has(const struct params *p, const char *key);
bool params_hasf(const struct params *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Values of prefix.1, prefix.2, ... appended. -1 on no memory. */
int params_list(const struct params *p, const char *prefix, struct strs *out);
/* Pairs prefix.N.Key / prefix.N.Value appended. -1 on no memory. */
int params_pairs(const struct params *p, const char *prefix, struct kvs *out);

/* Does the name fit a pattern with N for an index ("Filter.N.Value.N")? A pattern that ends in ".*" takes anything below. */
bool params_fits(const char *pattern, const char *name);
/* A list whose index k > 1 has no k-1 before it: its name, else NULL. */
const char *params_gap(const struct params *p);

#endif
