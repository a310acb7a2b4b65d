/* SPDX-License-Identifier: GPL-2.0-or-later */
/* secret.c - overwrites what held keys, in a way no compiler takes out. Called by whoever holds a key, token or signed header.
 */
#include "lib/aws/secret.h"

#include "lib/base/buf.h"
#include "lib/base/str.h"

#include <openssl/crypto.h>

#include <stdlib.h>
#include <string.h>

#define TELLING 5 /* fewer characters of a secret tell nothing, and may stand anywhere */

void secret_wipe(void *bytes, size_t n)
{
	OPENSSL_cleanse(bytes, n);
}

void secret_free(char **s)
{
	if (*s)
		OPENSSL_cleanse(*s, strlen(*s));
	free(*s);
	*s = NULL;
}

void secret_reserve(struct buf *b)
{
	static const char nothing[16 * 1024]; /* keys with the longest session token are some 4 kB */

	buf_add(b, nothing, sizeof nothing);
	buf_reset(b);
}

void secret_buf_free(struct buf *b)
{
	if (b->v)
		OPENSSL_cleanse(b->v, b->n);
	buf_free(b);
}

/* The length of the secret's part that the text ends with, 0 = it does not. */
static size_t cut_length(const char *text, const char *secret)
{
	size_t n = strlen(text), part = strlen(secret);

	part = part < n ? part : n;
	while (part >= TELLING && strncmp(text + n - part, secret, part))
		part--;
	return part >= TELLING ? part : 0;
}

void secret_redact(char *text, const char *secret)
{
	size_t n = secret ? strlen(secret) : 0;

	if (n < TELLING)
		return;
	for (char *p = text; (p = strstr(p, secret)); p += 3) {
		memmove(p + 3, p + n, strlen(p + n) + 1);
		memcpy(p, "***", 3);
	}
	n = cut_length(text, secret);
	if (n)
		strcpy(text + strlen(text) - n, "***");
}

void secret_strs_clear(struct strs *l)
{
	for (size_t i = 0; i < l->n; i++)
		OPENSSL_cleanse(l->v[i], strlen(l->v[i]));
	strs_clear(l);
}
