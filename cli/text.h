/* text.h - what the commands that explain to a person share: ages, names that must fit, and sentences folded to a terminal's
 * width. Pure. Widths are bytes, which is never fewer than columns.
 */
#ifndef SE_CLI_TEXT_H
#define SE_CLI_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct buf;

#define TEXT_WIDTH 80

/* "45 s", "12 min", "2 h 05 min", "3 d 4 h" into out; negative counts as 0. Returns out. */
#define TEXT_AGE 24
const char *text_age(int64_t ms, char out[TEXT_AGE]);
/* s in at most `width` bytes into out[width + 1]: what is too long loses its middle ("queue-of..gpu-8"). Returns out. */
const char *text_short(const char *s, size_t width, char *out);
/* Append s with control characters as blanks: the words of others say nothing to a terminal. NULL adds nothing. */
void text_clean(struct buf *b, const char *s);
/* Append a sentence, cleaned, and a line end. The current line has `at` bytes already; further lines begin with `indent`
 * blanks. No line is longer than TEXT_WIDTH: it is cut at a blank, else behind a comma or slash, else anywhere. With lines > 0
 * what does not fit so many ends in "...". */
void text_fold(struct buf *b, const char *sentence, size_t at, size_t indent, size_t lines);

#endif
