/* SPDX-License-Identifier: GPL-2.0-or-later */
/* count.h - one more request to EC2 has ended. Internal to lib/aws; read by aws_counts(). */
#ifndef SE_AWS_COUNT_H
#define SE_AWS_COUNT_H

#include "lib/aws/aws.h"

/* action: a literal. */
void count_request(const char *action, enum aws_class class);

#endif
