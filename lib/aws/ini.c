/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ini.c - AWS's shared credentials and config files. Called by credentials.c. Lines it cannot read are skipped, as the AWS
 * tools do. */
#include "lib/aws/ini.h"

#include "lib/base/str.h"

#include <openssl/crypto.h>

#include <stdlib.h>
#include <string.h>

static size_t trim(const char **s, size_t n)
{
	while (n && strchr(" \t\r", **s)) {
		++*s;
		--n;
	}
	while (n && strchr(" \t\r", (*s)[n - 1]))
		--n;
	return n;
}

static char *copy(const char *s, size_t n)
{
	char *text;

	n = trim(&s, n);
	text = malloc(n + 1);
	if (text) {
		memcpy(text, s, n);
		text[n] = '\0';
	}
	return text;
}

static void forget(char *text)
{
	if (text)
		OPENSSL_cleanse(text, strlen(text)); /* it may have been a secret */
	free(text);
}

/* The name of the key on this line, in lower case; NULL = there is none. *value_at: what is behind it. Caller frees. */
static char *key_of(const char *line, size_t n, size_t *value_at)
{
	size_t name = 0;
	char *key;

	while (name < n && line[name] != '=' && line[name] != ':')
		name++;
	if (name == n || !name)
		return NULL;
	key = copy(line, name);
	*value_at = name + 1;
	return key ? str_lower(key) : NULL;
}

static void tell(const char *line, size_t n, const char *above, void (*on_key)(void *, const char *, const char *), void *arg)
{
	size_t at;
	char *key = key_of(line, n, &at), *full = key && above ? str_fmt("%s.%s", above, key) : str_dup(key);
	char *value = full ? copy(line + at, n - at) : NULL;

	if (value)
		on_key(arg, full, value);
	free(key);
	free(full);
	forget(value);
}

/* "[ name ]": 1 wanted, 0 another; -1 = not a section line. */
static int section_of(const char *line, size_t n, bool (*is_section)(const char *, const void *), const void *arg)
{
	const char *end = memchr(line, ']', n);
	char *name;
	int rc;

	if (*line != '[' || !end)
		return -1;
	name = copy(line + 1, (size_t)(end - line) - 1);
	rc = name && is_section(name, arg);
	free(name);
	return rc;
}

bool ini_read(const char *text, bool (*is_section)(const char *, const void *), const void *section_arg,
	      void (*on_key)(void *, const char *, const char *), void *arg)
{
	bool found = false, inside = false;
	size_t key_indent = 0, at;
	char *above = NULL; /* the key that deeper lines belong to */

	if (!strncmp(text, "\xef\xbb\xbf", 3))
		text += 3;
	for (const char *p = text; *p;) {
		size_t len = strcspn(p, "\n"), indent = strspn(p, " \t");
		const char *line = p;
		size_t n = trim(&line, len);
		int section = n && !indent ? section_of(line, n, is_section, section_arg) : -1;
		bool deeper = above && indent > key_indent;

		p += len + (p[len] == '\n');
		if (!n || *line == '#' || *line == ';')
			continue;
		if (section < 0 && inside)
			tell(line, n, deeper ? above : NULL, on_key, arg);
		if (section < 0 && deeper)
			continue;
		free(above);
		above = section < 0 ? key_of(line, n, &at) : NULL;
		key_indent = indent;
		inside = section < 0 ? inside : section;
		found |= inside;
	}
	free(above);
	return found;
}
