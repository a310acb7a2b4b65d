/* buf.h - a growing byte buffer with a sticky failure, so that builders check once at the end.
 *
 * Zero-initialised = empty. After a failed allocation every add is a no-op and buf_failed() is true.
 */
#ifndef SE_BASE_BUF_H
#define SE_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
	char *v; /* always NUL-terminated once something was added; NULL before */
	size_t n;
	size_t cap;
	bool failed;
};

void buf_add(struct buf *b, const void *bytes, size_t n);
void buf_str(struct buf *b, const char *s); /* NULL adds nothing */
void buf_char(struct buf *b, char c);
void buf_fmt(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vfmt(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Standard base64 with padding, no line breaks. */
void buf_base64(struct buf *b, const void *bytes, size_t n);
/* Append what such a text stands for; line breaks in it do not count. -1, and nothing is added, on anything else or no memory. */
int buf_base64_decode(struct buf *b, const char *text);
bool buf_failed(const struct buf *b);
/* The text, "" when empty; borrowed until the next change. */
const char *buf_text(const struct buf *b);
/* Hand the text over and leave b empty; NULL if the buffer failed. Caller frees. */
char *buf_take(struct buf *b);
void buf_reset(struct buf *b); /* keep the memory, forget the content */
void buf_free(struct buf *b);  /* leaves it empty */

#endif
