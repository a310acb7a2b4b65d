/* secret.h - memory that held keys is overwritten before it is given back. For lib/aws only. */
#ifndef SE_AWS_SECRET_H
#define SE_AWS_SECRET_H

#include <stddef.h>

struct buf;
struct strs;

void secret_wipe(void *bytes, size_t n);
void secret_free(char **s); /* takes a NULL text; leaves NULL */
/* Room in advance, so that growing leaves no copy behind. */
void secret_reserve(struct buf *b);
void secret_buf_free(struct buf *b);
void secret_strs_clear(struct strs *l);
/* Put *** in the place of a secret in a text of somebody else, also where the text was cut in the middle of it. NULL = none. */
void secret_redact(char *text, const char *secret);

#endif
