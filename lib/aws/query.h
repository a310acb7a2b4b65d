/* query.h - parameters to a form body, as EC2's query protocol wants it. Pure; failures stick in the buffer. */
#ifndef SE_AWS_QUERY_H
#define SE_AWS_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct kvs;
struct strs;

/* Percent-encode all but A-Z a-z 0-9 - . _ ~ . */
void query_encode(struct buf *out, const void *bytes, size_t n);
/* "Action=<action>&Version=2016-11-15" */
void query_start(struct buf *out, const char *action);
/* "&<name>=<value>"; a NULL value adds nothing. The name is a printf format: indexes and prefixes. */
void query_str(struct buf *out, const char *value, const char *name, ...) __attribute__((format(printf, 3, 4)));
void query_i64(struct buf *out, int64_t value, const char *name, ...) __attribute__((format(printf, 3, 4)));
void query_bool(struct buf *out, bool value, const char *name, ...) __attribute__((format(printf, 3, 4)));
/* A price in the text form EC2 wants: "0.05", at most six decimals. */
void query_price(struct buf *out, double price, const char *name, ...) __attribute__((format(printf, 3, 4)));
void query_base64(struct buf *out, const char *value, const char *name, ...) __attribute__((format(printf, 3, 4)));
/* "<name>.1=...&<name>.2=..." */
void query_list(struct buf *out, const char *const *v, size_t n, const char *name, ...) __attribute__((format(printf, 4, 5)));
/* "<name>.1.Key=...&<name>.1.Value=..." */
void query_tags(struct buf *out, const struct kvs *tags, const char *name);
/* "<prefix>TagSpecification.<index>..." for one resource type; nothing for no tags. */
void query_tag_spec(struct buf *out, const struct kvs *tags, const char *prefix, int index, const char *resource_type);
/* "Filter.<index>.Name=...&Filter.<index>.Value.1=..." */
void query_filter(struct buf *out, int index, const char *name, const char *const *values, size_t n);
/* The whole number of parameter `name` in a body made here; 0 if it is not there. */
int64_t query_find_i64(const char *body, const char *name);

#endif
