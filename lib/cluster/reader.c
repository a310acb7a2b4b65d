/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reader.c - walks a YAML document along the schema: sections, lists, unknown and missing keys. Values are read by scalar.c.
 *
 * Refuses to know any key by name: what is special about a key stands in its row of the schema.
 */
#include "lib/cluster/reader.h"

#include "lib/base/str.h"
#include "lib/cluster/document.h"
#include "lib/cluster/scalar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A known key that nothing acts on: one warning however often it is written. */
struct later {
	const struct key *key;
	struct place at;
	char *path;
	size_t times;
};

struct reader {
	struct scalar_reader sr; /* the document and the variables */
	struct later *later;
	size_t n_later, cap_later;
};

bool place_refused(struct place at)
{
	return at.line > 0 && at.column == 0;
}

static void set_place(void *base, size_t at, struct place where)
{
	if (base && at)
		memcpy((char *)base + at - 1, &where, sizeof(where));
}

static void set_refused(void *base, const struct key *k, const yaml_node_t *val)
{
	set_place(base, k->at, (struct place){document_place(val).line, 0});
}

static void nomem(struct reader *r)
{
	r->sr.doc.p->nomem = true;
}

static void read_map(struct reader *r, const struct section *s, const yaml_node_t *map, const struct path *at, void *base,
		     bool quiet);

static const struct key *find_key(const struct section *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->keys[i].name, name) == 0)
			return &s->keys[i];
	return NULL;
}

/* A key at the wrong level is the commonest slip: the section beside it that knows the key. */
static const char *section_of(const struct section *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->keys[i].section && find_key(s->keys[i].section, name))
			return s->keys[i].name;
	return NULL;
}

static const char *nearest_key(struct reader *r, const struct section *s, const char *name)
{
	const char **names = calloc(s->n ? s->n : 1, sizeof(*names));
	const char *near;

	if (!names) {
		nomem(r);
		return NULL;
	}
	for (size_t i = 0; i < s->n; i++)
		names[i] = s->keys[i].name;
	near = str_nearest(name, names, s->n);
	free(names);
	return near;
}

static void unknown_key(struct reader *r, const struct section *s, const yaml_node_t *node, const struct path *at)
{
	const char *name = document_text(node);
	const char *owner = section_of(s, name), *near = owner ? NULL : nearest_key(r, s, name);
	char shown[SHOWN_MAX];

	document_show(name, shown);
	if (owner)
		document_problem(&r->sr.doc, PROBLEM_ERROR, document_place(node), at, "unknown key %s; it belongs under %s",
				 shown, owner);
	else if (near)
		document_problem(&r->sr.doc, PROBLEM_ERROR, document_place(node), at, "unknown key %s; did you mean \"%s\"?",
				 shown, near);
	else
		document_problem(&r->sr.doc, PROBLEM_ERROR, document_place(node), at, "unknown key %s", shown);
}

static void remember_later(struct reader *r, const struct key *k, const yaml_node_t *node, const struct path *at)
{
	struct later *l;

	for (size_t i = 0; i < r->n_later; i++) {
		if (r->later[i].key == k) {
			r->later[i].times++;
			return;
		}
	}
	if (mem_grow(&r->later, &r->cap_later, r->n_later + 1, sizeof(*r->later)) < 0) {
		nomem(r);
		return;
	}
	l = &r->later[r->n_later++];
	*l = (struct later){k, document_place(node), path_text(at), 1};
	if (!l->path)
		nomem(r);
}

static void say_later_key(struct document *d, const struct later *l)
{
	static const char text[] = "known, but slurm-ec2 does not act on it yet";
	const char *note = l->key->note;
	char places[40] = "", *all;

	if (l->times > 1)
		snprintf(places, sizeof(places), " (%zu places)", l->times);
	all = str_fmt("%s%s%s%s", text, places, note ? "; " : "", note ? note : "");
	if (all)
		document_report(d, PROBLEM_WARNING, l->at, l->path, all);
	else
		d->p->nomem = true;
	free(all);
}

static bool expect(struct reader *r, const yaml_node_t *val, const struct path *at, yaml_node_type_t type, const char *what)
{
	if (val->type == type)
		return true;
	document_problem(&r->sr.doc, PROBLEM_ERROR, document_place(val), at, "%s is expected here, this is %s%s", what,
			 document_kind(val),
			 type == YAML_SEQUENCE_NODE ? "; write [A, B] or lines that begin with \"- \"" : "");
	return false;
}

static bool count_fits(struct reader *r, const struct key *k, const yaml_node_t *list, const struct path *at)
{
	long n = list->data.sequence.items.top - list->data.sequence.items.start;

	if (n < k->min)
		document_problem(&r->sr.doc, PROBLEM_ERROR, document_place(list), at,
				 "the list is too short; at least %d is needed", (int)k->min);
	else if (k->max && n > k->max)
		document_problem(&r->sr.doc, PROBLEM_ERROR, document_place(list), at,
				 "the list is too long; at most %d may stand here", (int)k->max);
	return n >= k->min;
}

/* An entry's own name in messages, when it is a harmless one. */
static const char *entry_name(struct reader *r, const struct section *s, const yaml_node_t *entry)
{
	const yaml_node_t *name;
	const char *t;

	if (entry->type != YAML_MAPPING_NODE || s->n == 0 || strcmp(s->keys[0].name, "Name") != 0)
		return NULL;
	name = document_find(&r->sr.doc, entry, "Name");
	if (!name || name->type != YAML_SCALAR_NODE)
		return NULL;
	t = document_text(name);
	if (!*t || strlen(t) > 40 || t[strspn(t, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")])
		return NULL;
	return t;
}

/* Entries of a list of sections differ in the value of the section's first key. */
static void note_unique(struct reader *r, const struct key *k, const yaml_node_t *entry, const struct path *at,
			struct uniques *u)
{
	const char *name = k->section->keys[0].name;
	const yaml_node_t *val = document_find(&r->sr.doc, entry, name);

	if ((k->flags & KEY_UNIQUE) && val && val->type == YAML_SCALAR_NODE && !document_is_null(val))
		uniques_add(&r->sr, u, val, at, name);
}

static void read_entry(struct reader *r, const struct key *k, const yaml_node_t *entry, const struct path *at, void *base,
		       bool quiet)
{
	void *own = base;

	if (base && k->open) {
		own = k->open(base);
		if (!own) {
			nomem(r);
			return;
		}
	}
	read_map(r, k->section, entry, at, own, quiet);
	if (base && k->close && k->close(base, own) < 0)
		nomem(r);
}

static void read_maps(struct reader *r, const struct key *k, const yaml_node_t *list, const struct path *at, void *base,
		      bool quiet)
{
	struct uniques seen = {0};
	const yaml_node_t *entry;

	if (!count_fits(r, k, list, at))
		return;
	for (size_t i = 0; (entry = document_item(&r->sr.doc, list, i)) != NULL; i++) {
		struct path here = {.up = at, .item = entry_name(r, k->section, entry), .index = i};

		if (!expect(r, entry, &here, YAML_MAPPING_NODE, "a mapping"))
			continue;
		read_entry(r, k, entry, &here, base, quiet);
		note_unique(r, k, entry, &here, &seen);
	}
	uniques_judge(&r->sr, &seen);
}

/* One mapping of free keys into a struct kvs (NULL: judged only). */
static void read_free(struct reader *r, const struct key *k, const yaml_node_t *map, const struct path *at, struct kvs *out)
{
	struct pairs pairs = {0};

	if (document_pairs(&r->sr.doc, map, at, &pairs) < 0)
		nomem(r);
	for (size_t i = 0; i < pairs.n; i++)
		scalar_read_pair(&r->sr, k, &pairs.v[i], pairs.n, at, out);
	free(pairs.v);
}

static void read_frees(struct reader *r, const struct key *k, const yaml_node_t *list, const struct path *at, void *base)
{
	const yaml_node_t *entry;

	for (size_t i = 0; (entry = document_item(&r->sr.doc, list, i)) != NULL; i++) {
		struct path here = {.up = at, .index = i};
		struct kvs *out;

		if (!expect(r, entry, &here, YAML_MAPPING_NODE, "a mapping"))
			continue;
		out = base && k->open ? k->open(base) : NULL;
		if (base && k->open && !out)
			nomem(r);
		read_free(r, k, entry, &here, out);
	}
}

static bool list_kind(enum key_kind kind)
{
	return kind == KEY_LIST || kind == KEY_MAPS || kind == KEY_FREES;
}

static void read_list(struct reader *r, const struct key *k, const yaml_node_t *val, const struct path *at, void *base,
		      bool quiet)
{
	if (!expect(r, val, at, YAML_SEQUENCE_NODE, "a list"))
		return;
	if (k->kind == KEY_MAPS)
		read_maps(r, k, val, at, base, quiet);
	else if (k->kind == KEY_FREES)
		read_frees(r, k, val, at, base);
	else if (count_fits(r, k, val, at))
		scalar_read_list(&r->sr, k, val, at, base);
	if (base && k->store == STORE_BOOL)
		*(bool *)((char *)base + k->offset) = true;
}

static void read_section(struct reader *r, const struct key *k, const yaml_node_t *val, const struct path *at, void *base,
			 bool quiet)
{
	void *own = base ? (char *)base + k->offset : NULL;

	if (!expect(r, val, at, YAML_MAPPING_NODE, "a mapping"))
		return;
	if (k->kind == KEY_MAP)
		read_map(r, k->section, val, at, own, quiet);
	else
		read_free(r, k, val, at, k->store == STORE_KVS ? own : NULL);
}

static void read_value(struct reader *r, const struct key *k, const yaml_node_t *val, const struct path *at, void *base,
		       bool quiet)
{
	if (list_kind(k->kind)) {
		read_list(r, k, val, at, base, quiet);
	} else if (k->kind == KEY_MAP || k->kind == KEY_FREE) {
		read_section(r, k, val, at, base, quiet);
	} else if (!expect(r, val, at, YAML_SCALAR_NODE, "one value") || scalar_read(&r->sr, k, val, at, base) < 0) {
		set_refused(base, k, val);
	}
}

static void read_key(struct reader *r, const struct key *k, const struct pair *pair, const struct path *up, void *base,
		     bool quiet)
{
	struct path at = {.up = up, .name = k->name};
	struct document *d = &r->sr.doc;

	set_place(base, k->at, document_place(k->kind == KEY_MAP ? pair->key : pair->val));
	if (k->flags & KEY_REFUSED) {
		document_problem(d, PROBLEM_ERROR, document_place(pair->key), &at, "cannot be used here; %s", k->note);
		return;
	}
	if (document_is_null(pair->val)) {
		document_problem(d, PROBLEM_ERROR, document_place(pair->key), &at,
				 "has no value; give one or leave the key out");
		set_refused(base, k, pair->val);
		return;
	}
	if ((k->flags & KEY_LATER) && !quiet) {
		remember_later(r, k, pair->key, &at);
		quiet = true; /* one warning for the section says it all */
	}
	if (k->kind != KEY_ANY && scalar_tag_ok(&r->sr, pair->val, &at))
		read_value(r, k, pair->val, &at, base, quiet);
}

static bool given(const struct pairs *pairs, const char *name)
{
	for (size_t i = 0; i < pairs->n; i++)
		if (strcmp(document_text(pairs->v[i].key), name) == 0)
			return true;
	return false;
}

static void judge_missing(struct reader *r, const struct section *s, const struct pairs *pairs, struct place where,
			  const struct path *at)
{
	for (size_t i = 0; i < s->n; i++) {
		struct path here = {.up = at, .name = s->keys[i].name};

		if ((s->keys[i].flags & KEY_REQUIRED) && !given(pairs, s->keys[i].name))
			document_problem(&r->sr.doc, PROBLEM_ERROR, where, &here, "is required and missing");
	}
}

static void read_map(struct reader *r, const struct section *s, const yaml_node_t *map, const struct path *at, void *base,
		     bool quiet)
{
	struct pairs pairs = {0};

	set_place(base, s->at, document_place(map));
	if (document_pairs(&r->sr.doc, map, at, &pairs) < 0)
		nomem(r);
	for (size_t i = 0; i < pairs.n; i++) {
		const struct key *k = find_key(s, document_text(pairs.v[i].key));

		if (k)
			read_key(r, k, &pairs.v[i], at, base, quiet);
		else
			unknown_key(r, s, pairs.v[i].key, at);
	}
	judge_missing(r, s, &pairs, document_place(map), at);
	free(pairs.v);
}

static void read_root(struct reader *r, const struct section *s, void *base, bool empty_ok)
{
	const yaml_node_t *root = document_root(&r->sr.doc);
	bool nothing = !root || document_is_null(root);

	if (nothing && empty_ok)
		return;
	if (nothing)
		document_problem(&r->sr.doc, PROBLEM_ERROR, (struct place){1, 1}, NULL,
				 "the file holds nothing; keys are expected");
	else if (expect(r, root, NULL, YAML_MAPPING_NODE, "a mapping of keys"))
		read_map(r, s, root, NULL, base, false);
}

void reader_read(const char *file, const char *text, size_t n, const struct section *s, void *base, cluster_getenv_fn get,
		 void *arg, bool empty_ok, struct problems *p)
{
	struct reader r = {.sr = {.get = get, .arg = arg}};

	if (document_open(&r.sr.doc, file, text, n, p) == 0) {
		read_root(&r, s, base, empty_ok);
		for (size_t i = 0; i < r.n_later; i++)
			say_later_key(&r.sr.doc, &r.later[i]);
	}
	document_close(&r.sr.doc);
	for (size_t i = 0; i < r.n_later; i++)
		free(r.later[i].path);
	free(r.later);
}
