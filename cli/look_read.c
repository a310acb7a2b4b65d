/* SPDX-License-Identifier: GPL-2.0-or-later */
/* look_read.c - reading every source once, for a person. What is away is said; the rest is read all the same. Changes nothing.
 */
#include "build_config.h"

#include "cli/look.h"
#include "cli/session.h"
#include "lib/apply/apply.h"
#include "lib/aws/aws.h"
#include "lib/aws/ec2.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/num.h"
#include "lib/base/user.h"
#include "lib/cluster/settings.h"
#include "lib/node/nodeset.h"
#include "lib/plan/brake.h"
#include "lib/state/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define SPACE_LEAST (256u << 10) /* bytes */
#define EC2_LIMIT_MS 5000 /* a person waits */

static char *why(const struct err *e)
{
	return str_dup(e->text[0] ? e->text : "no reason known");
}

static const char *owner_of(const struct look *l)
{
	return l->gen->slurm_user ? l->gen->slurm_user : SLURM_USER;
}

/* For the sources that lie in files of SlurmUser: an ordinary user is told that it is not trouble, but not for him. */
static char *why_closed(const struct look *l, const struct err *e)
{
	uid_t uid;
	gid_t gid;

	if (geteuid() == 0 || user_lookup(owner_of(l), &uid, &gid, NULL) < 0 || uid == geteuid() ||
	    !(strstr(e->text, strerror(EACCES)) || strstr(e->text, "owner")))
		return why(e);
	return str_fmt("this part needs root or SlurmUser (%s): %s", owner_of(l), e->text);
}

/* --- slurmctld */

static void read_slurm(struct look *l, const char *note, const char *conf, slurmctl_job_fn wanted, const void *of)
{
	struct err e = {0};

	if (session_slurm_open(note, conf, &e)) {
		l->slurm_away = why(&e);
		return;
	}
	if (slurmctl_ping(&e) || slurmctl_nodes(&l->nodes, &e) || slurmctl_partitions(&l->partitions, &e) ||
	    slurmctl_jobs(wanted, of, &l->jobs, &e))
		l->slurm_away = why(&e);
	slurmctl_close();
	if (l->slurm_away) { /* a part of it is no picture */
		nodes_clear(&l->nodes);
		partitions_clear(&l->partitions);
		slurmctl_jobs_clear(&l->jobs);
	}
}

/* --- EC2 */

static int keep_machines(struct look *l, const struct instances *from, size_t cloud)
{
	for (size_t i = 0; from && i < from->n; i++) {
		struct instance *m = instances_add(&l->instances);

		if (!m)
			return -1;
		*m = from->v[i];
		m->cloud = cloud;
	}
	return 0;
}

static int keep_healths(struct look *l, const struct healths *from)
{
	for (size_t i = 0; from && i < from->n; i++) {
		struct health *h = healths_add(&l->healths);

		if (!h)
			return -1;
		*h = from->v[i];
	}
	return 0;
}

/* The call is kept, for its answer is used as it stands. */
static int ask(struct look *l, struct aws *a, struct ec2_call *c, struct err *e)
{
	if (!c)
		return err_nomem(e);
	l->calls[l->n_calls++] = c;
	return ec2_perform_one(a, c, clock_mono_ms() + EC2_LIMIT_MS, e);
}

/* Machines in one cloud, then how they are. Without the second the first still tells much. */
static int read_cloud(struct look *l, const struct settings *set, size_t i, struct err *e)
{
	struct aws *a = i ? world_cloud_aws(set, &l->gen->clouds[i - 1], true, e) : world_aws(set, l->gen->region, true, e);
	struct ec2_call *c = a ? ec2_describe_cluster(l->gen->uuid) : NULL;
	int rc = a ? ask(l, a, c, e) : -1;

	if (rc == 0 && keep_machines(l, ec2_describe_reply(c), i))
		rc = err_nomem(e);
	if (rc == 0) {
		struct ec2_call *h = ec2_describe_unwell();

		l->has_healths =
		    ask(l, a, h, NULL) == 0 && keep_healths(l, ec2_describe_unwell_reply(h)) == 0 && (i == 0 || l->has_healths);
	}
	aws_destroy(a);
	return rc;
}

static void read_ec2(struct look *l, const struct settings *set)
{
	size_t n = l->gen->n_clouds + 1, there = 0;
	struct err e = {0};

	l->calls = calloc(2 * n, sizeof(*l->calls));
	l->cloud_unread = calloc(n, sizeof(*l->cloud_unread));
	if (!l->calls || !l->cloud_unread)
		err_nomem(&e);
	for (size_t i = 0; i < n && l->calls && l->cloud_unread; i++) {
		l->cloud_unread[i] = read_cloud(l, set, i, &e) < 0;
		there += !l->cloud_unread[i];
	}
	if (there < n)
		l->ec2_away = why_closed(l, &e);
	if (!there) {
		free(l->cloud_unread);
		l->cloud_unread = NULL;
	}
}

/* --- our state */

static int read_ms(struct store *s, const char *name, int64_t *ms, struct err *e)
{
	char *word = NULL;
	int rc = store_word(s, name, &word, NULL, e);

	if (rc == 0 && word)
		num_i64(word, 0, INT64_MAX, ms, NULL);
	free(word);
	return rc;
}

static int read_words(struct look *l, struct store *s, struct err *e)
{
	char *fleet = NULL, *closed = NULL, *confirm = NULL;
	int rc = store_word(s, FLEET_WORD, &fleet, &l->fleet_set_ms, e);

	if (rc == 0) {
		fleet_parse(fleet, &l->fleet);
		rc = read_ms(s, FREEZE_WORD, &l->frozen_until_ms, e);
	}
	if (rc == 0)
		rc = store_word(s, BRAKE_CONFIRM_WORD, &confirm, &l->confirmed_ms, e);
	if (rc == 0)
		rc = store_word(s, FLEET_CLOSED_WORD, &closed, NULL, e);
	if (rc == 0 && fleet_closed_parse(closed, &l->closed) < 0)
		rc = err_nomem(e);
	free(closed);
	free(confirm);
	free(fleet);
	return rc;
}

/* Static nodes that are not launched before a time, by their names. */
static int read_backoff(struct look *l, struct store *s, struct err *e)
{
	struct kvs all = {0};
	int rc = store_counters(s, STATIC_BACKOFF_PREFIX, &all, e);

	for (size_t i = 0; rc == 0 && i < all.key.n; i++)
		if (kvs_add(&l->backoff, all.key.v[i] + strlen(STATIC_BACKOFF_PREFIX), all.val.v[i]))
			rc = err_nomem(e);
	kvs_clear(&all);
	return rc;
}

static int find_dead(struct look *l, struct err *e)
{
	for (size_t i = 0; i < l->launches.n; i++) {
		const struct launch *row = &l->launches.v[i];

		if ((row->pid <= 0 || row->pid == l->daemon || (kill((pid_t)row->pid, 0) < 0 && errno == ESRCH)) &&
		    strs_add(&l->dead, row->id))
			return err_nomem(e);
	}
	return 0;
}

static int read_rows(struct look *l, struct store *s, struct err *e)
{
	int64_t since = l->now_ms - l->rules.protect.window_ms;

	if (store_bindings(s, &l->bindings, e) || store_launches_open(s, &l->launches, e) ||
	    store_shortages(s, &l->shortages, e) || store_failures(s, since, &l->failures, e) || read_backoff(l, s, e) ||
	    read_words(l, s, e) || store_sources(s, &l->sources, e))
		return -1;
	return find_dead(l, e);
}

static void forget_rows(struct look *l)
{
	launches_clear(&l->launches);
	bindings_clear(&l->bindings);
	shortages_clear(&l->shortages);
	failures_clear(&l->failures);
	kvs_clear(&l->backoff);
	kvs_clear(&l->closed);
	strs_clear(&l->dead);
	source_rows_clear(&l->sources);
}

/* Less than a transaction needs. */
static bool is_full(const char *folder)
{
	struct statvfs v;

	return statvfs(folder, &v) == 0 && (v.f_bavail * v.f_frsize < SPACE_LEAST || (v.f_files > 0 && v.f_favail == 0));
}

/* Those that are not to be seen only lose a hint. */
static void read_consoles(struct look *l)
{
	DIR *dir = opendir(CONSOLE_DIR);
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (*d->d_name != '.' && strs_add(&l->consoles, d->d_name))
			break;
	if (dir)
		closedir(dir);
}

/* As SlurmUser, since root's hands must not make files there. */
static void read_state(struct look *l)
{
	bool became = geteuid() == 0 && user_become(owner_of(l), NULL) == 0;
	struct err e = {0};
	struct store *s;

	l->has_daemon = faccessat(AT_FDCWD, CLUSTERMGTD_LOCK, R_OK | W_OK, AT_EACCESS) == 0 || errno == ENOENT;
	l->daemon = lock_holder(CLUSTERMGTD_LOCK);
	l->disk_full = is_full(PKGSTATEDIR);
	s = store_open_readonly(STORE_PATH, &e);
	if (!s || read_rows(l, s, &e)) {
		l->state_away = why_closed(l, &e);
		forget_rows(l);
	}
	store_close(s);
	read_consoles(l);
	if (became)
		user_restore();
}

static struct look_rules rules_of(const struct settings *s)
{
	return (struct look_rules){
	    .loop_ms = s->loop_s * 1000,
	    .heartbeat_limit_ms = s->heartbeat_limit_s * 1000,
	    .orphan_grace_ms = s->orphan_grace_s * 1000,
	    .health_grace_ms = s->health_grace_s * 1000,
	    .event_lead_ms = s->event_lead_s * 1000,
	    .terminate_share = s->terminate_share,
	    .protect = {.count = s->protected_count, .window_ms = s->protected_window_s * 1000},
	};
}

int look_read(struct look *l, const char *note, slurmctl_job_fn wanted, const void *of, struct err *e)
{
	struct settings *set = session_last_settings(e);

	*l = (struct look){.now_ms = clock_wall_ms()};
	if (!set)
		return -1;
	l->rules = rules_of(set);
	l->gen = generation_load(APPLIED_DIR, e);
	if (l->gen) {
		read_state(l);
		read_slurm(l, note, set->slurm_conf, wanted, of);
		read_ec2(l, set);
	}
	settings_destroy(set);
	return l->gen ? 0 : -1;
}

void look_clear(struct look *l)
{
	generation_destroy(l->gen);
	nodes_clear(&l->nodes);
	partitions_clear(&l->partitions);
	slurmctl_jobs_clear(&l->jobs);
	free(l->instances.v);
	free(l->healths.v);
	for (size_t i = 0; i < l->n_calls; i++)
		ec2_call_destroy(l->calls[i]);
	free(l->calls);
	free(l->cloud_unread);
	forget_rows(l);
	strs_clear(&l->consoles);
	nodeset_destroy(l->cycling);
	map_clear(&l->node);
	map_clear(&l->row);
	map_clear(&l->row_of);
	map_clear(&l->instance);
	free(l->protection);
	violations_clear(&l->violations);
	plan_clear(&l->plan);
	kvs_clear(&l->waits);
	free(l->slurm_away);
	free(l->ec2_away);
	free(l->state_away);
	*l = (struct look){0};
}
