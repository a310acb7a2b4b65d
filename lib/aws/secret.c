/* SPDX-License-Identifier: GPL-2.0-or-later */
/* secret.c - overwrites what held keys, in a way no compiler takes out. Called by whoever holds a key, token or signed header.
 */
#include "lib/aws/secret.h"

#include "lib/base/buf.h"
#include "lib/base/str.h"

#include <openssl/crypto.h>

#include <stdlib.h>
#include <string.h>

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

void secret_strs_clear(struct strs *l)
{
	for (size_t i = 0; i < l->n; i++)
		OPENSSL_cleanse(l->v[i], strlen(l->v[i]));
	strs_clear(l);
}
