/* jview.h - a thin view of json-c: read a member with its type checked, write a document, own nothing. */
#ifndef SE_BASE_JVIEW_H
#define SE_BASE_JVIEW_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct strs;

/* Parse a whole text; trailing garbage is an error naming the offset. Caller json_object_put()s. NULL on error. */
struct json_object *jview_parse(const char *text, size_t n, const char *what, struct err *e);
/* Members of an object: NULL/default when absent or null; -1 with e when present with another type. Borrowed. */
int jview_str(struct json_object *o, const char *key, const char **out, struct err *e);
int jview_i64(struct json_object *o, const char *key, int64_t *out, struct err *e); /* absent leaves *out alone */
int jview_double(struct json_object *o, const char *key, double *out, struct err *e); /* absent leaves *out alone */
int jview_bool(struct json_object *o, const char *key, bool *out, struct err *e);
int jview_array(struct json_object *o, const char *key, struct json_object **out, struct err *e);
int jview_member(struct json_object *o, const char *key, struct json_object **out, struct err *e);
int jview_strs(struct json_object *o, const char *key, struct strs *out, struct err *e); /* appends */
/* Add members; -1 on no memory. NULL strings are left out. jview_put_obj owns child, also on failure. */
int jview_put_str(struct json_object *o, const char *key, const char *val);
int jview_put_i64(struct json_object *o, const char *key, int64_t val);
int jview_put_double(struct json_object *o, const char *key, double val);
int jview_put_bool(struct json_object *o, const char *key, bool val);
int jview_put_obj(struct json_object *o, const char *key, struct json_object *child);
/* A new object at the end of a list; borrowed, NULL on no memory. */
struct json_object *jview_add_object(struct json_object *list);
int jview_put_strs(struct json_object *o, const char *key, const struct strs *val);

#endif
