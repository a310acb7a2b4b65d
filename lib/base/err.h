/* err.h - one error as a value: a sentence for people, made where the facts are.
 *
 * A function that can fail returns -1 (or NULL) and fills a struct err that its caller owns. The caller adds its context
 * (err_prefix) or passes it on; only main() and the top of a loop log it. Every function takes a NULL err.
 * No secret ever goes into an err.
 */
#ifndef SE_BASE_ERR_H
#define SE_BASE_ERR_H

#define ERR_TEXT_MAX 1024 /* bytes, the final NUL included; longer text ends in "..." */

struct err {
	char text[ERR_TEXT_MAX];
};

/* Replace the text. Always returns -1, so that `return err_set(e, ...)` reads well. */
int err_set(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Put "<prefix>: " in front of the text. Always returns -1. */
int err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* err_set with ": " and the text of errno value `num` after it. Always returns -1. */
int err_errno(struct err *e, int num, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* "out of memory", the one sentence for a failed allocation. Always returns -1. */
int err_nomem(struct err *e);

#endif
