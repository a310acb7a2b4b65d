/* page.h - what every list answer has in common, as macros: create, the current item, merge and destroy of a page whose first
 * member is `list`, an array {v, n, cap}. Included by the ec2_*.c readers only. */
#ifndef SE_AWS_PAGE_H
#define SE_AWS_PAGE_H

#include "lib/base/buf.h"
#include "lib/base/str.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_CREATE(name, type)                                                                                                    \
	static void *name##_create(void)                                                                                           \
	{                                                                                                                          \
		return calloc(1, sizeof(type));                                                                                    \
	}

#define PAGE_CURRENT(name, type)                                                                                                   \
	static void *name##_current(void *page)                                                                                    \
	{                                                                                                                          \
		type *p = page;                                                                                                    \
                                                                                                                                   \
		return p->list.n ? &p->list.v[p->list.n - 1] : NULL;                                                               \
	}

/* A zeroed item at the end: for lists that no other room appends to. */
#define PAGE_OPEN(name, type)                                                                                                      \
	static int name##_open(void *page)                                                                                         \
	{                                                                                                                          \
		type *p = page;                                                                                                    \
                                                                                                                                   \
		if (mem_grow(&p->list.v, &p->list.cap, p->list.n + 1, sizeof *p->list.v))                                          \
			return -1;                                                                                                 \
		memset(&p->list.v[p->list.n++], 0, sizeof *p->list.v);                                                             \
		return 0;                                                                                                          \
	}

#define PAGE_MERGE(name, type)                                                                                                     \
	static int name##_merge(void *into, void *from)                                                                            \
	{                                                                                                                          \
		type *a = into, *b = from;                                                                                         \
                                                                                                                                   \
		if (!b->list.n)                                                                                                    \
			return 0;                                                                                                  \
		if (mem_grow(&a->list.v, &a->list.cap, a->list.n + b->list.n, sizeof *a->list.v))                                  \
			return -1;                                                                                                 \
		memcpy(a->list.v + a->list.n, b->list.v, b->list.n * sizeof *b->list.v);                                           \
		a->list.n += b->list.n;                                                                                            \
		b->list.n = 0;                                                                                                     \
		return 0;                                                                                                          \
	}

/* clear(list) frees the items and the array. */
#define PAGE_DESTROY(name, type, clear)                                                                                            \
	static void name##_destroy(void *page)                                                                                     \
	{                                                                                                                          \
		type *p = page;                                                                                                    \
                                                                                                                                   \
		if (!p)                                                                                                            \
			return;                                                                                                    \
		clear(&p->list);                                                                                                   \
		free(p);                                                                                                           \
	}

#define PAGE_READER(name, item, rules)                                                                                             \
	{item, rules, sizeof rules / sizeof *rules, name##_create, name##_current, name##_merge, name##_destroy}

/* A tag being read. Readers whose page has a member `tag` get its rules from PAGE_TAG_CALLS and PAGE_TAG_RULES; take(item,
 * key, value) is called for each tag that has a value. */
struct page_tag {
	struct buf key, value; /* their memory is used again for the next */
};

static inline int page_replace(char **field, const char *text)
{
	free(*field);
	*field = str_dup(text);
	return *field ? 0 : -1;
}

static inline int page_tag_part(struct buf *part, const char *text)
{
	buf_reset(part);
	buf_str(part, text);
	return buf_failed(part) ? -1 : 0;
}

static inline void page_tag_clear(struct page_tag *t)
{
	buf_free(&t->key);
	buf_free(&t->value);
}

#define PAGE_TAG_CALLS(name, type, take)                                                                                           \
	static int name##_tag_open(void *page)                                                                                     \
	{                                                                                                                          \
		buf_reset(&((type *)page)->tag.key);                                                                               \
		buf_reset(&((type *)page)->tag.value);                                                                             \
		return 0;                                                                                                          \
	}                                                                                                                          \
	static int name##_tag_key(void *page, const char *text)                                                                    \
	{                                                                                                                          \
		return page_tag_part(&((type *)page)->tag.key, text);                                                              \
	}                                                                                                                          \
	static int name##_tag_value(void *page, const char *text)                                                                  \
	{                                                                                                                          \
		return page_tag_part(&((type *)page)->tag.value, text);                                                            \
	}                                                                                                                          \
	static int name##_tag_close(void *page, const char *text)                                                                  \
	{                                                                                                                          \
		type *p = page;                                                                                                    \
                                                                                                                                   \
		(void)text;                                                                                                        \
		return p->tag.key.n && p->tag.value.n ? take(name##_current(p), p->tag.key.v, p->tag.value.v) : 0;                 \
	}

#define PAGE_TAG_RULES(name)                                                                                                       \
	REPLY_RULE_CALL("tagSet/item", name##_tag_open, name##_tag_close), REPLY_RULE_CALL("tagSet/item/key", NULL, name##_tag_key), \
		REPLY_RULE_CALL("tagSet/item/value", NULL, name##_tag_value)

#endif
