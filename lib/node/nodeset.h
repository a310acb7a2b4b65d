/* nodeset.h - an ordered set of node names and its hostlist text, both ways, without libslurm (pure code uses it).
 *
 * Order of first appearance is kept, duplicates are dropped. Text: "a-[1-3,5],b-7"; leading zeros are kept as written.
 * Malformed text is refused as a whole: unbalanced bracket, reversed range, more than one bracket, empty part, more than
 * 65536 in one range.
 */
#ifndef SE_NODE_NODESET_H
#define SE_NODE_NODESET_H

#include <stdbool.h>
#include <stddef.h>

struct err;

struct nodeset; /* opaque: list plus hash */

struct nodeset *nodeset_create(void);
void nodeset_destroy(struct nodeset *s); /* takes NULL */
/* 1 added, 0 was there, -1 no memory. */
int nodeset_add(struct nodeset *s, const char *name);
bool nodeset_has(const struct nodeset *s, const char *name);
/* Position in order of first appearance, or SIZE_MAX. */
size_t nodeset_index(const struct nodeset *s, const char *name);
size_t nodeset_count(const struct nodeset *s);
const char *nodeset_get(const struct nodeset *s, size_t i); /* borrowed until destroy; NULL past the end */
/* Add all names of a hostlist text ("" adds none). On error nothing is added. */
int nodeset_parse(struct nodeset *s, const char *text, struct err *e);
/* Compact text, order kept: neighbours of one prefix and rising numbers are joined. Caller frees; NULL on no memory. */
char *nodeset_text(const struct nodeset *s);
/* The same for a plain array. */
char *nodeset_text_of(const char *const *names, size_t n);

#endif
