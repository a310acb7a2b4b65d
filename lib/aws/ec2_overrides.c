/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ec2_overrides.c - a site's own members of a launch request, in the API's JSON form, to wire parameters. Called by apply.
 *
 * Refuses what EC2 does not know, and what makes a machine ours: token, counts, template, user data and our tags. Pure.
 */
#include "lib/aws/ec2.h"

#include "lib/aws/members.h"
#include "lib/base/err.h"
#include "lib/base/jview.h"

#include <string.h>

static int put_member(const struct member *m, struct json_object *v, const char *wire, const char *path, struct kvs *out,
		      struct err *e);

/* Paths as a person would write them: "NetworkInterfaces[0].Groups". */
static const struct {
	const char *path, *why;
} refused[] = {
	{"RunInstances.ClientToken", "slurm-ec2 knows its launches by it"},
	{"RunInstances.DryRun", "nothing would be launched"},
	{"RunInstances.MinCount", "it follows from the jobs"},
	{"RunInstances.MaxCount", "it follows from the jobs"},
	{"RunInstances.LaunchTemplate", "the template makes the machine a node of this cluster"},
	{"RunInstances.UserData", "it makes the machine a node of this cluster"},
	{"CreateFleet.ClientToken", "slurm-ec2 knows its launches by it"},
	{"CreateFleet.DryRun", "nothing would be launched"},
	{"CreateFleet.Type", "only an instant fleet answers with its machines"},
	{"CreateFleet.TargetCapacitySpecification.TotalTargetCapacity", "it follows from the jobs"},
	{"CreateFleet.LaunchTemplateConfigs[].LaunchTemplateSpecification", "the template makes the machine a node of this cluster"},
};

/* `path` with its indexes taken out. */
static bool is_path(const char *path, const char *pattern)
{
	for (; *pattern; path++, pattern++) {
		if (*path != *pattern)
			return false;
		if (*path == '[')
			path += strspn(path + 1, "0123456789");
	}
	return !*path;
}

static int check_path(const char *path, struct err *e)
{
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		if (is_path(path, refused[i].path))
			return err_set(e, "%s cannot be overridden: %s", path, refused[i].why);
	return 0;
}

static int put_members(const char *structure, size_t n_structure, struct json_object *o, const char *wire, const char *path,
		       struct kvs *out, struct err *e)
{
	if (!json_object_is_type(o, json_type_object))
		return err_set(e, "%s must be an object", path);
	json_object_object_foreach(o, name, child) {
		struct member m;
		char *sub = str_fmt("%s.%s", path, name), *sub_wire = NULL;
		int rc = -1;

		if (!sub)
			err_nomem(e);
		else if (!member_find(structure, n_structure, name, &m))
			err_set(e, "%s: EC2 knows no such member", sub);
		else if (!check_path(sub, e))
			rc = (sub_wire = str_fmt("%s%s%.*s", wire, *wire ? "." : "", (int)m.n_wire, m.wire)) ? 0 : err_nomem(e);
		if (!rc)
			rc = put_member(&m, child, sub_wire, sub, out, e);
		free(sub_wire);
		free(sub);
		if (rc)
			return -1;
	}
	return 0;
}

static bool is_tag_key(const char *path)
{
	const char *dot = strrchr(path, '.');

	return strstr(path, ".TagSpecifications[") && !strcmp(dot, ".Key");
}

static int put_plain(struct json_object *v, const char *wire, const char *path, struct kvs *out, struct err *e)
{
	enum json_type t = json_object_get_type(v);

	if (t == json_type_null || t == json_type_object || t == json_type_array)
		return err_set(e, "%s must be a text, a number, true or false", path);
	if (is_tag_key(path) && str_prefix(json_object_get_string(v), "slurm-ec2:"))
		return err_set(e, "%s: tags that begin with slurm-ec2: are ours", path);
	return kvs_add(out, wire, json_object_get_string(v)) ? err_nomem(e) : 0;
}

static int put_value(const struct member *m, struct json_object *v, const char *wire, const char *path, struct kvs *out,
		     struct err *e)
{
	return m->n_shape ? put_members(m->shape, m->n_shape, v, wire, path, out, e) : put_plain(v, wire, path, out, e);
}

static int put_list(const struct member *m, struct json_object *list, const char *wire, const char *path, struct kvs *out,
		    struct err *e)
{
	if (!json_object_is_type(list, json_type_array))
		return err_set(e, "%s must be a list", path);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		char *sub = str_fmt("%s[%zu]", path, i), *sub_wire = str_fmt("%s.%zu", wire, i + 1);
		int rc = sub && sub_wire ? put_value(m, json_object_array_get_idx(list, i), sub_wire, sub, out, e) : err_nomem(e);

		free(sub_wire);
		free(sub);
		if (rc)
			return -1;
	}
	return 0;
}

static int put_member(const struct member *m, struct json_object *v, const char *wire, const char *path, struct kvs *out,
		      struct err *e)
{
	return m->list ? put_list(m, v, wire, path, out, e) : put_value(m, v, wire, path, out, e);
}

int ec2_overrides(const char *action, struct json_object *members, struct kvs *out, struct err *e)
{
	struct kvs l = {{0}, {0}};

	if (put_members(action, strlen(action), members, "", action, &l, e)) {
		kvs_clear(&l);
		return -1;
	}
	for (size_t i = 0; i < l.key.n; i++)
		if (kvs_add(out, l.key.v[i], l.val.v[i])) {
			kvs_clear(&l);
			return err_nomem(e);
		}
	kvs_clear(&l);
	return 0;
}
