/* SPDX-License-Identifier: GPL-2.0-or-later */
/* itype.c - instance facts as values and as the JSON of the AWS CLI, both ways.
 *
 * Members that are missing stay zero; a member with another type than EC2 gives is an error naming the instance type.
 * lib/aws fills the same values from EC2's own XML.
 */
#include "lib/node/itype.h"

#include "lib/base/err.h"
#include "lib/base/jview.h"
#include "lib/base/str.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct itype *itypes_add(struct itypes *l)
{
	if (mem_grow(&l->v, &l->cap, l->n + 1, sizeof(*l->v)))
		return NULL;
	memset(&l->v[l->n], 0, sizeof(*l->v));
	return &l->v[l->n++];
}

static void itype_free(struct itype *t)
{
	for (size_t i = 0; i < t->n_gpus; i++) {
		free(t->gpus[i].name);
		free(t->gpus[i].manufacturer);
	}
	free(t->gpus);
	free(t->cards);
	free(t->name);
	free(t->arch);
}

void itypes_clear(struct itypes *l)
{
	for (size_t i = 0; i < l->n; i++)
		itype_free(&l->v[i]);
	free(l->v);
	*l = (struct itypes){ 0 };
}

const struct itype *itypes_find(const struct itypes *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->v[i].name, name))
			return &l->v[i];
	return NULL;
}

struct network_card *itype_add_card(struct itype *t)
{
	struct network_card *v = realloc(t->cards, (t->n_cards + 1) * sizeof(*v));

	if (!v)
		return NULL;
	t->cards = v;
	v[t->n_cards] = (struct network_card){ 0 };
	return &v[t->n_cards++];
}

struct itype_gpu *itype_add_gpu(struct itype *t)
{
	struct itype_gpu *v = realloc(t->gpus, (t->n_gpus + 1) * sizeof(*v));

	if (!v)
		return NULL;
	t->gpus = v;
	v[t->n_gpus] = (struct itype_gpu){ 0 };
	return &v[t->n_gpus++];
}

/* --- from JSON */

static int get_int(struct json_object *o, const char *key, int *out, struct err *e)
{
	int64_t v = *out;

	if (jview_i64(o, key, &v, e))
		return -1;
	if (v < 0 || v > INT_MAX)
		return err_set(e, "%s is out of range", key);
	*out = (int)v;
	return 0;
}

static int get_copy(struct json_object *o, const char *key, char **out, struct err *e)
{
	const char *s;

	if (jview_str(o, key, &s, e))
		return -1;
	free(*out);
	*out = str_dup(s);
	return s && !*out ? err_nomem(e) : 0;
}

static int read_processor(struct itype *t, struct json_object *o, struct err *e)
{
	struct strs archs = { 0 };
	int rc;

	if (!o)
		return 0;
	rc = jview_strs(o, "SupportedArchitectures", &archs, e);
	/* t2 lists i386 first; Slurm and our images know only the 64-bit word */
	for (size_t i = 0; !rc && i < archs.n && !t->arch; i++)
		if (strcmp(archs.v[i], "i386") || archs.n == 1) {
			t->arch = str_dup(archs.v[i]);
			rc = t->arch ? 0 : err_nomem(e);
		}
	strs_clear(&archs);
	return rc;
}

static int read_vcpus(struct itype *t, struct json_object *o, struct err *e)
{
	struct json_object *valid;

	if (!o)
		return 0;
	if (get_int(o, "DefaultVCpus", &t->vcpus, e) || get_int(o, "DefaultCores", &t->cores, e) ||
	    get_int(o, "DefaultThreadsPerCore", &t->threads_per_core, e) || jview_array(o, "ValidThreadsPerCore", &valid, e))
		return -1;
	for (size_t i = 0; valid && i < json_object_array_length(valid); i++)
		if (json_object_get_int64(json_object_array_get_idx(valid, i)) == 1)
			t->one_thread_ok = true;
	return 0;
}

static int read_card(struct itype *t, struct json_object *o, struct err *e)
{
	struct network_card *c = itype_add_card(t);

	if (!c)
		return err_nomem(e);
	return get_int(o, "NetworkCardIndex", &c->index, e) || get_int(o, "MaximumNetworkInterfaces", &c->max_interfaces, e)
		   ? -1
		   : 0;
}

static int read_gpu(struct itype *t, struct json_object *o, struct err *e)
{
	struct itype_gpu *g = itype_add_gpu(t);
	struct json_object *memory;

	if (!g)
		return err_nomem(e);
	if (get_copy(o, "Name", &g->name, e) || get_copy(o, "Manufacturer", &g->manufacturer, e) ||
	    get_int(o, "Count", &g->count, e) || jview_member(o, "MemoryInfo", &memory, e))
		return -1;
	return memory ? jview_i64(memory, "SizeInMiB", &g->memory_mib, e) : 0;
}

/* Each element of an array of objects. */
static int read_each(struct itype *t, struct json_object *o, const char *key,
		     int (*read_one)(struct itype *, struct json_object *, struct err *), struct err *e)
{
	struct json_object *list, *one;

	if (!o)
		return 0;
	if (jview_array(o, key, &list, e))
		return -1;
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		one = json_object_array_get_idx(list, i);
		if (!json_object_is_type(one, json_type_object))
			return err_set(e, "%s[%zu] is not an object", key, i);
		if (read_one(t, one, e))
			return -1;
	}
	return 0;
}

static int read_network(struct itype *t, struct json_object *o, struct err *e)
{
	struct json_object *efa;

	if (!o)
		return 0;
	if (jview_bool(o, "EfaSupported", &t->efa, e) || jview_member(o, "EfaInfo", &efa, e))
		return -1;
	if (efa && get_int(efa, "MaximumEfaInterfaces", &t->max_efa, e))
		return -1;
	return read_each(t, o, "NetworkCards", read_card, e);
}

static int read_ebs(struct itype *t, struct json_object *o, struct err *e)
{
	const char *word = NULL;

	if (o && jview_str(o, "EbsOptimizedSupport", &word, e))
		return -1;
	t->ebs_optimized_ok = word && strcmp(word, "unsupported");
	return 0;
}

static int read_placement(struct itype *t, struct json_object *o, struct err *e)
{
	struct strs words = { 0 };
	int rc = o ? jview_strs(o, "SupportedStrategies", &words, e) : 0;

	t->cluster_placement_ok = strs_has(&words, "cluster");
	strs_clear(&words);
	return rc;
}

static int read_memory(struct itype *t, struct json_object *o, struct err *e)
{
	return o ? jview_i64(o, "SizeInMiB", &t->memory_mib, e) : 0;
}

static int read_gpus(struct itype *t, struct json_object *o, struct err *e)
{
	return read_each(t, o, "Gpus", read_gpu, e);
}

static const struct {
	const char *key;
	int (*read)(struct itype *t, struct json_object *o, struct err *e);
} sections[] = {
	{ "ProcessorInfo", read_processor },  { "VCpuInfo", read_vcpus }, { "MemoryInfo", read_memory },
	{ "NetworkInfo", read_network },      { "EbsInfo", read_ebs },    { "PlacementGroupInfo", read_placement },
	{ "GpuInfo", read_gpus },
};

static int read_type(struct itypes *l, const char *name, struct json_object *o, struct err *e)
{
	struct itype *t = itypes_add(l);
	struct json_object *section;

	if (!t)
		return err_nomem(e);
	if (get_copy(o, "InstanceType", &t->name, e))
		return -1;
	if (!t->name && !name)
		return err_set(e, "an element without InstanceType");
	if (!t->name && !(t->name = str_dup(name)))
		return err_nomem(e);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (jview_member(o, sections[i].key, &section, e) || sections[i].read(t, section, e))
			return err_prefix(e, "%s: %s", t->name, sections[i].key);
	return 0;
}

static int read_list(struct itypes *l, struct json_object *list, struct err *e)
{
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *o = json_object_array_get_idx(list, i);

		if (!json_object_is_type(o, json_type_object))
			return err_set(e, "InstanceTypes[%zu] is not an object", i);
		if (read_type(l, NULL, o, e))
			return -1;
	}
	return 0;
}

/* DevSettings.InstanceTypesData: {"<type>": {...}, ...} */
static int read_map(struct itypes *l, struct json_object *o, struct err *e)
{
	json_object_object_foreach(o, name, one)
	{
		if (!json_object_is_type(one, json_type_object))
			return err_set(e, "%s is not an object", name);
		if (read_type(l, name, one, e))
			return -1;
	}
	return 0;
}

int itypes_from_json(struct itypes *l, const char *text, size_t n, const char *what, struct err *e)
{
	struct json_object *o = jview_parse(text, n, what, e), *list = NULL;
	struct itypes got = { 0 };
	int rc = -1;

	if (!o)
		return -1;
	if (!json_object_is_type(o, json_type_object))
		err_set(e, "not a JSON object");
	else if (!jview_array(o, "InstanceTypes", &list, e))
		rc = list ? read_list(&got, list, e) : read_map(&got, o, e);
	for (size_t i = 0; !rc && i < got.n; i++) {
		struct itype *t = itypes_add(l);

		if (!t) {
			rc = err_nomem(e);
			break;
		}
		*t = got.v[i];
		got.v[i] = (struct itype){ 0 };
	}
	itypes_clear(&got);
	json_object_put(o);
	return rc ? err_prefix(e, "%s", what) : 0;
}

/* --- to JSON */

static struct json_object *put_section(struct json_object *o, const char *key)
{
	struct json_object *child = json_object_new_object();

	return child && !jview_put_obj(o, key, child) ? child : NULL;
}

static struct json_object *put_list(struct json_object *o, const char *key)
{
	struct json_object *child = json_object_new_array();

	return child && !jview_put_obj(o, key, child) ? child : NULL;
}

static int list_text(struct json_object *list, const char *text)
{
	struct json_object *o = text ? json_object_new_string(text) : NULL;

	if (!text)
		return 0;
	if (o && !json_object_array_add(list, o))
		return 0;
	json_object_put(o);
	return -1;
}

static int list_int(struct json_object *list, int v)
{
	struct json_object *o = json_object_new_int(v);

	if (o && !json_object_array_add(list, o))
		return 0;
	json_object_put(o);
	return -1;
}

static int write_cpu(struct json_object *o, const struct itype *t)
{
	struct json_object *p = put_section(o, "ProcessorInfo"), *v = put_section(o, "VCpuInfo"), *list;

	if (!p || !v || !(list = put_list(p, "SupportedArchitectures")) || list_text(list, t->arch))
		return -1;
	if (jview_put_i64(v, "DefaultVCpus", t->vcpus) || jview_put_i64(v, "DefaultCores", t->cores) ||
	    jview_put_i64(v, "DefaultThreadsPerCore", t->threads_per_core) || !(list = put_list(v, "ValidThreadsPerCore")))
		return -1;
	if (t->one_thread_ok && list_int(list, 1))
		return -1;
	return t->threads_per_core > 1 ? list_int(list, t->threads_per_core) : 0;
}

static int write_network(struct json_object *o, const struct itype *t)
{
	struct json_object *n = put_section(o, "NetworkInfo"), *efa, *list, *card;

	if (!n || jview_put_bool(n, "EfaSupported", t->efa) || !(list = put_list(n, "NetworkCards")))
		return -1;
	if (t->max_efa && (!(efa = put_section(n, "EfaInfo")) || jview_put_i64(efa, "MaximumEfaInterfaces", t->max_efa)))
		return -1;
	for (size_t i = 0; i < t->n_cards; i++) {
		card = jview_add_object(list);
		if (!card || jview_put_i64(card, "NetworkCardIndex", t->cards[i].index) ||
		    jview_put_i64(card, "MaximumNetworkInterfaces", t->cards[i].max_interfaces))
			return -1;
	}
	return 0;
}

static int write_gpus(struct json_object *o, const struct itype *t)
{
	struct json_object *info, *list, *gpu, *memory;

	if (!t->n_gpus)
		return 0;
	if (!(info = put_section(o, "GpuInfo")) || !(list = put_list(info, "Gpus")))
		return -1;
	for (size_t i = 0; i < t->n_gpus; i++) {
		gpu = jview_add_object(list);
		if (!gpu || jview_put_str(gpu, "Name", t->gpus[i].name) ||
		    jview_put_str(gpu, "Manufacturer", t->gpus[i].manufacturer) ||
		    jview_put_i64(gpu, "Count", t->gpus[i].count) || !(memory = put_section(gpu, "MemoryInfo")) ||
		    jview_put_i64(memory, "SizeInMiB", t->gpus[i].memory_mib))
			return -1;
	}
	return 0;
}

static int write_type(struct json_object *o, const struct itype *t)
{
	struct json_object *memory, *ebs, *placement, *list;

	if (jview_put_str(o, "InstanceType", t->name) || write_cpu(o, t) || write_network(o, t) || write_gpus(o, t))
		return -1;
	if (!(memory = put_section(o, "MemoryInfo")) || jview_put_i64(memory, "SizeInMiB", t->memory_mib))
		return -1;
	if (!(ebs = put_section(o, "EbsInfo")) ||
	    jview_put_str(ebs, "EbsOptimizedSupport", t->ebs_optimized_ok ? "supported" : "unsupported"))
		return -1;
	if (!(placement = put_section(o, "PlacementGroupInfo")) || !(list = put_list(placement, "SupportedStrategies")))
		return -1;
	return t->cluster_placement_ok ? list_text(list, "cluster") : 0;
}

char *itypes_to_json(const struct itypes *l)
{
	struct json_object *o = json_object_new_object(), *list = o ? put_list(o, "InstanceTypes") : NULL, *one;
	char *text = NULL;
	size_t i;

	for (i = 0; list && i < l->n; i++) {
		one = jview_add_object(list);
		if (!one || write_type(one, &l->v[i]))
			break;
	}
	if (list && i == l->n)
		text = str_dup(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
	return text;
}
