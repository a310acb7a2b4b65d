/* describe.h - an instance as EC2's XML, and which instances a call is about. */
#ifndef EC2LOCAL_DESCRIBE_H
#define EC2LOCAL_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct call;
struct cloud;
struct filters;
struct instance;
struct page;

/* <item> of an instancesSet. hide_ip leaves the private address out, as EC2 does now and then just after a launch. */
void describe_instance(struct buf *b, const struct cloud *cloud, const struct instance *i, int64_t now_ms, bool hide_ip);

/* The instances to look at: those named, or all behind the page's start; borrowed, or in *own, which the caller frees. -1 = error
 * written. */
int describe_candidates(struct call *c, const struct filters *f, const struct page *page, struct instance ***own,
			struct instance ***v, size_t *n);
/* By all filters that an instance itself decides. */
bool describe_matches(const struct filters *f, const struct cloud *cloud, const struct instance *i);

#endif
