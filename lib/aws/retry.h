/* retry.h - how long to wait before the next try. Pure: chance is an argument. */
#ifndef SE_AWS_RETRY_H
#define SE_AWS_RETRY_H

#include "lib/aws/aws.h"

#include <stdbool.h>
#include <stdint.h>

/* May a call that ended so be sent again with the same body? */
bool retry_worthwhile(enum aws_class c);
/* Does AWS say that our clock is off? */
bool retry_is_skew(const struct aws_error *error);
/* Milliseconds before try number `tries` + 1 (tries >= 1 were made). chance in [0, 1); told_ms = the service's own word, 0
 * = none. */
int64_t retry_delay_ms(enum aws_class c, int tries, double chance, int64_t told_ms);

#endif
