/* SPDX-License-Identifier: GPL-2.0-or-later */
/* count.c - requests of this process to EC2, by action and outcome. Few enough that a list is searched. */
#include "lib/aws/count.h"

#include "lib/base/str.h"

#define MOST 512 /* more than all actions times all classes */

static struct aws_count count[MOST];
static size_t n_counts;

void count_request(const char *action, enum aws_class class)
{
	for (size_t i = 0; i < n_counts; i++) {
		if (count[i].class == class && str_eq(count[i].action, action)) {
			count[i].n++;
			return;
		}
	}
	if (n_counts < MOST)
		count[n_counts++] = (struct aws_count){.action = action, .class = class, .n = 1};
}

const struct aws_count *aws_counts(size_t *n)
{
	*n = n_counts;
	return count;
}
