/* SPDX-License-Identifier: GPL-2.0-or-later */
/* site.c - the reader of the site's slurm.conf.
 *
 * Called before anything is rendered or merged, so that collisions are found with file and line. Opens slurm.conf and its
 * includes, nothing else; changes nothing.
 */
#include "conf/site.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/str.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FILE_MAX (16u << 20)
#define DEPTH_MAX 8 /* an include that includes itself must end somewhere */

/* One physical or continued line of a text. */
struct scan {
	const char *text;
	size_t at;
	int line;
};

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

bool site_opens_record(const struct site_key *k)
{
	static const char *const words[] = { "NodeName", "PartitionName", "NodeSet", "DownNodes", "FrontendName" };

	if (!k->first)
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(k->name, words[i]) == 0)
			return true;
	}
	return false;
}

static void skip_line(struct scan *s)
{
	while (s->text[s->at] && s->text[s->at] != '\n')
		s->at++;
	if (s->text[s->at]) {
		s->at++;
		s->line++;
	}
}

/* Blanks and continued line ends. */
static void skip_blanks(struct scan *s)
{
	for (;;) {
		if (blank(s->text[s->at])) {
			s->at++;
		} else if (s->text[s->at] == '\\' && s->text[s->at + 1] == '\n') {
			s->at += 2;
			s->line++;
		} else {
			return;
		}
	}
}

static char *span_dup(const char *from, size_t n)
{
	return strndup(from, n);
}

/* The value at s->at: quoted, or up to a blank. Moves past it. */
static char *take_value(struct scan *s, size_t *off, size_t *len)
{
	char quote = s->text[s->at];

	if (quote == '"' || quote == '\'') {
		size_t start = ++s->at;

		while (s->text[s->at] && s->text[s->at] != quote && s->text[s->at] != '\n')
			s->at++;
		*off = start;
		*len = s->at - start;
		if (s->text[s->at] == quote)
			s->at++;
	} else {
		*off = s->at;
		while (s->text[s->at] && !blank(s->text[s->at]) && s->text[s->at] != '\n' && s->text[s->at] != '#' &&
		       !(s->text[s->at] == '\\' && s->text[s->at + 1] == '\n'))
			s->at++;
		*len = s->at - *off;
	}
	return span_dup(s->text + *off, *len);
}

static int add_key(struct site *site, size_t file, const struct scan *s, bool first, char *name, char *value, size_t off,
		   size_t len)
{
	if (!name || !value || mem_grow(&site->key, &site->cap_keys, site->n_keys + 1, sizeof(*site->key))) {
		free(name);
		free(value);
		return -1;
	}
	site->key[site->n_keys++] = (struct site_key){
		.file = file,
		.line = s->line,
		.record = site->n_records,
		.first = first,
		.name = name,
		.value = value,
		.off = off,
		.len = len,
	};
	return 0;
}

/* One "Key=Value" or "Include path". 0 = taken, 1 = end of the line, -1 = no memory. */
static int take_pair(struct site *site, size_t file, struct scan *s, bool first)
{
	size_t start, n, off, len;
	char *name, *value;

	skip_blanks(s);
	if (!s->text[s->at] || s->text[s->at] == '\n' || s->text[s->at] == '#')
		return 1;
	start = s->at;
	while (s->text[s->at] && !blank(s->text[s->at]) && !strchr("=+-*/\n#\\", s->text[s->at]))
		s->at++;
	n = s->at - start;
	skip_blanks(s);
	while (s->text[s->at] && strchr("+-*/", s->text[s->at]))
		s->at++;
	if (n == 0) {
		s->at++; /* not a key: step over it, slurmctld will complain itself */
		return 0;
	}
	if (s->text[s->at] == '=') {
		s->at++;
		skip_blanks(s);
	} else if (!(first && n == 7 && strncasecmp(s->text + start, "include", 7) == 0)) {
		return 0;
	}
	name = span_dup(s->text + start, n);
	value = take_value(s, &off, &len);
	return add_key(site, file, s, first, name, value, off, len);
}

static int take_line(struct site *site, size_t file, struct scan *s)
{
	bool first = true;
	int rc;

	while ((rc = take_pair(site, file, s, first)) == 0)
		first = false;
	site->n_records++;
	skip_line(s);
	return rc < 0 ? -1 : 0;
}

static bool line_is(const struct scan *s, const char *mark)
{
	return str_prefix(s->text + s->at, mark);
}

/* A mark without its end hides nothing: what follows it is the site's. */
static bool block_begins(const struct scan *s)
{
	return line_is(s, SITE_BEGIN) && strstr(s->text + s->at, "\n" SITE_END);
}

static int scan_text(struct site *site, size_t file)
{
	struct scan s = { .text = site->file[file].text, .line = 1 };
	bool ours = false;

	while (s.text[s.at]) {
		if (block_begins(&s))
			ours = true;
		if (line_is(&s, SITE_END))
			ours = false;
		if (ours)
			skip_line(&s);
		else if (take_line(site, file, &s))
			return -1;
	}
	return 0;
}

int site_add(struct site *s, const char *path, const char *text)
{
	char *p, *t;

	if (mem_grow(&s->file, &s->cap_files, s->n_files + 1, sizeof(*s->file)))
		return -1;
	p = str_dup(path);
	t = str_dup(text);
	if (!p || !t) {
		free(p);
		free(t);
		return -1;
	}
	s->file[s->n_files++] = (struct site_file){ .path = p, .text = t };
	return scan_text(s, s->n_files - 1);
}

/* "dir of path/name", or name itself if absolute. */
static char *beside(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	if (name[0] == '/' || !slash)
		return str_dup(name);
	return str_fmt("%.*s/%s", (int)(slash - path), path, name);
}

static int load_one(struct site *s, const char *root, const char *path, int depth, struct err *e);

static int load_includes(struct site *s, const char *root, size_t from, size_t to, int depth, struct err *e)
{
	for (size_t i = from; i < to; i++) {
		const char *name = s->key[i].value;
		char *path;
		int rc;

		if (!s->key[i].first || strcasecmp(s->key[i].name, "include") != 0)
			continue;
		if (strcmp(name, SITE_INCLUDE) == 0 || strchr(name, '%'))
			continue;
		path = beside(root, name);
		if (!path)
			return err_nomem(e);
		rc = load_one(s, root, path, depth + 1, e);
		if (rc)
			err_prefix(e, "%s:%d: Include %s", site_path(s, &s->key[i]), s->key[i].line, name);
		free(path);
		if (rc)
			return -1;
	}
	return 0;
}

static int load_one(struct site *s, const char *root, const char *path, int depth, struct err *e)
{
	struct buf b = { 0 };
	size_t from = s->n_keys;
	int rc;

	if (depth > DEPTH_MAX)
		return err_set(e, "includes are nested more than %d deep", DEPTH_MAX);
	if (file_read(path, FILE_MAX, &b, e)) {
		buf_free(&b);
		return -1;
	}
	rc = site_add(s, path, buf_text(&b));
	buf_free(&b);
	if (rc)
		return err_nomem(e);
	return load_includes(s, root, from, s->n_keys, depth, e);
}

int site_load(struct site *s, const char *path, struct err *e)
{
	struct site fresh = { 0 };

	if (load_one(&fresh, path, path, 0, e)) {
		site_clear(&fresh);
		return -1;
	}
	*s = fresh;
	return 0;
}

void site_clear(struct site *s)
{
	for (size_t i = 0; i < s->n_files; i++) {
		free(s->file[i].path);
		free(s->file[i].text);
	}
	for (size_t i = 0; i < s->n_keys; i++) {
		free(s->key[i].name);
		free(s->key[i].value);
	}
	free(s->file);
	free(s->key);
	memset(s, 0, sizeof(*s));
}

static bool plain(const struct site *s, size_t i)
{
	while (i > 0 && !s->key[i].first && s->key[i - 1].record == s->key[i].record)
		i--;
	return !site_opens_record(&s->key[i]);
}

const struct site_key *site_find(const struct site *s, const char *name)
{
	if (!s)
		return NULL;
	for (size_t i = s->n_keys; i-- > 0;) {
		if (strcasecmp(s->key[i].name, name) == 0 && plain(s, i))
			return &s->key[i];
	}
	return NULL;
}

const struct site_key *site_in_record(const struct site *s, const struct site_key *of, const char *name)
{
	for (size_t i = 0; i < s->n_keys; i++) {
		if (s->key[i].record == of->record && strcasecmp(s->key[i].name, name) == 0)
			return &s->key[i];
	}
	return NULL;
}

const char *site_path(const struct site *s, const struct site_key *k)
{
	return s->file[k->file].path;
}

bool site_has_nodes(const struct site *s)
{
	for (size_t i = 0; s && i < s->n_keys; i++) {
		if (s->key[i].first && !strcasecmp(s->key[i].name, "NodeName") && strcasecmp(s->key[i].value, "DEFAULT"))
			return true;
	}
	return false;
}
