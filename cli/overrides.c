/* SPDX-License-Identifier: GPL-2.0-or-later */
/* overrides.c - reads a file of launch overrides; opens nothing else. */
#include "build_config.h"

#include "cli/overrides.h"

#include "lib/aws/ec2.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/jview.h"
#include "lib/base/problem.h"

#define LARGEST (1u << 20)

static void fault(struct problems *p, const char *path, const char *key, const char *text)
{
	problems_add(p, PROBLEM_ERROR, path, 0, 0, key, "%s", text);
}

static void walk(struct json_object *root, const char *path, struct problems *p, overrides_each_fn *each, void *arg)
{
	json_object_object_foreach(root, queue, resources)
	{
		if (!json_object_is_type(resources, json_type_object)) {
			fault(p, path, queue, "an object of compute resources is expected");
			continue;
		}
		json_object_object_foreach(resources, resource, members)
			each(arg, queue, resource, members);
	}
}

void overrides_read(const char *path, const char *key, struct problems *p, overrides_each_fn *each, void *arg)
{
	struct json_object *root = NULL;
	struct buf b = { 0 };
	struct err e;

	if (file_read(path, LARGEST, &b, &e) || !(root = jview_parse(buf_text(&b), b.n, path, &e)))
		fault(p, NULL, key, e.text);
	else if (!json_object_is_type(root, json_type_object))
		fault(p, path, NULL, "an object of queues is expected");
	else
		walk(root, path, p, each, arg);
	json_object_put(root);
	buf_free(&b);
}

/* One member, so that each that is wrong is told. */
static int take_one(const char *action, const char *name, struct json_object *value, struct kvs *out, struct err *e)
{
	struct json_object *one = json_object_new_object();
	int rc = one && jview_put_obj(one, name, json_object_get(value)) == 0 ? ec2_overrides(action, one, out, e) : err_nomem(e);

	json_object_put(one);
	return rc;
}

void overrides_take(const char *path, const char *action, const char *queue, const char *resource, struct json_object *members,
		    struct kvs *out, struct problems *p)
{
	struct err e;

	if (!json_object_is_type(members, json_type_object)) {
		problems_add(p, PROBLEM_ERROR, path, 0, 0, NULL, "%s.%s: an object of %s's members is expected", queue, resource,
			     action);
		return;
	}
	json_object_object_foreach(members, name, value)
	{
		if (take_one(action, name, value, out, &e))
			problems_add(p, PROBLEM_ERROR, path, 0, 0, NULL, "%s.%s: %s", queue, resource, e.text);
	}
}
