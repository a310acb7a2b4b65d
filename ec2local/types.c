/* SPDX-License-Identifier: GPL-2.0-or-later */
/* types.c - DescribeInstanceTypes: the facts of the file, turned into EC2's XML as they are. */
#include "ec2local/types.h"
#include "ec2local/cloud.h"
#include "ec2local/page.h"
#include "ec2local/xml.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/jview.h"

#include <stdlib.h>

#define TYPES_BYTES_MAX (64 * 1024 * 1024) /* all of AWS's types are 5 MB */

static const char *const describe_params[] = {"InstanceType.N", "Filter.N.Name", "Filter.N.Value.N",
					      "MaxResults",	"NextToken",	 NULL};

static struct json_object *dig(struct json_object *o, const char *a, const char *b)
{
	struct json_object *v = NULL;

	if (!json_object_object_get_ex(o, a, &v) || (b && !json_object_object_get_ex(v, b, &v)))
		return NULL;
	return v;
}

static const char *last_arch(struct json_object *facts)
{
	struct json_object *l = dig(facts, "ProcessorInfo", "SupportedArchitectures");
	size_t n = l && json_object_is_type(l, json_type_array) ? json_object_array_length(l) : 0;

	return n ? json_object_get_string(json_object_array_get_idx(l, n - 1)) : "x86_64";
}

static bool has_cluster(struct json_object *facts)
{
	struct json_object *l = dig(facts, "PlacementGroupInfo", "SupportedStrategies");

	for (size_t i = 0; l && i < json_object_array_length(l); i++) {
		if (str_eq(json_object_get_string(json_object_array_get_idx(l, i)), "cluster"))
			return true;
	}
	return false;
}

static int add(struct types *t, struct json_object *facts, struct err *e)
{
	struct type *x;

	if (mem_grow(&t->v, &t->cap, t->n + 1, sizeof(*t->v)) < 0)
		return err_nomem(e);
	x = &t->v[t->n];
	*x = (struct type){.facts = facts, .arch = last_arch(facts), .cluster_placement = has_cluster(facts)};
	if (jview_str(facts, "InstanceType", &x->name, e) < 0 || !x->name)
		return err_set(e, "entry %zu has no InstanceType", t->n + 1);
	x->vcpus = json_object_get_int(dig(facts, "VCpuInfo", "DefaultVCpus"));
	if (x->vcpus <= 0)
		return err_set(e, "%s has no VCpuInfo.DefaultVCpus", x->name);
	if (json_object_get_boolean(dig(facts, "NetworkInfo", "EfaSupported")))
		x->max_efa = json_object_get_int(dig(dig(facts, "NetworkInfo", "EfaInfo"), "MaximumEfaInterfaces", NULL));
	x->cards = json_object_get_int(dig(facts, "NetworkInfo", "MaximumNetworkCards"));
	t->n++;
	return 0;
}

int types_load(struct types *t, const char *path, struct err *e)
{
	struct json_object *list = NULL;
	struct buf text = {0};
	int rc = -1;

	if (file_read(path, TYPES_BYTES_MAX, &text, e) < 0)
		goto out;
	t->doc = jview_parse(buf_text(&text), text.n, path, e);
	if (!t->doc || jview_array(t->doc, "InstanceTypes", &list, e) < 0)
		goto out;
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		if (add(t, json_object_array_get_idx(list, i), e) < 0) {
			err_prefix(e, "%s", path);
			goto out;
		}
	}
	/* Only now: the array no longer moves. */
	for (size_t i = 0; i < t->n; i++) {
		if (index_put(&t->by_name, t->v[i].name, &t->v[i]) < 0) {
			err_nomem(e);
			goto out;
		}
	}
	rc = t->n ? 0 : err_set(e, "%s: no instance type in it", path);
out:
	buf_free(&text);
	return rc;
}

const struct type *types_find(const struct types *t, const char *name)
{
	return index_get(&t->by_name, name);
}

void types_free(struct types *t)
{
	json_object_put(t->doc);
	free(t->v);
	index_free(&t->by_name);
	*t = (struct types){0};
}

static bool matches(const struct filters *f, const struct type *t)
{
	for (size_t i = 0; i < f->n; i++) {
		if (!filter_has(&f->v[i], str_eq(f->v[i].name, "instance-type") ? t->name : t->arch))
			return false;
	}
	return true;
}

static int check_names(struct call *c, const struct strs *names)
{
	if (names->n > 100)
		return call_fail(c, 400, "InvalidParameterValue", "at most 100 instance types can be named in a call");
	for (size_t i = 0; i < names->n; i++) {
		if (!types_find(&c->cloud->types, names->v[i]))
			return call_fail(c, 400, "InvalidInstanceType",
					 "The following supplied instance types do not exist: [%.100s]", names->v[i]);
	}
	return 0;
}

static int describe(struct call *c)
{
	static const char *const known[] = {"instance-type", "processor-info.supported-architecture", NULL};
	const struct types *t = &c->cloud->types;
	struct filters f = {0};
	struct strs names = {0};
	struct page page;
	int rc = -1;

	if (page_read(c, &page, 5, 100, "InstanceType") < 0 || filters_read(c, &f, known) < 0 ||
	    params_list(&c->params, "InstanceType", &names) < 0 || check_names(c, &names) < 0 || call_dry_run(c) < 0)
		goto out;
	xml_open(&c->out, "instanceTypeSet");
	for (size_t i = page.after; i < t->n; i++) {
		if ((names.n && !strs_has(&names, t->v[i].name)) || !matches(&f, &t->v[i]))
			continue;
		if (!page_take(&page, i + 1))
			break;
		xml_open(&c->out, "item");
		xml_json(&c->out, t->v[i].facts);
		xml_close(&c->out, "item");
	}
	xml_close(&c->out, "instanceTypeSet");
	page_end(&page, &c->out);
	rc = 0;
out:
	filters_free(&f);
	strs_clear(&names);
	return rc;
}

const struct action types_actions[] = {
    {"DescribeInstanceTypes", describe, describe_params, false, NULL},
    {NULL, NULL, NULL, false, NULL},
};
