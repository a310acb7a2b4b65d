/* SPDX-License-Identifier: GPL-2.0-or-later */
/* terminate.c - end any number of instances. Called by suspend, clustermgtd and the clean-up of failed launches.
 *
 * One id that EC2 does not know, or one that somebody protected from termination, spoils a whole TerminateInstances. The
 * error names the ids, so they are taken out and the rest is asked again. A protected machine is told in the end.
 */
#include "lib/aws/call.h"

#include "lib/base/err.h"
#include "lib/base/str.h"

#include <stdlib.h>
#include <string.h>

#define PART_IDS 200 /* EC2 takes 1000 and recommends fewer */

struct part {
	const char **id;
	size_t n;
	struct ec2_call *call;
};

static void part_call_destroy(struct part *p)
{
	ec2_call_destroy(p->call);
	p->call = NULL;
}

static bool names_id(const char *message, const char *id)
{
	size_t n = strlen(id);

	for (const char *at = message; (at = strstr(at, id)); at += n)
		if (!strspn(at + n, "0123456789abcdef"))
			return true;
	return false;
}

static bool is_protected(const struct aws_error *x)
{
	return !strcmp(x->code, "OperationNotPermitted");
}

/* Take the ids the error names out of the part. Returns how many. */
static size_t drop_named(struct part *p)
{
	const struct aws_error *x = &p->call->error;
	size_t kept = 0, before = p->n;

	if (strcmp(x->code, "InvalidInstanceID.NotFound") && strcmp(x->code, "InvalidInstanceID.Malformed") && !is_protected(x))
		return 0;
	for (size_t i = 0; i < p->n; i++)
		if (!names_id(x->message, p->id[i]))
			p->id[kept++] = p->id[i];
	p->n = kept;
	return before - kept;
}

/* What became of a part: 0 = all well, 1 = it lost ids and wants another round, -1 = failed. */
static int judge(struct part *p, struct err *refused, struct err *e)
{
	const struct aws_error *x = &p->call->error;

	if (x->class == AWS_OK) {
		p->n = 0;
		return 0;
	}
	if (!drop_named(p))
		return err_set(e, "TerminateInstances: %s: %s", x->code, x->message);
	if (is_protected(x))
		err_set(refused, "TerminateInstances: %s: %s", x->code, x->message);
	return 1;
}

/* Perform all parts that have ids left and no success yet. 0 = all well, 1 = some want another round, -1 = one failed. */
static int round_of(struct aws *a, struct part *parts, size_t n, int64_t deadline_mono_ms, struct err *refused, struct err *e)
{
	struct ec2_call **calls = calloc(n ? n : 1, sizeof *calls);
	size_t n_calls = 0;
	int rc = 0;

	for (size_t i = 0; calls && i < n; i++) {
		if (!parts[i].n)
			continue;
		parts[i].call = ec2_terminate_instances(parts[i].id, parts[i].n);
		if (!parts[i].call)
			rc = err_nomem(e);
		else
			calls[n_calls++] = parts[i].call;
	}
	if (!calls)
		return err_nomem(e);
	ec2_perform(a, calls, n_calls, deadline_mono_ms, NULL, NULL);
	for (size_t i = 0; i < n; i++) {
		int one = parts[i].call ? judge(&parts[i], refused, e) : 0;

		rc = one < 0 || (one > 0 && rc == 0) ? one : rc;
		part_call_destroy(&parts[i]);
	}
	free(calls);
	return rc;
}

int ec2_terminate_all(struct aws *a, const char *const *ids, size_t n, int64_t deadline_mono_ms, struct err *e)
{
	size_t n_parts = (n + PART_IDS - 1) / PART_IDS;
	struct part *parts = calloc(n_parts ? n_parts : 1, sizeof *parts);
	const char **copy = NULL;
	struct err refused = {""};
	size_t cap = 0;
	int rc = 1;

	if (!parts || mem_grow(&copy, &cap, n, sizeof *copy)) {
		rc = err_nomem(e);
		goto out;
	}
	for (size_t i = 0; i < n; i++)
		copy[i] = ids[i];
	for (size_t i = 0; i < n_parts; i++) {
		parts[i].id = copy + i * PART_IDS;
		parts[i].n = n - i * PART_IDS < PART_IDS ? n - i * PART_IDS : PART_IDS;
	}
	while (rc > 0)
		rc = round_of(a, parts, n_parts, deadline_mono_ms, &refused, e);
	if (rc == 0 && refused.text[0])
		rc = err_set(e, "%s", refused.text);
out:
	free(copy);
	free(parts);
	return rc;
}
