/* reply.h - an EC2 answer, read as it arrives. A reader is a table of paths; the parser walks the XML and fills its values.
 *
 * A page is read into a value of its own and merged only when it was whole, so a page that broke off leaves nothing behind.
 */
#ifndef SE_AWS_REPLY_H
#define SE_AWS_REPLY_H

#include "lib/aws/aws.h"

#include <stddef.h>

enum reply_kind {
	REPLY_CALL, /* the functions do it */
	REPLY_TEXT, /* char * at offset, owned by the item; an empty element leaves NULL */
	REPLY_INT,  /* int at offset */
	REPLY_I64,  /* int64_t at offset */
	REPLY_BOOL  /* bool at offset */
};

/* One element below an item. "" is the item itself. */
struct reply_rule {
	const char *path;
	enum reply_kind kind;
	size_t offset;                                /* into the current item */
	int (*open)(void *page);                      /* the element begins; may be NULL; -1 = no memory */
	int (*close)(void *page, const char *text);   /* the element ends; may be NULL */
};

#define REPLY_RULE_TEXT(path, type, member) {path, REPLY_TEXT, offsetof(type, member), NULL, NULL}
#define REPLY_RULE_INT(path, type, member) {path, REPLY_INT, offsetof(type, member), NULL, NULL}
#define REPLY_RULE_I64(path, type, member) {path, REPLY_I64, offsetof(type, member), NULL, NULL}
#define REPLY_RULE_BOOL(path, type, member) {path, REPLY_BOOL, offsetof(type, member), NULL, NULL}
#define REPLY_RULE_CALL(path, open, close) {path, REPLY_CALL, 0, open, close}

struct reply_reader {
	const char *item; /* path of an item below the root, "reservationSet/item/instancesSet/item" */
	const struct reply_rule *rules;
	size_t n_rules;
	void *(*create)(void);               /* an empty page */
	void *(*current)(void *page);        /* the item being filled; NULL before the first */
	int (*merge)(void *into, void *from);/* append from's items to into; from is left empty */
	void (*destroy)(void *page);         /* takes NULL */
};

/* For verbs whose answer holds nothing we want. */
extern const struct reply_reader reply_nothing;

struct reply;

/* action names the expected root, "<action>Response". NULL on no memory. */
struct reply *reply_create(const char *action, const struct reply_reader *reader);
void reply_destroy(struct reply *r); /* takes NULL */
/* The next bytes, cut anywhere. Never fails: what is wrong is told at the end. */
void reply_feed(struct reply *r, const char *bytes, size_t n);
/* All bytes are in. 0 = a whole answer of the verb; -1 = error filled (code, message, request id, class). */
int reply_end(struct reply *r, int http_status, struct aws_error *error);
/* After success: the page, borrowed; and NextToken or NULL. */
void *reply_page(struct reply *r);
const char *reply_next_token(const struct reply *r);

/* For rules with a function of their own: replace *field by a copy of text; an empty text leaves it alone. -1 on no memory. */
int reply_text(char **field, const char *text);

#endif
