/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fail.c - the end of nodes that got nothing. The node's reason holds the code, which clustermgtd reads back; EC2's own words go
 * to the job, where `scontrol show job` shows them. */
#include "lib/apply/fail.h"

#include "lib/apply/apply.h"
#include "lib/apply/event.h"
#include "lib/apply/run.h"
#include "lib/apply/settle.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/jview.h"
#include "lib/base/log.h"
#include "lib/node/map.h"
#include "lib/node/nodeset.h"
#include "lib/plan/capacity.h"
#include "lib/plan/protect.h"
#include "lib/slurmctl/slurmctl.h"

#include <stdlib.h>

#define JOB_COMMENTS_MAX 50 /* a comment is one RPC a job */

static const char *why_of(const struct run *r, const char *code)
{
	if (str_eq(code, CODE_PROTECTED))
		return REASON_PROTECTED;
	return str_eq(code, CODE_FAILED) ? r->why.text : NULL;
}

/* The first node of the job that failed, or SIZE_MAX. */
static size_t failed_node(const struct resume_job *j, const struct map *failed)
{
	for (size_t i = 0; i < j->nodes.n; i++) {
		size_t at = map_get(failed, j->nodes.v[i]);

		if (at < SIZE_MAX)
			return at;
	}
	return SIZE_MAX;
}

/* Ids of the jobs that were to get one of these nodes. */
static void jobs_of(const struct run *r, const char *const *names, size_t n, struct strs *out)
{
	struct map at = {0};

	for (size_t i = 0; i < n; i++)
		map_put(&at, names[i], i);
	for (size_t i = 0; i < r->request->n_jobs; i++) {
		const struct resume_job *j = &r->request->jobs[i];

		if (j->id > 0 && failed_node(j, &at) < SIZE_MAX)
			strs_addf(out, "%lld", (long long)j->id);
	}
	map_clear(&at);
}

/* One update for each code. */
static void fail_code(struct run *r, const struct resume_result *res, size_t first, const char **names, bool *done)
{
	struct strs jobs = {0};
	size_t n = 0;

	for (size_t i = first; i < res->n_fail; i++) {
		if (!done[i] && str_eq(res->fail[i].code, res->fail[first].code)) {
			names[n++] = res->fail[i].node;
			done[i] = true;
		}
	}
	jobs_of(r, names, n, &jobs);
	settle_failed(r->w, names, n, &jobs, res->fail[first].code, why_of(r, res->fail[first].code),
		      r->deadline + AFTER_LIMIT_MS);
	strs_clear(&jobs);
}

/* A comment is a courtesy: it does not wait for a slurmctld that went away, which takes ten seconds to notice. */
static bool may_comment(const struct run *r)
{
	return !apply_stop && clock_mono_ms() < r->deadline + AFTER_LIMIT_MS && slurmctl_ping(NULL) == 0;
}

/* The code, EC2's own words, and what to do. A code that is ours ("fewer came than the job needs") stands for what EC2 said
 * last. Caller frees; NULL on no memory. */
static char *comment_text(const struct run *r, const char *code)
{
	const char *said = kvs_get(&r->words, code), *why = why_of(r, code);
	const char *last = r->words.val.n ? r->words.val.v[r->words.val.n - 1] : NULL;
	const char *const part[] = {code, why ? why : said ? said : last, launching_remedy(code)};
	struct buf b = {0};

	buf_str(&b, "slurm-ec2");
	for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
		if (part[i] && *part[i])
			buf_fmt(&b, ": %s", part[i]);
	}
	return buf_take(&b);
}

static void comment_job(struct run *r, const struct resume_job *j, const char *code)
{
	char *text = comment_text(r, code);
	struct err e = {""};

	if (text && slurmctl_job_comment(j->id, text, &e) < 0)
		log_debug("job %lld: %s", (long long)j->id, e.text);
	free(text);
}

static void comment_jobs(struct run *r, const struct resume_result *res)
{
	struct map failed = {0};
	size_t sent = 0;

	for (size_t i = 0; i < res->n_fail; i++)
		map_put(&failed, res->fail[i].node, i);
	for (size_t i = 0; i < r->request->n_jobs && sent < JOB_COMMENTS_MAX; i++) {
		const struct resume_job *j = &r->request->jobs[i];
		size_t at = failed_node(j, &failed);

		if (at == SIZE_MAX || j->id <= 0)
			continue;
		if (!may_comment(r))
			break;
		sent++;
		comment_job(r, j, res->fail[at].code);
	}
	map_clear(&failed);
}

/* ---- figures for the event log, in ParallelCluster's groups */

static const char *failure_type(const char *code)
{
	static const struct {
		const char *code, *type;
	} known[] = {
	    {CODE_LIMITED, "ice-failures"},
	    {"VcpuLimitExceeded", "vcpu-limit-failures"},
	    {"VolumeLimitExceeded", "volume-limit-failures"},
	    {"InsufficientVolumeCapacity", "volume-limit-failures"},
	    {"UnauthorizedOperation", "iam-policy-errors"},
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (str_eq(code, known[i].code))
			return known[i].type;
	}
	return capacity_code_remembered(code) && !capacity_code_is_quota(code) ? "ice-failures" : "other-failures";
}

/* Nodes that failed with this code. How many, 0 also on no memory. */
static int64_t put_code(struct json_object *details, const struct resume_result *res, const char *code, const char **names)
{
	struct json_object *o = json_object_new_object();
	int64_t n = 0;
	char *text;

	for (size_t i = 0; i < res->n_fail; i++) {
		if (str_eq(res->fail[i].code, code))
			names[n++] = res->fail[i].node;
	}
	text = nodeset_text_of(names, (size_t)n);
	if (!o || jview_put_i64(o, "count", n) || jview_put_str(o, "nodes", text)) {
		json_object_put(o);
		n = 0;
	} else if (jview_put_obj(details, code, o)) {
		n = 0;
	}
	free(text);
	return n;
}

static void tell_type(struct run *r, const struct resume_result *res, const char *type, const char **names)
{
	struct json_object *o = json_object_new_object(), *details = json_object_new_object();
	int64_t n = 0;

	for (size_t i = 0; o && details && i < res->n_fail; i++) {
		const char *code = res->fail[i].code;

		if (str_eq(failure_type(code), type) && !json_object_object_get_ex(details, code, NULL))
			n += put_code(details, res, code, names);
	}
	if (n == 0 || jview_put_str(o, "failure-type", type) || jview_put_i64(o, "count", n)) {
		json_object_put(o);
		json_object_put(details);
		return;
	}
	if (jview_put_obj(o, "error-details", details) == 0)
		apply_figure(r->w, EVENT_WARNING, "node-launch-failure-count", "nodes that got no machine", o);
	else
		json_object_put(o);
}

static void tell_figures(struct run *r, const struct resume_result *res, const char **names)
{
	static const char *const types[] = {"ice-failures", "vcpu-limit-failures", "volume-limit-failures", "iam-policy-errors",
					    "other-failures"};

	for (size_t i = 0; event_is_logged(r->w, EVENT_WARNING) && i < sizeof types / sizeof *types; i++)
		tell_type(r, res, types[i], names);
}

void fail_nodes(struct run *r, const struct resume_result *res)
{
	const char **names = calloc(res->n_fail, sizeof *names);
	bool *done = calloc(res->n_fail, sizeof *done);

	for (size_t i = 0; names && done && i < res->n_fail; i++) {
		if (!done[i])
			fail_code(r, res, i, names, done);
	}
	if (names)
		tell_figures(r, res, names);
	free(names);
	free(done);
	comment_jobs(r, res);
}
