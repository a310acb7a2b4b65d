/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resume_file.c - what slurmctld asks ResumeProgram for, from its two forms: the argument and the JSON text. Pure.
 *
 * 22.05:  {"jobs":[{"job_id":7,"nodes":"q-[1-3]"}],"all_nodes":"q-[1-3]"}
 * 23.02+: nodes_resume and nodes_alloc in a job, all_nodes_resume; 26.05 adds priority. Members we do not know are ignored: a
 * new Slurm must not stop a cluster.
 */
#include "lib/slurmctl/resume_file.h"

#include "lib/base/err.h"
#include "lib/base/jview.h"
#include "lib/base/str.h"
#include "lib/node/job.h"
#include "lib/node/nodeset.h"

#include <string.h>

/* First of the two spellings that is there. */
static int text_of(struct json_object *o, const char *new_key, const char *old_key, const char **out, struct err *e)
{
	*out = NULL;
	if (jview_str(o, new_key, out, e) < 0)
		return -1;
	return *out ? 0 : jview_str(o, old_key, out, e);
}

static int list_names(struct strs *out, const struct nodeset *s)
{
	for (size_t i = 0; i < nodeset_count(s); i++) {
		if (strs_add(out, nodeset_get(s, i)) < 0)
			return -1;
	}
	return 0;
}

static int expand(struct strs *out, const char *text, struct err *e)
{
	struct nodeset *s = nodeset_create();
	int rc;

	if (!s)
		return err_nomem(e);
	rc = nodeset_parse(s, text, e);
	if (rc == 0 && list_names(out, s) < 0)
		rc = err_nomem(e);
	nodeset_destroy(s);
	return rc;
}

static int copy_member(struct json_object *o, const char *key, char **out, struct err *e)
{
	const char *text = NULL;

	if (jview_str(o, key, &text, e) < 0)
		return -1;
	*out = str_dup(text);
	return text && !*out ? err_nomem(e) : 0;
}

static int read_job(struct json_object *o, struct resume_request *out, struct err *e)
{
	struct resume_job *j = resume_request_add_job(out);
	const char *nodes = NULL;

	if (!j)
		return err_nomem(e);
	j->priority = -1;
	if (jview_i64(o, "job_id", &j->id, e) < 0)
		return -1;
	if (jview_i64(o, "priority", &j->priority, e) < 0 || text_of(o, "nodes_resume", "nodes", &nodes, e) < 0 ||
	    copy_member(o, "partition", &j->partition, e) < 0 || copy_member(o, "features", &j->features, e) < 0 ||
	    copy_member(o, "extra", &j->extra, e) < 0 || expand(&j->nodes, nodes ? nodes : "", e) < 0)
		return err_prefix(e, "job %lld", (long long)j->id);
	return 0;
}

static int read_jobs(struct json_object *doc, struct resume_request *out, struct err *e)
{
	struct json_object *jobs = NULL;

	if (jview_array(doc, "jobs", &jobs, e) < 0)
		return -1;
	for (size_t i = 0; jobs && i < json_object_array_length(jobs); i++) {
		struct json_object *o = json_object_array_get_idx(jobs, i);

		if (!json_object_is_type(o, json_type_object))
			return err_set(e, "element %zu of \"jobs\" is not an object", i);
		if (read_job(o, out, e) < 0)
			return -1;
	}
	return 0;
}

static int read_doc(struct json_object *doc, struct resume_request *out, struct nodeset *all, struct err *e)
{
	const char *nodes = NULL;

	if (!json_object_is_type(doc, json_type_object))
		return err_set(e, "the text is not an object");
	if (text_of(doc, "all_nodes_resume", "all_nodes", &nodes, e) < 0 || (nodes && nodeset_parse(all, nodes, e) < 0))
		return -1;
	return read_jobs(doc, out, e);
}

/* The argument's nodes, the file's and every job's, each once. */
static int collect(struct resume_request *out, struct nodeset *all, struct err *e)
{
	for (size_t i = 0; i < out->n_jobs; i++) {
		for (size_t k = 0; k < out->jobs[i].nodes.n; k++) {
			if (nodeset_add(all, out->jobs[i].nodes.v[k]) < 0)
				return err_nomem(e);
		}
	}
	return list_names(&out->nodes, all) < 0 ? err_nomem(e) : 0;
}

static int parse(struct resume_request *out, const char *text, size_t n, const char *argument, struct nodeset *all,
		 struct err *e)
{
	struct json_object *doc = NULL;
	int rc = 0;

	if (argument && nodeset_parse(all, argument, e) < 0)
		return err_prefix(e, "node list of the argument");
	if (text) {
		doc = jview_parse(text, n, "resume file", e);
		if (!doc)
			return -1;
		rc = read_doc(doc, out, all, e);
		if (rc < 0)
			err_prefix(e, "resume file");
	}
	if (rc == 0)
		rc = collect(out, all, e);
	json_object_put(doc);
	return rc;
}

int resume_request_parse(struct resume_request *out, const char *text, size_t n, const char *argument, struct err *e)
{
	struct nodeset *all = nodeset_create();
	struct resume_request r;
	int rc;

	memset(&r, 0, sizeof r);
	rc = all ? parse(&r, text, n, argument, all, e) : err_nomem(e);
	nodeset_destroy(all);
	if (rc < 0) {
		resume_request_clear(&r);
		return -1;
	}
	*out = r;
	return 0;
}
