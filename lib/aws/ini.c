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

static void take_key(const char *line, size_t n, void (*on_key)(void *, const char *, const char *), void *arg)
{
	size_t name = 0;
	char *key, *value;

	while (name < n && line[name] != '=' && line[name] != ':')
		name++;
	if (name == n || !name)
		return;
	key = copy(line, name);
	value = copy(line + name + 1, n - name - 1);
	if (key && value)
		on_key(arg, str_lower(key), value);
	free(key);
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
	size_t key_indent = 0;
	bool have_key = false;

	if (!strncmp(text, "\xef\xbb\xbf", 3))
		text += 3;
	for (const char *p = text; *p;) {
		size_t len = strcspn(p, "\n"), indent = strspn(p, " \t");
		const char *line = p;
		size_t n = trim(&line, len);
		int section = n && !indent ? section_of(line, n, is_section, section_arg) : -1;

		p += len + (p[len] == '\n');
		if (!n || *line == '#' || *line == ';')
			continue;
		if (section >= 0) {
			inside = section;
			found |= inside;
			have_key = false;
		} else if (!have_key || indent <= key_indent) {
			have_key = true;
			key_indent = indent;
			if (inside)
				take_key(line, n, on_key, arg);
		}
	}
	return found;
}
