/* override.h - a site's own parameters in a launch request: a top-level member of theirs replaces ours whole, but what makes a
 * machine ours is put back. For the builders of lib/aws only. Pure; failures stick in the buffer. */
#ifndef SE_AWS_OVERRIDE_H
#define SE_AWS_OVERRIDE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct kvs;

/* overrides may be NULL everywhere. */
bool override_has(const struct kvs *overrides, const char *member);
/* The highest index of "<list>.<index>", 0 = none. */
size_t override_last(const struct kvs *overrides, const char *list);
/* Drop what the overrides replace and append them. */
void override_apply(struct buf *body, const struct kvs *overrides);
/* After that: our tags on each of n resource types, beside the overrides' own. */
void override_tags(struct buf *body, const struct kvs *overrides, const struct kvs *tags, const char *const *types, size_t n);

#endif
