/* sample_calls.h - every builder of ec2.h, called with little and with all it takes. For the tests of request bodies. */
#ifndef SE_TESTS_SAMPLE_CALLS_H
#define SE_TESTS_SAMPLE_CALLS_H

#include "lib/aws/ec2.h"

#define SAMPLE_CALLS_MAX 64

/* Fills v and returns how many; a NULL among them is a builder that failed. Caller destroys. */
size_t sample_calls(struct ec2_call *v[SAMPLE_CALLS_MAX]);

#endif
