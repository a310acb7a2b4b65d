/* SPDX-License-Identifier: GPL-2.0-or-later */
/* buf.c - a growing byte buffer. Builders add without checking and ask buf_failed() once. */
#include "lib/base/buf.h"

#include "lib/base/str.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for n more bytes and the NUL; NULL (and failed) if there is none. */
static char *room(struct buf *b, size_t n)
{
	if (b->failed)
		return NULL;
	if (n > SIZE_MAX - b->n - 1 || mem_grow(&b->v, &b->cap, b->n + n + 1, 1)) {
		b->failed = true;
		return NULL;
	}
	return b->v + b->n;
}

static void added(struct buf *b, size_t n)
{
	b->n += n;
	b->v[b->n] = '\0';
}

void buf_add(struct buf *b, const void *bytes, size_t n)
{
	char *to = room(b, n);

	if (!to)
		return;
	if (n)
		memcpy(to, bytes, n);
	added(b, n);
}

void buf_str(struct buf *b, const char *s)
{
	if (s)
		buf_add(b, s, strlen(s));
}

void buf_char(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_fmt(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(b, fmt, ap);
	va_end(ap);
}

void buf_vfmt(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	char *to;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0) {
		b->failed = true;
		return;
	}
	to = room(b, (size_t)n);
	if (!to)
		return;
	vsnprintf(to, (size_t)n + 1, fmt, ap);
	added(b, (size_t)n);
}

static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void buf_base64(struct buf *b, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i;
		uint32_t w = (uint32_t)p[i] << 16;

		if (left > 1)
			w |= (uint32_t)p[i + 1] << 8;
		if (left > 2)
			w |= p[i + 2];
		buf_char(b, digit[w >> 18]);
		buf_char(b, digit[w >> 12 & 63]);
		buf_char(b, left > 1 ? digit[w >> 6 & 63] : '=');
		buf_char(b, left > 2 ? digit[w & 63] : '=');
	}
}

/* The next character that counts, from *at on; 0 at the end. */
static char next_digit(const char *text, size_t *at)
{
	*at += strspn(text + *at, "\r\n");
	return text[*at] ? text[(*at)++] : 0;
}

/* Four characters to one to three bytes: how many, 0 at the end, -1 if they are not base64. */
static int decode_group(const char *text, size_t *at, unsigned char out[3])
{
	uint32_t w = 0;
	int pad = 0;

	for (int i = 0; i < 4; i++) {
		char c = next_digit(text, at);
		const char *place = c ? strchr(digit, c) : NULL;

		if (!c && i == 0)
			return 0;
		if (c == '=' && i > 1)
			pad++;
		else if (!place || pad)
			return -1;
		w = w << 6 | (place ? (uint32_t)(place - digit) : 0);
	}
	out[0] = (unsigned char)(w >> 16);
	out[1] = (unsigned char)(w >> 8);
	out[2] = (unsigned char)w;
	return 3 - pad;
}

int buf_base64_decode(struct buf *b, const char *text)
{
	size_t before = b->n, at = 0;
	unsigned char byte[3];
	int n;

	do {
		n = decode_group(text, &at, byte);
		if (n > 0)
			buf_add(b, byte, (size_t)n);
	} while (n == 3);
	if (n > 0 && next_digit(text, &at))
		n = -1; /* something after the padding */
	if (n >= 0 && !b->failed)
		return 0;
	b->n = before;
	if (b->v)
		b->v[before] = 0;
	return -1;
}

bool buf_failed(const struct buf *b)
{
	return b->failed;
}

const char *buf_text(const struct buf *b)
{
	return b->v ? b->v : "";
}

char *buf_take(struct buf *b)
{
	char *text = NULL;

	if (room(b, 0)) {
		b->v[b->n] = '\0';
		text = b->v;
		b->v = NULL;
	}
	buf_free(b);
	return text;
}

void buf_reset(struct buf *b)
{
	b->n = 0;
	b->failed = false;
	if (b->v)
		b->v[0] = '\0';
}

void buf_free(struct buf *b)
{
	free(b->v);
	*b = (struct buf){0};
}
