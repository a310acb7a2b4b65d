/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text.c - ages, short names and folded sentences for a terminal. */
#include "build_config.h"

#include "cli/text.h"
#include "lib/base/buf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *text_age(int64_t ms, char out[TEXT_AGE])
{
	int64_t s = ms < 0 ? 0 : ms / 1000, min = s / 60, h = min / 60;

	if (s < 120)
		snprintf(out, TEXT_AGE, "%" PRId64 " s", s);
	else if (min < 120)
		snprintf(out, TEXT_AGE, "%" PRId64 " min", min);
	else if (h < 48)
		snprintf(out, TEXT_AGE, "%" PRId64 " h %02d min", h, (int)(min % 60));
	else
		snprintf(out, TEXT_AGE, "%" PRId64 " d %d h", h / 24, (int)(h % 24));
	return out;
}

const char *text_short(const char *s, size_t width, char *out)
{
	size_t n = strlen(s), head, tail;

	if (n <= width)
		return memcpy(out, s, n + 1);
	if (width < 4) {
		memcpy(out, s, width);
		out[width] = 0;
		return out;
	}
	tail = (width - 2) / 2;
	head = width - 2 - tail;
	memcpy(out, s, head);
	memcpy(out + head, "..", 2);
	memcpy(out + head + 2, s + n - tail, tail + 1);
	return out;
}

void text_clean(struct buf *b, const char *s)
{
	for (; s && *s; s++)
		buf_char(b, (unsigned char)*s < ' ' || *s == 127 ? ' ' : *s);
}

/* How much of s goes on a line with room for `room` bytes; 0 = nothing, a fresh line has more room. */
static size_t part(const char *s, size_t room, int fresh)
{
	size_t cut = 0, comma = 0;

	if (strlen(s) <= room)
		return strlen(s);
	for (size_t i = 0; i <= room; i++) {
		if (s[i] == ' ')
			cut = i;
		else if (i && (s[i - 1] == ',' || s[i - 1] == '/'))
			comma = i;
	}
	if (cut || comma || !fresh)
		return cut ? cut : comma;
	for (cut = room; cut > 1 && ((unsigned char)s[cut] & 0xc0) == 0x80;)
		cut--; /* not inside of a character */
	return cut;
}

/* No blanks at the end of a line. */
static void end_line(struct buf *b)
{
	while (!b->failed && b->n && b->v[b->n - 1] == ' ')
		b->v[--b->n] = 0;
	buf_char(b, '\n');
}

static void fold(struct buf *b, const char *s, size_t at, size_t indent, size_t lines)
{
	int fresh = at <= indent;

	for (size_t line = 1; *s; line++) {
		size_t room = at < TEXT_WIDTH ? TEXT_WIDTH - at : 0, n;
		int last = lines && line == lines;

		n = part(s, last && strlen(s) > room && room > 4 ? room - 4 : room, fresh || last);
		buf_add(b, s, n);
		for (s += n; *s == ' ';)
			s++;
		if (*s && last) {
			buf_str(b, " ...");
			break;
		}
		end_line(b);
		if (*s)
			buf_fmt(b, "%*s", (int)indent, "");
		at = indent;
		fresh = 1;
	}
	if (*s)
		buf_char(b, '\n');
}

void text_fold(struct buf *b, const char *sentence, size_t at, size_t indent, size_t lines)
{
	struct buf clean = {0};
	const char *s;

	text_clean(&clean, sentence);
	for (s = buf_text(&clean); *s == ' ';)
		s++;
	if (buf_failed(&clean))
		b->failed = true;
	else if (!*s)
		end_line(b);
	else
		fold(b, s, at, indent, lines);
	buf_free(&clean);
}
