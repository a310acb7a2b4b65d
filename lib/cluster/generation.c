/* SPDX-License-Identifier: GPL-2.0-or-later */
/* generation.c - the applied generation as JSON and as a folder on disk.
 *
 * `slurm-ec2 apply` writes it; resume, suspend and the daemons read it, often under an empty environment. A write is
 * prepared beside its final place and shown by two renames, so a reader sees the old generation or the new one, whole. It
 * never changes a file of Slurm's own folder.
 */
#include "lib/cluster/generation.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/jview.h"
#include "lib/base/num.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GENERATION_MAX (64u << 20) /* bytes of generation.json: 500 queues of 50 resources are about 10 MB */

static void resource_free(struct gen_resource *r)
{
	free(r->queue);
	free(r->name);
	strs_clear(&r->instance_types);
	strs_clear(&r->subnet_ids);
	free(r->template_id);
	free(r->template_hash);
	free(r->placement_group);
	free(r->allocation_strategy);
	free(r->reserved);
	free(r->reservation_id);
	kvs_clear(&r->overrides);
	for (size_t i = 0; i < r->n_stages; i++) {
		strs_clear(&r->stages[i].instance_types);
		strs_clear(&r->stages[i].subnet_ids);
		strs_clear(&r->stages[i].zones);
	}
	free(r->stages);
}

static void clouds_free(struct generation *g)
{
	for (size_t i = 0; i < g->n_clouds; i++) {
		free(g->clouds[i].region);
		free(g->clouds[i].profile);
		free(g->clouds[i].endpoint);
	}
	free(g->clouds);
}

void generation_destroy(struct generation *g)
{
	if (!g)
		return;
	free(g->uuid);
	free(g->cluster_name);
	free(g->region);
	free(g->slurm_version);
	free(g->head_address);
	free(g->munge_socket);
	free(g->slurm_user);
	free(g->bootstrap);
	kvs_clear(&g->slurm_merged);
	clouds_free(g);
	for (size_t i = 0; i < g->n_resources; i++)
		resource_free(&g->resources[i]);
	free(g->resources);
	free(g->by_name);
	free(g);
}

struct gen_resource *generation_add_resource(struct generation *g)
{
	struct gen_resource *v = realloc(g->resources, (g->n_resources + 1) * sizeof(*v));

	if (!v)
		return NULL;
	free(g->by_name);
	g->by_name = NULL;
	g->resources = v;
	v[g->n_resources] = (struct gen_resource){ 0 };
	return &v[g->n_resources++];
}

struct gen_stage *gen_resource_add_stage(struct gen_resource *r)
{
	struct gen_stage *v = realloc(r->stages, (r->n_stages + 1) * sizeof(*v));

	if (!v)
		return NULL;
	r->stages = v;
	v[r->n_stages] = (struct gen_stage){ 0 };
	return &v[r->n_stages++];
}

struct gen_cloud *generation_add_cloud(struct generation *g)
{
	struct gen_cloud *v = realloc(g->clouds, (g->n_clouds + 1) * sizeof(*v));

	if (!v)
		return NULL;
	g->clouds = v;
	v[g->n_clouds] = (struct gen_cloud){ 0 };
	return &v[g->n_clouds++];
}

/* --- lookup */

/* A bounded piece of text against a whole string, in strcmp's order. */
static int compare_part(const char *part, size_t n, const char *whole)
{
	int c = strncmp(part, whole, n);

	return c ? c : -(whole[n] != '\0');
}

static int compare_pair(const char *queue, size_t n_queue, const char *name, size_t n_name, const struct gen_resource *r)
{
	int c = compare_part(queue, n_queue, r->queue);

	return c ? c : compare_part(name, n_name, r->name);
}

static int compare_resources(const void *a, const void *b)
{
	const struct gen_resource *x = *(const struct gen_resource *const *)a, *y = *(const struct gen_resource *const *)b;
	int c = strcmp(x->queue, y->queue);

	return c ? c : strcmp(x->name, y->name);
}

int generation_index(struct generation *g)
{
	const struct gen_resource **v = calloc(g->n_resources + 1, sizeof(*v));

	if (!v)
		return -1;
	for (size_t i = 0; i < g->n_resources; i++)
		v[i] = &g->resources[i];
	qsort(v, g->n_resources, sizeof(*v), compare_resources);
	free(g->by_name);
	g->by_name = v;
	return 0;
}

static size_t find_indexed(const struct generation *g, const char *queue, size_t n_queue, const char *name, size_t n_name)
{
	size_t lo = 0, hi = g->n_resources, mid;
	int c;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		c = compare_pair(queue, n_queue, name, n_name, g->by_name[mid]);
		if (!c)
			return (size_t)(g->by_name[mid] - g->resources);
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return SIZE_MAX;
}

size_t generation_find_resource(const struct generation *g, const char *queue, size_t n_queue, const char *name, size_t n_name)
{
	if (g->by_name)
		return find_indexed(g, queue, n_queue, name, n_name);
	for (size_t i = 0; i < g->n_resources; i++)
		if (!compare_pair(queue, n_queue, name, n_name, &g->resources[i]))
			return i;
	return SIZE_MAX;
}

/* --- JSON: one table for each struct, walked both ways */

enum member_kind { TEXT, NUMBER, INT, BOOL, REAL, LIST, PAIRS, SCALING, CAPACITY };

struct member {
	const char *key;
	enum member_kind kind;
	size_t at;
	bool required;
};

#define G(key, kind, field, required) { key, kind, offsetof(struct generation, field), required }
static const struct member generation_members[] = {
	G("number", NUMBER, number, true),
	G("uuid", TEXT, uuid, true),
	G("cluster_name", TEXT, cluster_name, true),
	G("region", TEXT, region, true),
	G("slurm_version", TEXT, slurm_version, false),
	G("head_address", TEXT, head_address, false),
	G("slurmctld_port", INT, slurmctld_port, false),
	G("munge_socket", TEXT, munge_socket, false),
	G("slurm_user", TEXT, slurm_user, false),
	G("scaling", SCALING, scaling, false),
	G("resume_timeout_s", NUMBER, resume_timeout_s, false),
	G("suspend_timeout_s", NUMBER, suspend_timeout_s, false),
	G("bootstrap", TEXT, bootstrap, false),
	G("slurm_merged", PAIRS, slurm_merged, false),
};
#undef G

#define R(key, kind, field, required) { key, kind, offsetof(struct gen_resource, field), required }
static const struct member resource_members[] = {
	R("queue", TEXT, queue, true),
	R("name", TEXT, name, true),
	R("min_count", INT, min_count, true),
	R("max_count", INT, max_count, true),
	R("instance_types", LIST, instance_types, false),
	R("subnet_ids", LIST, subnet_ids, false),
	R("capacity", CAPACITY, capacity, false),
	R("template_id", TEXT, template_id, false),
	R("template_version", NUMBER, template_version, false),
	R("template_hash", TEXT, template_hash, false),
	R("placement_group", TEXT, placement_group, false),
	R("placement_managed", BOOL, placement_managed, false),
	R("single", BOOL, single, false),
	R("allocation_strategy", TEXT, allocation_strategy, false),
	R("reserved", TEXT, reserved, false),
	R("reservation_id", TEXT, reservation_id, false),
	R("overrides", PAIRS, overrides, false),
	R("cloud", NUMBER, cloud, false),
	R("cpus", INT, cpus, false),
	R("real_memory_mib", NUMBER, real_memory_mib, false),
};
#undef R

#define S(key, kind, field) { key, kind, offsetof(struct gen_stage, field), false }
static const struct member stage_members[] = {
	S("capacity", CAPACITY, capacity),
	S("instance_types", LIST, instance_types),
	S("subnet_ids", LIST, subnet_ids),
	S("zones", LIST, zones),
	S("max_price", REAL, max_price),
	S("time_limit_s", NUMBER, time_limit_s),
};
#undef S

#define C(key, field, required) { key, TEXT, offsetof(struct gen_cloud, field), required }
static const struct member cloud_members[] = {
	C("region", region, true),
	C("profile", profile, false),
	C("endpoint", endpoint, false),
};
#undef C

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static int put_pairs(struct json_object *o, const char *key, const struct kvs *pairs)
{
	struct json_object *m = json_object_new_object();

	if (!m || jview_put_obj(o, key, m))
		return -1;
	for (size_t i = 0; i < pairs->key.n; i++)
		if (jview_put_str(m, pairs->key.v[i], pairs->val.v[i]))
			return -1;
	return 0;
}

static int put_member(struct json_object *o, const struct member *m, const void *base)
{
	const void *p = (const char *)base + m->at;

	switch (m->kind) {
	case TEXT:
		return jview_put_str(o, m->key, *(char *const *)p);
	case NUMBER:
		return jview_put_i64(o, m->key, *(const int64_t *)p);
	case INT:
		return jview_put_i64(o, m->key, *(const int *)p);
	case BOOL:
		return jview_put_bool(o, m->key, *(const bool *)p);
	case REAL:
		return jview_put_double(o, m->key, *(const double *)p);
	case LIST:
		return jview_put_strs(o, m->key, p);
	case PAIRS:
		return put_pairs(o, m->key, p);
	case SCALING:
		return jview_put_str(o, m->key, scaling_strategy_text(*(const enum scaling_strategy *)p));
	case CAPACITY:
		return jview_put_str(o, m->key, capacity_type_text(*(const enum capacity_type *)p));
	}
	return -1;
}

static int put_members(struct json_object *o, const struct member *m, size_t n, const void *base)
{
	for (size_t i = 0; i < n; i++)
		if (put_member(o, &m[i], base))
			return -1;
	return 0;
}

static int put_stages(struct json_object *o, const struct gen_resource *r)
{
	struct json_object *list = json_object_new_array(), *one;

	if (!list || jview_put_obj(o, "stages", list))
		return -1;
	for (size_t i = 0; i < r->n_stages; i++) {
		one = jview_add_object(list);
		if (!one || put_members(one, stage_members, COUNT(stage_members), &r->stages[i]))
			return -1;
	}
	return 0;
}

static int put_resources(struct json_object *o, const struct generation *g)
{
	struct json_object *list = json_object_new_array(), *one;

	if (!list || jview_put_obj(o, "resources", list))
		return -1;
	for (size_t i = 0; i < g->n_resources; i++) {
		one = jview_add_object(list);
		if (!one || put_members(one, resource_members, COUNT(resource_members), &g->resources[i]) ||
		    put_stages(one, &g->resources[i]))
			return -1;
	}
	return 0;
}

static int put_clouds(struct json_object *o, const struct generation *g)
{
	struct json_object *list = json_object_new_array(), *one;

	if (!list || jview_put_obj(o, "clouds", list))
		return -1;
	for (size_t i = 0; i < g->n_clouds; i++) {
		one = jview_add_object(list);
		if (!one || put_members(one, cloud_members, COUNT(cloud_members), &g->clouds[i]))
			return -1;
	}
	return 0;
}

char *generation_to_json(const struct generation *g)
{
	struct json_object *o = json_object_new_object();
	char *text = NULL;

	if (o && !put_members(o, generation_members, COUNT(generation_members), g) && !put_clouds(o, g) &&
	    !put_resources(o, g))
		text = str_dup(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
	return text;
}

static int get_text(struct json_object *o, const struct member *m, char **out, struct err *e)
{
	const char *s;

	if (jview_str(o, m->key, &s, e))
		return -1;
	*out = str_dup(s);
	return s && !*out ? err_nomem(e) : 0;
}

static int get_int(struct json_object *o, const struct member *m, int *out, struct err *e)
{
	int64_t v = *out;

	if (jview_i64(o, m->key, &v, e))
		return -1;
	if (v < INT_MIN || v > INT_MAX)
		return err_set(e, "%s is out of range", m->key);
	*out = (int)v;
	return 0;
}

static int get_word(struct json_object *o, const struct member *m, void *out, struct err *e)
{
	const char *s;
	int rc;

	if (jview_str(o, m->key, &s, e))
		return -1;
	if (!s)
		return 0;
	rc = m->kind == SCALING ? scaling_strategy_parse(s, out) : capacity_type_parse(s, out);
	return rc ? err_set(e, "%s: unknown word \"%s\"", m->key, s) : 0;
}

static int get_pairs(struct json_object *o, const char *name, struct kvs *out, struct err *e)
{
	struct json_object *m;

	if (jview_member(o, name, &m, e))
		return -1;
	if (!m)
		return 0;
	json_object_object_foreach(m, key, val)
	{
		if (!json_object_is_type(val, json_type_string))
			return err_set(e, "%s: %s is not text", name, key);
		if (kvs_add(out, key, json_object_get_string(val)))
			return err_nomem(e);
	}
	return 0;
}

static int get_member(struct json_object *o, const struct member *m, void *base, struct err *e)
{
	void *p = (char *)base + m->at;

	if (m->required && !json_object_object_get_ex(o, m->key, NULL))
		return err_set(e, "%s is missing", m->key);
	switch (m->kind) {
	case TEXT:
		return get_text(o, m, p, e);
	case NUMBER:
		return jview_i64(o, m->key, p, e);
	case INT:
		return get_int(o, m, p, e);
	case BOOL:
		return jview_bool(o, m->key, p, e);
	case REAL:
		return jview_double(o, m->key, p, e);
	case LIST:
		return jview_strs(o, m->key, p, e);
	case PAIRS:
		return get_pairs(o, m->key, p, e);
	case SCALING:
	case CAPACITY:
		return get_word(o, m, p, e);
	}
	return -1;
}

static int get_members(struct json_object *o, const struct member *m, size_t n, void *base, struct err *e)
{
	for (size_t i = 0; i < n; i++)
		if (get_member(o, &m[i], base, e))
			return -1;
	return 0;
}

/* What an older version wrote has no stages: its one stage is the resource itself. */
static int only_stage(struct gen_resource *r, struct err *e)
{
	struct gen_stage *s = gen_resource_add_stage(r);

	if (!s)
		return err_nomem(e);
	s->capacity = r->capacity;
	if (strs_copy(&s->instance_types, &r->instance_types) || strs_copy(&s->subnet_ids, &r->subnet_ids))
		return err_nomem(e);
	for (size_t i = 0; i < s->subnet_ids.n; i++)
		if (strs_add(&s->zones, ""))
			return err_nomem(e);
	return 0;
}

static int get_stage(struct json_object *o, struct gen_stage *s, struct err *e)
{
	if (!s)
		return err_nomem(e);
	if (!json_object_is_type(o, json_type_object))
		return err_set(e, "not an object");
	if (get_members(o, stage_members, COUNT(stage_members), s, e))
		return -1;
	return s->zones.n == s->subnet_ids.n ? 0 : err_set(e, "subnet_ids and zones differ in length");
}

static int get_stages(struct json_object *o, struct gen_resource *r, struct err *e)
{
	struct json_object *list;

	if (jview_array(o, "stages", &list, e))
		return -1;
	for (size_t i = 0; list && i < json_object_array_length(list); i++)
		if (get_stage(json_object_array_get_idx(list, i), gen_resource_add_stage(r), e))
			return err_prefix(e, "stages[%zu]", i);
	return r->n_stages ? 0 : only_stage(r, e);
}

static int get_resource(struct json_object *o, struct gen_resource *r, struct err *e)
{
	if (!r)
		return err_nomem(e);
	if (!json_object_is_type(o, json_type_object))
		return err_set(e, "not an object");
	if (get_members(o, resource_members, COUNT(resource_members), r, e))
		return -1;
	if (!r->queue || !r->name || r->min_count < 0 || r->max_count < r->min_count)
		return err_set(e, "queue, name, min_count and max_count do not make a resource");
	return get_stages(o, r, e);
}

static int get_clouds(struct json_object *o, struct generation *g, struct err *e)
{
	struct json_object *list;

	if (jview_array(o, "clouds", &list, e))
		return -1;
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		struct json_object *one = json_object_array_get_idx(list, i);
		struct gen_cloud *c = generation_add_cloud(g);

		if (!c)
			return err_nomem(e);
		if (!json_object_is_type(one, json_type_object) || get_members(one, cloud_members, COUNT(cloud_members), c, e) ||
		    !c->region)
			return err_set(e, "clouds[%zu] is not an object with a region", i);
	}
	return 0;
}

static int get_resources(struct json_object *o, struct generation *g, struct err *e)
{
	struct json_object *list;

	if (jview_array(o, "resources", &list, e))
		return -1;
	for (size_t i = 0; list && i < json_object_array_length(list); i++)
		if (get_resource(json_object_array_get_idx(list, i), generation_add_resource(g), e))
			return err_prefix(e, "resources[%zu]", i);
	for (size_t i = 0; i < g->n_resources; i++)
		if (g->resources[i].cloud < 0 || (uint64_t)g->resources[i].cloud > g->n_clouds)
			return err_set(e, "resources[%zu]: there is no cloud %lld", i, (long long)g->resources[i].cloud);
	return generation_index(g) ? err_nomem(e) : 0;
}

static int get_generation(struct json_object *o, struct generation *g, struct err *e)
{
	if (!json_object_is_type(o, json_type_object))
		return err_set(e, "not a JSON object");
	if (get_members(o, generation_members, COUNT(generation_members), g, e) || get_clouds(o, g, e))
		return -1;
	if (!g->uuid || !g->cluster_name || !g->region)
		return err_set(e, "uuid, cluster_name and region may not be null");
	return get_resources(o, g, e);
}

struct generation *generation_from_json(const char *text, size_t n, struct err *e)
{
	struct json_object *o = jview_parse(text, n, "generation", e);
	struct generation *g = o ? calloc(1, sizeof(*g)) : NULL;
	int rc = -1;

	if (g)
		rc = get_generation(o, g, e);
	else if (o)
		err_nomem(e);
	json_object_put(o);
	if (!rc)
		return g;
	generation_destroy(g);
	return NULL;
}

/* --- on disk */

static char *in_dir(const char *dir, int64_t number, const char *file)
{
	return file ? str_fmt("%s/%" PRId64 "/%s", dir, number, file) : str_fmt("%s/%" PRId64, dir, number);
}

struct generation *generation_load(const char *dir, struct err *e)
{
	char *path = str_fmt("%s/current/generation.json", dir);
	struct buf text = { 0 };
	struct generation *g = NULL;

	if (!path) {
		err_nomem(e);
		return NULL;
	}
	if (!file_exists(path))
		err_set(e, "no cluster has been applied (%s is missing): run slurm-ec2 apply FILE", path);
	else if (!file_read(path, GENERATION_MAX, &text, e)) {
		g = generation_from_json(buf_text(&text), text.n, e);
		if (!g)
			err_prefix(e, "%s", path);
	}
	buf_free(&text);
	free(path);
	return g;
}

/* Relative, and down only. */
static bool path_ok(const char *path)
{
	size_t n;

	if (!*path || *path == '/')
		return false;
	for (const char *s = path;; s += n + 1) {
		n = strcspn(s, "/");
		if (!n || (n == 1 && *s == '.') || (n == 2 && !memcmp(s, "..", 2)))
			return false;
		if (!s[n])
			return true;
	}
}

static int write_file(const char *dir, const char *path, const char *text, struct err *e)
{
	char *full = str_fmt("%s/%s", dir, path), *slash;
	int rc = -1;

	if (!full)
		return err_nomem(e);
	slash = strrchr(full, '/');
	*slash = '\0';
	if (!file_mkdirs(full, 0755, e)) {
		*slash = '/';
		rc = file_replace(full, 0644, text, strlen(text), e);
	}
	free(full);
	return rc;
}

static int write_all(const char *dir, const struct generation *g, const struct gen_file *files, size_t n, struct err *e)
{
	char *json;
	int rc;

	for (size_t i = 0; i < n; i++) {
		if (!path_ok(files[i].path))
			return err_set(e, "\"%s\" is not a path inside a generation", files[i].path);
		if (write_file(dir, files[i].path, files[i].text, e))
			return -1;
	}
	json = generation_to_json(g);
	rc = json ? write_file(dir, "generation.json", json, e) : err_nomem(e);
	free(json);
	return rc;
}

static int sync_dir(const char *dir, struct err *e)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 || fsync(fd) ? err_errno(e, errno, "%s", dir) : 0;

	if (fd >= 0)
		close(fd);
	return rc;
}

/* The number "current" points to, 0 if there is none. */
static int64_t current_number(const char *dir)
{
	char *link = str_fmt("%s/current", dir), target[32];
	ssize_t n = link ? readlink(link, target, sizeof(target) - 1) : -1;
	int64_t v = 0;

	free(link);
	if (n <= 0)
		return 0;
	target[n] = '\0';
	return num_i64(target, 1, INT64_MAX, &v, NULL) ? 0 : v;
}

static int point_current(const char *dir, int64_t number, struct err *e)
{
	char *link = str_fmt("%s/current", dir), *fresh = str_fmt("%s/.current.new", dir),
	     *target = str_fmt("%" PRId64, number);
	int rc;

	if (!link || !fresh || !target)
		rc = err_nomem(e);
	else if ((unlink(fresh) && errno != ENOENT) || symlink(target, fresh) || rename(fresh, link))
		rc = err_errno(e, errno, "%s", link);
	else
		rc = sync_dir(dir, e);
	free(link);
	free(fresh);
	free(target);
	return rc;
}

/* All numbered folders but two, and what an interrupted store left. Failing to tidy is no failure. */
static void tidy(const char *dir, int64_t keep, int64_t keep_too)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		bool scrap = str_prefix(entry->d_name, ".new-");
		int64_t number;
		char *path;

		if (!scrap && (num_i64(entry->d_name, 1, INT64_MAX, &number, NULL) || number == keep || number == keep_too))
			continue;
		path = file_join(dir, entry->d_name);
		if (path)
			file_remove_tree(path, NULL);
		free(path);
	}
	if (d)
		closedir(d);
}

/* Move the prepared folder to its final name. A folder of that number is what a failed apply left, unless it is current. */
static int show_folder(const char *dir, const char *fresh, int64_t number, struct err *e)
{
	char *final = in_dir(dir, number, NULL);
	int rc = -1;

	if (!final)
		return err_nomem(e);
	if (current_number(dir) == number)
		err_set(e, "generation %" PRId64 " is the current one and is not overwritten", number);
	else if (!file_remove_tree(final, e))
		rc = rename(fresh, final) ? err_errno(e, errno, "%s", final) : sync_dir(dir, e);
	free(final);
	return rc;
}

int generation_store(const char *dir, const struct generation *g, const struct gen_file *files, size_t n, struct err *e)
{
	char *fresh = str_fmt("%s/.new-%ld", dir, (long)getpid());
	int64_t previous = current_number(dir);
	int rc = -1;

	if (!fresh)
		return err_nomem(e);
	if (g->number < 1)
		err_set(e, "a generation has no number");
	else if (!file_remove_tree(fresh, e) && !file_mkdirs(fresh, 0755, e) && !write_all(fresh, g, files, n, e) &&
		 !show_folder(dir, fresh, g->number, e))
		rc = point_current(dir, g->number, e);
	if (rc)
		file_remove_tree(fresh, NULL);
	else
		tidy(dir, g->number, previous);
	free(fresh);
	return rc;
}

static int forget_current(const char *dir, struct err *e)
{
	char *link = str_fmt("%s/current", dir);
	int rc;

	if (!link)
		return err_nomem(e);
	rc = unlink(link) && errno != ENOENT ? err_errno(e, errno, "%s", link) : sync_dir(dir, e);
	free(link);
	return rc;
}

int generation_revert(const char *dir, int64_t number, struct err *e)
{
	char *path;
	int rc;

	if (!number)
		return forget_current(dir, e);
	path = in_dir(dir, number, "generation.json");
	if (!path)
		return err_nomem(e);
	rc = file_exists(path) ? point_current(dir, number, e) :
				 err_set(e, "generation %" PRId64 " is no longer kept (%s is missing)", number, path);
	free(path);
	return rc;
}
