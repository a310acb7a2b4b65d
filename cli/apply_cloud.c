/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apply_cloud.c - apply's steps that ask EC2: credentials, instance types, images, machines that are not ours. Reads only. */
#include "cli/apply_job.h"
#include "cli/image.h"
#include "conf/facts.h"
#include "conf/hardware.h"
#include "lib/apply/apply.h"
#include "lib/aws/aws.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/user.h"
#include "lib/cluster/fallback.h"

#include <stdlib.h>
#include <string.h>

#define NAMES_SHOWN 10
#define ACCOUNT_LIMIT_MS 20000 /* for the first answer of EC2: a person waits */

/* --- credentials: this person's, and those the daemons will have */

static const struct gen_cloud *old_cloud(const struct apply_job *j, size_t i)
{
	return &j->old->clouds[i];
}

static bool cloud_kept(const struct apply_job *j, const struct gen_cloud *c)
{
	const struct gen_cloud own = { .region = j->gen->region, .endpoint = j->set->endpoint };

	if (apply_same_cloud(c, &own))
		return true;
	for (size_t i = 0; i < j->gen->n_clouds; i++) {
		if (apply_same_cloud(c, &j->gen->clouds[i]))
			return true;
	}
	return false;
}

static int open_cloud(struct apply_job *j, const struct gen_cloud *c, struct err *e)
{
	struct apply_cloud *to = &j->clouds[j->n_clouds];

	to->region = c->region;
	to->aws = world_cloud_aws(j->set, c, true, e);
	if (!to->aws)
		return -1;
	j->n_clouds++;
	return 0;
}

static int open_clouds(struct apply_job *j, struct err *e)
{
	const struct gen_cloud own = { .region = j->gen->region, .endpoint = j->set->endpoint };
	size_t n_old = j->old ? j->old->n_clouds : 0;

	j->clouds = calloc(1 + j->gen->n_clouds + n_old, sizeof(*j->clouds));
	if (!j->clouds)
		return err_nomem(e);
	if (open_cloud(j, &own, e))
		return -1;
	for (size_t i = 0; i < j->gen->n_clouds; i++) {
		if (open_cloud(j, &j->gen->clouds[i], e))
			return err_prefix(e, "region %s", j->gen->clouds[i].region);
	}
	for (size_t i = 0; i < n_old; i++) {
		if (!cloud_kept(j, old_cloud(j, i)) && open_cloud(j, old_cloud(j, i), e))
			return err_prefix(e, "region %s of the generation before", old_cloud(j, i)->region);
	}
	return 0;
}

/* *silent: EC2 gave no answer at all, so that asking it more is only waiting. */
static int try_daemons(struct apply_job *j, size_t i, bool *silent, struct err *e)
{
	const struct gen_cloud own = { .region = j->gen->region, .endpoint = j->set->endpoint };
	struct ec2_call *call = ec2_describe_cluster(j->gen->uuid);
	int rc = -1;

	if (!call)
		return err_nomem(e);
	if (user_become(j->gen->slurm_user, e) == 0) {
		j->clouds[i].daemon_aws = world_cloud_aws(j->set, i ? &j->gen->clouds[i - 1] : &own, false, e);
		if (j->clouds[i].daemon_aws)
			rc = ec2_perform_one(j->clouds[i].daemon_aws, call, clock_mono_ms() + ACCOUNT_LIMIT_MS, e);
		user_restore();
	}
	*silent = rc && j->clouds[i].daemon_aws && call->error.class == AWS_TRANSIENT;
	ec2_call_destroy(call);
	return rc;
}

static void judge_credentials_file(struct apply_job *j)
{
	const char *path = j->set->credentials_file;
	mode_t mode;

	if (world_credentials_open(j->set, &mode))
		APPLY_WARN(j, "%s has mode %04o, so others can read the keys in it: chmod 600 %s (%s must own it)", path,
			   (unsigned)mode, path, j->gen->slurm_user);
}

int apply_step_account(struct apply_job *j, struct buf *note, struct err *e)
{
	judge_credentials_file(j);
	if (open_clouds(j, e))
		return -1;
	/* A person's environment does not reach ResumeProgram: what works here may not work there. */
	for (size_t i = 0; i <= j->gen->n_clouds; i++) {
		struct err why = { 0 };
		bool silent = false;

		if (try_daemons(j, i, &silent, &why) && silent)
			return err_set(e, "EC2%s%s does not answer: %s", i ? " in " : "", i ? j->clouds[i].region : "", why.text);
		if (why.text[0])
			APPLY_PROBLEM(
				j,
				"user %s, as whom slurmctld starts our programs, cannot ask EC2%s%s (they see no environment; "
				"CredentialsFile, Profile and Ec2Endpoint in %s count, and the instance's role): %s",
				j->gen->slurm_user, i ? " in " : "", i ? j->clouds[i].region : "", SETTINGS_PATH, why.text);
		buf_fmt(note, "%s%s", i ? ", " : "", j->clouds[i].region);
	}
	if (j->set->endpoint)
		buf_fmt(note, " at %s", j->set->endpoint);
	return 0;
}

/* --- instance types */

/* Is `type` a word of EC2's "... do not exist: [x9.huge, y1.tiny]"? */
static bool names_type(const char *text, const char *type)
{
	size_t n = strlen(type);

	for (const char *s = text; (s = strstr(s, type)); s++) {
		if ((s == text || strchr("[, ", s[-1])) && (!s[n] || strchr("], ", s[n])))
			return true;
	}
	return false;
}

static void place_unknown(struct apply_job *j, size_t at, const struct compute_resource *r, const struct strs *types,
			  const char *text)
{
	const struct queue *q = &j->cluster->queues[at];
	const struct fallback *f = fallback_find(j->set, q->name, r->name);
	bool more = types == &r->more_types && f;
	struct place place = more ? f->at : r->type_at.line ? r->type_at : r->at;

	for (size_t t = 0; t < types->n; t++) {
		if (names_type(text, types->v[t]))
			problems_add(&j->problems, PROBLEM_ERROR, more ? SETTINGS_PATH : j->cluster->file, place.line, place.column,
				     NULL, "queue %s, compute resource %s: EC2 has no instance type %s in %s", q->name, r->name,
				     types->v[t], apply_region(j, at));
	}
}

/* EC2's list of unknown types, as places of the files. */
static void place_unknown_types(struct apply_job *j, int64_t cloud, const char *text)
{
	for (size_t i = 0; i < j->cluster->n_queues; i++) {
		const struct queue *q = &j->cluster->queues[i];

		for (size_t k = 0; k < q->n_resources && j->queues[i].cloud == cloud; k++) {
			place_unknown(j, i, &q->resources[k], &q->resources[k].instance_types, text);
			place_unknown(j, i, &q->resources[k], &q->resources[k].more_types, text);
		}
	}
}

/* The types of one cloud's queues. */
static int cloud_types(struct apply_job *j, int64_t cloud, struct buf *note, struct err *e)
{
	struct aws *aws = j->clouds[cloud].aws;
	struct strs names = { 0 };
	int rc = 0;

	for (size_t i = 0; i < j->cluster->n_queues && rc == 0; i++) {
		struct queue *q = &j->cluster->queues[i];

		if (j->queues[i].cloud != cloud)
			continue;
		rc = facts_reserved(aws, j->cluster, q, apply_deadline(), &j->problems, e);
		if (rc == 0 && facts_queue_types(q, &names))
			rc = err_nomem(e);
	}
	if (rc == 0) {
		rc = facts_fetch(aws, &names, apply_deadline(), &j->types, e) ? -1 : facts_complete(&names, &j->types, e);
		if (rc && (strstr(e->text, "InvalidInstanceType") || str_prefix(e->text, "no facts about")))
			place_unknown_types(j, cloud, e->text);
	}
	for (size_t i = 0; i < names.n && rc == 0; i++)
		buf_fmt(note, "%s%s", note->n ? ", " : "", names.v[i]);
	strs_clear(&names);
	return rc;
}

int apply_step_types(struct apply_job *j, struct buf *note, struct err *e)
{
	for (size_t i = 0; i <= j->gen->n_clouds; i++) {
		if (cloud_types(j, (int64_t)i, note, e))
			return -1;
	}
	if (apply_fill_stages(j, e))
		return -1;
	apply_fill_overrides(j);
	return 0;
}

/* --- images */

/* The image a queue asks for by id, or NULL: then the newest that is tagged. */
static const char *image_wanted(const struct apply_job *j, const struct queue *q)
{
	if (q->custom_ami)
		return q->custom_ami;
	return j->cluster->custom_ami ? j->cluster->custom_ami : j->set->image_id;
}

static const struct ec2_image *image_find(const struct ec2_images *l, const char *id)
{
	for (size_t i = 0; l && i < l->n; i++) {
		if (str_eq(l->v[i].id, id))
			return &l->v[i];
	}
	return NULL;
}

static void remember_image(struct apply_job *j, struct apply_queue *to, const struct ec2_image *m)
{
	if (strs_add(&to->images, m ? m->id : "") || strs_add(&to->root_devices, m && m->root_device ? m->root_device : ""))
		j->problems.nomem = true;
}

static void choose_image(struct apply_job *j, size_t q, const struct compute_resource *r, const struct ec2_images *named,
			 const struct ec2_images *tagged)
{
	const struct queue *queue = &j->cluster->queues[q];
	const char *id = image_wanted(j, queue);
	const struct ec2_image *m = NULL;
	struct hardware h;
	struct err e;

	if (hardware_resolve(r, &j->types, &h, &e)) {
		APPLY_PROBLEM_AT(j, r->at, "compute resource %s: %s", r->name, e.text);
	} else if (id) {
		m = image_find(named, id);
		if (!m)
			APPLY_PROBLEM_AT(j, queue->at, "queue %s: EC2 has no image %s in %s", queue->name, id, apply_region(j, q));
		else if (image_judge(m, h.arch, j->gen->slurm_version, j->set->accept_untagged_image, &e))
			APPLY_PROBLEM_AT(j, queue->at, "queue %s: %s", queue->name, e.text);
	} else {
		m = image_newest(tagged, h.arch, j->gen->slurm_version);
		if (!m)
			APPLY_PROBLEM_AT(
				j, queue->at,
				"queue %s: no image: none of yours is for %s and carries tag " TAG_SLURM_VERSION
				" with a release that fits "
				"slurmctld %s; make one (README, \"What the image needs\"), or name one by Image.CustomAmi in %s or ImageId in %s",
				queue->name, h.arch ? h.arch : "its architecture", j->gen->slurm_version, j->file,
				SETTINGS_PATH);
	}
	remember_image(j, &j->queues[q], m);
}

static int wanted_ids(const struct apply_job *j, int64_t cloud, struct strs *ids, bool *tagged)
{
	for (size_t i = 0; i < j->cluster->n_queues; i++) {
		const char *id = image_wanted(j, &j->cluster->queues[i]);

		if (j->queues[i].cloud != cloud)
			continue;
		if (!id)
			*tagged = true;
		else if (!strs_has(ids, id) && strs_add(ids, id))
			return -1;
	}
	return 0;
}

/* An id that EC2 does not know spoils the whole call, so each is asked alone; there are seldom more than two. */
static int ask_images(struct aws *aws, const struct strs *ids, struct ec2_call **calls, struct err *e)
{
	for (size_t i = 0; i < ids->n; i++) {
		const char *one[1] = { ids->v[i] };

		calls[i] = ec2_describe_images(one, 1);
		if (!calls[i])
			return err_nomem(e);
		if (ec2_perform_one(aws, calls[i], apply_deadline(), e) && !str_prefix(calls[i]->error.code, "InvalidAMIID"))
			return -1;
	}
	return 0;
}

static const struct ec2_images *reply_with(struct ec2_call **calls, size_t n, const char *id)
{
	for (size_t i = 0; id && i < n; i++) {
		const struct ec2_images *l = calls[i]->error.class == AWS_OK ? ec2_describe_images_reply(calls[i]) : NULL;

		if (image_find(l, id))
			return l;
	}
	return NULL;
}

static void choose_images(struct apply_job *j, int64_t cloud, struct ec2_call **calls, size_t n,
			  const struct ec2_images *tagged)
{
	for (size_t i = 0; i < j->cluster->n_queues; i++) {
		const struct queue *q = &j->cluster->queues[i];

		for (size_t k = 0; k < q->n_resources && j->queues[i].cloud == cloud; k++)
			choose_image(j, i, &q->resources[k], reply_with(calls, n, image_wanted(j, q)), tagged);
	}
}

static void note_images(const struct apply_job *j, struct buf *note)
{
	struct strs shown = { 0 };

	for (size_t i = 0; i < j->cluster->n_queues; i++) {
		for (size_t k = 0; k < j->queues[i].images.n; k++) {
			const char *id = j->queues[i].images.v[k];

			if (!id[0] || strs_has(&shown, id) || strs_add(&shown, id))
				continue;
			buf_fmt(note, "%s%s", shown.n > 1 ? ", " : "", id);
		}
	}
	strs_clear(&shown);
}

/* The images of one cloud's queues. */
static int cloud_images(struct apply_job *j, int64_t cloud, struct err *e)
{
	struct aws *aws = j->clouds[cloud].aws;
	struct strs ids = { 0 };
	struct ec2_call **calls = NULL, *all = NULL;
	bool tagged = false;
	int rc = -1;

	if (wanted_ids(j, cloud, &ids, &tagged) || !(calls = calloc(ids.n + 1, sizeof(struct ec2_call *)))) {
		err_nomem(e);
		goto out;
	}
	if (ask_images(aws, &ids, calls, e))
		goto out;
	if (tagged) {
		all = ec2_describe_images_tagged();
		if (!all || ec2_perform_one(aws, all, apply_deadline(), e)) {
			if (!all)
				err_nomem(e);
			goto out;
		}
	}
	choose_images(j, cloud, calls, ids.n, all ? ec2_describe_images_reply(all) : NULL);
	rc = 0;
out:
	for (size_t i = 0; calls && i < ids.n; i++)
		ec2_call_destroy(calls[i]);
	free(calls);
	ec2_call_destroy(all);
	strs_clear(&ids);
	return rc;
}

int apply_step_images(struct apply_job *j, struct buf *note, struct err *e)
{
	for (size_t i = 0; i <= j->gen->n_clouds; i++) {
		if (cloud_images(j, (int64_t)i, e))
			return -1;
	}
	note_images(j, note);
	return 0;
}

/* --- machines that carry our name but are not ours */

struct machines {
	struct buf foreign; /* names of those of others */
	size_t n_foreign, alive;
};

static void count_machines(const struct instances *l, const char *uuid, struct machines *m)
{
	for (size_t i = 0; l && i < l->n; i++) {
		if (!instance_alive(l->v[i].state))
			continue;
		m->alive++;
		if (str_eq(l->v[i].cluster, uuid))
			continue;
		if (m->n_foreign++ < NAMES_SHOWN)
			buf_fmt(&m->foreign, "%s%s", m->foreign.n ? ", " : "", l->v[i].id);
	}
}

static int look_for_machines(struct apply_job *j, struct aws *aws, struct machines *m, struct err *e)
{
	const char *name[1] = { j->gen->cluster_name };
	struct ec2_call *c = ec2_describe_by("tag:" TAG_PC_CLUSTER, name, 1);
	int rc = c ? ec2_perform_one(aws, c, apply_deadline(), e) : err_nomem(e);

	if (rc == 0)
		count_machines(ec2_describe_reply(c), j->gen->uuid, m);
	ec2_call_destroy(c);
	return rc;
}

/* Machines where no queue of the new generation is would be seen by nobody any more. */
static int judge_left(struct apply_job *j, struct err *e)
{
	for (size_t i = j->gen->n_clouds + 1; i < j->n_clouds; i++) {
		struct ec2_call *c = ec2_describe_cluster(j->gen->uuid);
		int rc = c ? ec2_perform_one(j->clouds[i].aws, c, apply_deadline(), e) : err_nomem(e);
		const struct instances *l = rc == 0 ? ec2_describe_reply(c) : NULL;
		size_t n = 0;

		for (size_t k = 0; l && k < l->n; k++)
			n += instance_alive(l->v[k].state) != 0;
		if (n)
			APPLY_PROBLEM(j, "%zu machine%s of this cluster live%s in %s, where no queue would be any more: let %s end first",
				      n, n == 1 ? "" : "s", n == 1 ? "s" : "", j->clouds[i].region, n == 1 ? "it" : "them");
		ec2_call_destroy(c);
		if (rc)
			return err_prefix(e, "region %s of the generation before", j->clouds[i].region);
	}
	return 0;
}

int apply_step_machines(struct apply_job *j, struct buf *note, struct err *e)
{
	struct machines m = { 0 };
	bool one;
	int rc = 0;

	for (size_t i = 0; i <= j->gen->n_clouds && rc == 0; i++)
		rc = look_for_machines(j, j->clouds[i].aws, &m, e);
	if (rc == 0)
		rc = judge_left(j, e);
	one = m.n_foreign == 1;
	if (rc == 0 && m.n_foreign)
		APPLY_PROBLEM(j,
			      "%zu machine%s with tag " TAG_PC_CLUSTER
			      "=%s belong%s to another cluster (%s%s): terminate %s, choose another "
			      "ClusterName in %s, or give --adopt UUID if it is this cluster's (tag " TAG_CLUSTER ")",
			      m.n_foreign, one ? "" : "s", j->gen->cluster_name, one ? "s" : "", buf_text(&m.foreign),
			      m.n_foreign > NAMES_SHOWN ? ", ..." : "", one ? "it" : "them", SETTINGS_PATH);
	if (rc == 0)
		buf_fmt(note, "%zu of this cluster, %zu of others by its name", m.alive - m.n_foreign, m.n_foreign);
	buf_free(&m.foreign);
	return rc;
}
