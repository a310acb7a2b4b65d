/* SPDX-License-Identifier: GPL-2.0-or-later */
/* variable.c - fills $NAME and ${NAME}; called for each value of a cluster.yaml, never for a key. Pure. */
#include "lib/cluster/variable.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { NAME_MAX_BYTES = 128 };

static bool name_start(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static size_t name_length(const char *s)
{
	size_t n = 0;

	if (!name_start(s[0]))
		return 0;
	while (name_start(s[n]) || (s[n] >= '0' && s[n] <= '9'))
		n++;
	return n;
}

static int fill_one(const char *name, size_t n, cluster_getenv_fn get, void *arg, struct buf *out, struct err *e)
{
	char key[NAME_MAX_BYTES + 1];
	const char *val;

	if (n > NAME_MAX_BYTES)
		return err_set(e, "the name of the variable $%.20s... is too long", name);
	memcpy(key, name, n);
	key[n] = '\0';
	val = get(arg, key);
	if (!val)
		return err_set(
		    e, "variable %s is not set; set it in the environment of this command, or write $$ for a plain $", key);
	buf_str(out, val);
	return 0;
}

/* s points behind "${". Returns what to skip, 0 on error. */
static size_t fill_braced(const char *s, cluster_getenv_fn get, void *arg, struct buf *out, struct err *e)
{
	size_t n = name_length(s);

	if (n == 0 || s[n] != '}') {
		err_set(e, "\"${%.20s\" is no variable: write ${NAME}, or $$ for a plain $", s);
		return 0;
	}
	return fill_one(s, n, get, arg, out, e) < 0 ? 0 : n + 1;
}

int variable_fill(const char *text, cluster_getenv_fn get, void *arg, struct buf *out, struct err *e)
{
	while (*text) {
		size_t plain = strcspn(text, "$"), n;

		buf_add(out, text, plain);
		text += plain;
		if (!*text)
			break;
		text++;
		if (*text == '{') {
			n = fill_braced(text + 1, get, arg, out, e);
			if (n == 0)
				return -1;
			text += 1 + n;
		} else if ((n = name_length(text)) > 0) {
			if (fill_one(text, n, get, arg, out, e) < 0)
				return -1;
			text += n;
		} else {
			buf_char(out, '$');
			text += *text == '$';
		}
	}
	return 0;
}
