/* quotas.h - what AWS's Service Quotas say of an account in a region. Called by `slurm-ec2 limits`. */
#ifndef SE_AWS_QUOTAS_H
#define SE_AWS_QUOTAS_H

#include <stddef.h>
#include <stdint.h>

struct aws;
struct err;

struct aws_quota {
	char *code; /* "L-1216C47A" */
	char *name; /* "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances" */
	double value;
};

/* Zero-initialised = empty. */
struct aws_quotas {
	struct aws_quota *v;
	size_t n;
	size_t cap;
};

/* All quotas of a service ("ec2"), every page, until deadline_mono_ms. -1 with e "ListServiceQuotas: Code: message"; out is
 * then empty. Needs servicequotas:ListServiceQuotas. */
int aws_quotas(struct aws *a, const char *service, struct aws_quotas *out, int64_t deadline_mono_ms, struct err *e);
void aws_quotas_clear(struct aws_quotas *q);
const struct aws_quota *aws_quotas_find(const struct aws_quotas *q, const char *code); /* NULL = not there */

/* The code of the vCPU quota that launches of a type count against in a market (MARKET_...); NULL = none is known. */
const char *aws_quota_code(const char *type, const char *market);

#endif
