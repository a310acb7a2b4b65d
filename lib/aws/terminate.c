/* SPDX-License-Identifier: GPL-2.0-or-later */
/* terminate.c - end any number of instances. Called by suspend, clustermgtd and the clean-up of failed launches.
 *
 * One id that EC2 does not know spoils a whole TerminateInstances: none of its instances end. The error names the bad ids, so they are
 * taken out and the rest is asked again.
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

/* Take the ids the error names out of the part. Returns how many. */
static size_t drop_unknown(struct part *p)
{
	const struct aws_error *x = &p->call->error;
	size_t kept = 0, before = p->n;

	if (strcmp(x->code, "InvalidInstanceID.NotFound") && strcmp(x->code, "InvalidInstanceID.Malformed"))
		return 0;
	for (size_t i = 0; i < p->n; i++)
		if (!names_id(x->message, p->id[i]))
			p->id[kept++] = p->id[i];
	p->n = kept;
	return before - kept;
}

/* Perform all parts that have ids left and no success yet. 0 = all well, 1 = some lost ids and want another round, -1 = failed. */
static int round_of(struct aws *a, struct part *parts, size_t n, int64_t deadline_mono_ms, struct err *e)
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
		const struct aws_error *x = parts[i].call ? &parts[i].call->error : NULL;

		if (!x)
			continue;
		if (x->class == AWS_OK)
			parts[i].n = 0;
		else if (drop_unknown(&parts[i]))
			rc = rc < 0 ? rc : 1;
		else
			rc = err_set(e, "TerminateInstances: %s: %s", x->code, x->message);
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
		rc = round_of(a, parts, n_parts, deadline_mono_ms, e);
out:
	free(copy);
	free(parts);
	return rc;
}
