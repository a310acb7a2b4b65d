/* describe.h - an instance as EC2's XML. */
#ifndef EC2LOCAL_DESCRIBE_H
#define EC2LOCAL_DESCRIBE_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct cloud;
struct instance;

/* <item> of an instancesSet. hide_ip leaves the private address out, as EC2 does now and then just after a launch. */
void describe_instance(struct buf *b, const struct cloud *cloud, const struct instance *i, int64_t now_ms, bool hide_ip);

#endif
