/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jview.c - a thin view of json-c. Used where JSON is read or written; strict, and it owns nothing but what it says. */
#include "lib/base/jview.h"

#include "lib/base/err.h"
#include "lib/base/str.h"

#include <limits.h>
#include <string.h>

#define DEPTH_MAX 64 /* deeper documents are nobody's of ours */

static size_t skip_blanks(const char *text, size_t from, size_t n)
{
	while (from < n && strchr(" \t\r\n", text[from]) && text[from])
		from++;
	return from;
}

/* Parse with tok; a bare number is complete only when something follows it, so a line end is offered when json-c wants more. */
static struct json_object *parse(struct json_tokener *tok, const char *text, size_t n, const char *what, struct err *e)
{
	struct json_object *o = json_tokener_parse_ex(tok, text, (int)n);
	enum json_tokener_error rc = json_tokener_get_error(tok);
	size_t end = (size_t)tok->char_offset;

	if (rc == json_tokener_continue) {
		end = n;
		o = json_tokener_parse_ex(tok, "\n", 1);
		rc = json_tokener_get_error(tok);
	}
	if (rc == json_tokener_continue) {
		err_set(e, "%s: the JSON text ends too early, at offset %zu", what, n);
		return NULL;
	}
	if (rc != json_tokener_success) {
		err_set(e, "%s: not JSON at offset %zu: %s", what, end, json_tokener_error_desc(rc));
		return NULL;
	}
	end = skip_blanks(text, end, n);
	if (end < n) {
		json_object_put(o);
		err_set(e, "%s: something follows the JSON text at offset %zu", what, end);
		return NULL;
	}
	if (!o)
		err_set(e, "%s: the JSON text is only null", what);
	return o;
}

struct json_object *jview_parse(const char *text, size_t n, const char *what, struct err *e)
{
	struct json_tokener *tok;
	struct json_object *o;

	if (n >= INT_MAX) {
		err_set(e, "%s: too long", what);
		return NULL;
	}
	tok = json_tokener_new_ex(DEPTH_MAX);
	if (!tok) {
		err_nomem(e);
		return NULL;
	}
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	o = parse(tok, text, n, what, e);
	json_tokener_free(tok);
	return o;
}

static const char *type_text(enum json_type t)
{
	switch (t) {
	case json_type_boolean:
		return "true or false";
	case json_type_double:
		return "a number";
	case json_type_int:
		return "a whole number";
	case json_type_object:
		return "an object";
	case json_type_array:
		return "a list";
	case json_type_string:
		return "a text";
	default:
		return "null";
	}
}

/* The member, NULL when absent or null. -1 with e when o is no object or the member has another type. */
static int typed(struct json_object *o, const char *key, enum json_type want, struct json_object **out, struct err *e)
{
	struct json_object *v = NULL;

	*out = NULL;
	if (!json_object_is_type(o, json_type_object))
		return err_set(e, "\"%s\" is sought in %s, not in an object", key, type_text(json_object_get_type(o)));
	if (!json_object_object_get_ex(o, key, &v) || !v)
		return 0;
	if (!json_object_is_type(v, want))
		return err_set(e, "\"%s\" must be %s, not %s", key, type_text(want), type_text(json_object_get_type(v)));
	*out = v;
	return 0;
}

int jview_str(struct json_object *o, const char *key, const char **out, struct err *e)
{
	struct json_object *v;

	*out = NULL;
	if (typed(o, key, json_type_string, &v, e))
		return -1;
	if (!v)
		return 0;
	if (strlen(json_object_get_string(v)) != (size_t)json_object_get_string_len(v))
		return err_set(e, "\"%s\" holds a NUL character", key);
	*out = json_object_get_string(v);
	return 0;
}

int jview_i64(struct json_object *o, const char *key, int64_t *out, struct err *e)
{
	struct json_object *v;

	if (typed(o, key, json_type_int, &v, e))
		return -1;
	if (v)
		*out = json_object_get_int64(v);
	return 0;
}

int jview_double(struct json_object *o, const char *key, double *out, struct err *e)
{
	struct json_object *v = NULL;

	if (!json_object_is_type(o, json_type_object))
		return err_set(e, "\"%s\" is sought in %s, not in an object", key, type_text(json_object_get_type(o)));
	if (!json_object_object_get_ex(o, key, &v) || !v)
		return 0;
	if (!json_object_is_type(v, json_type_double) && !json_object_is_type(v, json_type_int))
		return err_set(e, "\"%s\" must be a number, not %s", key, type_text(json_object_get_type(v)));
	*out = json_object_get_double(v);
	return 0;
}

int jview_bool(struct json_object *o, const char *key, bool *out, struct err *e)
{
	struct json_object *v;

	if (typed(o, key, json_type_boolean, &v, e))
		return -1;
	if (v)
		*out = json_object_get_boolean(v);
	return 0;
}

int jview_array(struct json_object *o, const char *key, struct json_object **out, struct err *e)
{
	return typed(o, key, json_type_array, out, e);
}

int jview_member(struct json_object *o, const char *key, struct json_object **out, struct err *e)
{
	return typed(o, key, json_type_object, out, e);
}

int jview_strs(struct json_object *o, const char *key, struct strs *out, struct err *e)
{
	struct json_object *list;
	struct strs copy = {0};

	if (jview_array(o, key, &list, e))
		return -1;
	for (size_t i = 0; list && i < (size_t)json_object_array_length(list); i++) {
		struct json_object *v = json_object_array_get_idx(list, i);

		if (!json_object_is_type(v, json_type_string)) {
			strs_clear(&copy);
			return err_set(e, "\"%s\" must hold only texts, entry %zu is %s", key, i + 1,
				       type_text(json_object_get_type(v)));
		}
		if (strs_add(&copy, json_object_get_string(v)))
			goto nomem;
	}
	for (size_t i = 0; i < copy.n; i++) {
		if (strs_add(out, copy.v[i]))
			goto nomem;
	}
	strs_clear(&copy);
	return 0;
nomem:
	strs_clear(&copy);
	return err_nomem(e);
}

int jview_put_obj(struct json_object *o, const char *key, struct json_object *child)
{
	if (!child)
		return -1;
	if (json_object_object_add(o, key, child)) {
		json_object_put(child);
		return -1;
	}
	return 0;
}

int jview_put_str(struct json_object *o, const char *key, const char *val)
{
	return val ? jview_put_obj(o, key, json_object_new_string(val)) : 0;
}

int jview_put_i64(struct json_object *o, const char *key, int64_t val)
{
	return jview_put_obj(o, key, json_object_new_int64(val));
}

int jview_put_double(struct json_object *o, const char *key, double val)
{
	return jview_put_obj(o, key, json_object_new_double(val));
}

int jview_put_bool(struct json_object *o, const char *key, bool val)
{
	return jview_put_obj(o, key, json_object_new_boolean(val));
}

struct json_object *jview_add_object(struct json_object *list)
{
	struct json_object *o = json_object_new_object();

	if (o && json_object_array_add(list, o)) {
		json_object_put(o);
		return NULL;
	}
	return o;
}

int jview_put_strs(struct json_object *o, const char *key, const struct strs *val)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; list && i < val->n; i++) {
		struct json_object *s = json_object_new_string(val->v[i]);

		if (!s || json_object_array_add(list, s)) {
			json_object_put(s);
			json_object_put(list);
			return -1;
		}
	}
	return jview_put_obj(o, key, list);
}
