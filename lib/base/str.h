/* str.h - strings, ordered lists of strings, and ordered key=value lists. */
#ifndef SE_BASE_STR_H
#define SE_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An ordered list that owns its strings. Zero-initialised = empty. */
struct strs {
	char **v;
	size_t n;
	size_t cap;
};

/* Ordered pairs; keys may repeat. Zero-initialised = empty. */
struct kvs {
	struct strs key;
	struct strs val;
};

/* strdup that takes NULL (gives NULL) and leaves errno alone otherwise. NULL on no memory. Caller frees. */
char *str_dup(const char *s);
/* printf into fresh memory; NULL on no memory. Caller frees. */
char *str_fmt(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *str_vfmt(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
/* Equality that takes NULL: NULL equals only NULL. */
bool str_eq(const char *a, const char *b);
bool str_prefix(const char *s, const char *prefix);
bool str_suffix(const char *s, const char *suffix);
/* For tables in memory; another value on another machine. */
uint32_t str_hash(const char *s);
/* ASCII lower case, in place. Returns s. */
char *str_lower(char *s);
/* Edit distance (insert, delete, replace, swap neighbours), case-insensitive; stops counting above `limit`. */
size_t str_distance(const char *a, const char *b, size_t limit);
/* The candidate nearest to `s` within a third of its length (at least 1, at most 4), or NULL: for "did you mean". */
const char *str_nearest(const char *s, const char *const *candidates, size_t n);

/* Append a copy. -1 on no memory, list unchanged. */
int strs_add(struct strs *l, const char *s);
/* Append and own s, also on failure (then freed). -1 on no memory. */
int strs_take(struct strs *l, char *s);
int strs_addf(struct strs *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool strs_has(const struct strs *l, const char *s);
/* Replace dst by a copy of src; dst unchanged on failure. */
int strs_copy(struct strs *dst, const struct strs *src);
/* Split at `sep`, blanks around parts removed, empty parts dropped; appends. */
int strs_split(struct strs *l, const char *text, char sep);
/* Join with sep; caller frees; NULL on no memory. */
char *strs_join(const struct strs *l, const char *sep);
/* Free the strings and the list; leaves it empty. */
void strs_clear(struct strs *l);

int kvs_add(struct kvs *l, const char *key, const char *val);
const char *kvs_get(const struct kvs *l, const char *key); /* first match or NULL; borrowed */
void kvs_clear(struct kvs *l);

/* Grow *v (elements of `size` bytes) so that `need` fit; *cap in elements; new memory is zeroed. -1 on no memory. */
int mem_grow(void *v, size_t *cap, size_t need, size_t size);

#endif
