/* page.h - MaxResults, NextToken and Filter.N, the same for every Describe action. */
#ifndef EC2LOCAL_PAGE_H
#define EC2LOCAL_PAGE_H

#include "lib/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct call;

/* A page of a list whose members carry a growing sequence number. */
struct page {
	int64_t max;	/* most items in this answer */
	uint64_t after; /* begin behind this number; 0 = at the start */
	uint64_t last;	/* number of the last item shown */
	int64_t shown;
	bool more;
	int64_t number; /* of the answer: 1, 2, ... */
};

/* Read MaxResults (min..max) and NextToken. With ids in the call, MaxResults is refused: `ids` names that parameter, or NULL.
 */
int page_read(struct call *c, struct page *p, int64_t min, int64_t max, const char *ids);
/* Room for one more? Counts it and remembers its number; false = the page is full and there is more. */
bool page_take(struct page *p, uint64_t seq);
/* The token of the next page, caller frees; NULL if there is no more. */
char *page_token(const struct page *p);
/* <nextToken> if there is more. */
void page_end(const struct page *p, struct buf *out);

struct filter {
	const char *name;   /* "tag:KEY", "instance-state-name", ...; borrowed from the call */
	struct strs values; /* sorted when none of them is a pattern */
	bool pattern;	    /* some value has * or ? */
};

/* Zero-initialised = none, which matches everything. */
struct filters {
	struct filter *v;
	size_t n;
	size_t cap;
};

/* Read Filter.N; a name that is neither in `known` (NULL-terminated; NULL = tags only) nor tag:KEY or tag-key is refused. */
int filters_read(struct call *c, struct filters *f, const char *const *known);
void filters_free(struct filters *f);
/* Is the text among the filter's values? NULL text never is. */
bool filter_has(const struct filter *f, const char *text);
/* Decide tag:KEY and tag-key; *decided = false for any other name. */
bool filter_tags(const struct filter *f, const struct kvs *tags, bool *decided);

#endif
