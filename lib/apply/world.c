/* SPDX-License-Identifier: GPL-2.0-or-later */
/* world.c - what a program opens at its start: identity, log, settings, generation, state, aws, libslurm. */
#include "lib/apply/apply.h"

#include "lib/apply/event.h"
#include "lib/apply/last_settings.h"
#include "lib/aws/aws.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/base/num.h"
#include "lib/base/proc.h"
#include "lib/base/str.h"
#include "lib/base/user.h"
#include "lib/cluster/generation.h"
#include "lib/cluster/settings.h"
#include "lib/slurmctl/slurmctl.h"
#include "lib/state/store.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

volatile sig_atomic_t apply_stop;

static void on_stop(int sig)
{
	(void)sig;
	apply_stop = 1;
}

void apply_catch_signals(void)
{
	struct sigaction a = {.sa_handler = on_stop}; /* no SA_RESTART: a wait ends at once */

	sigemptyset(&a.sa_mask);
	sigaction(SIGTERM, &a, NULL);
	sigaction(SIGINT, &a, NULL);
}

static int open_log(const char *ident, bool foreground, enum log_level level, struct err *e)
{
	char path[PATH_MAX];

	if (foreground)
		return log_open(ident, NULL, level, e);
	snprintf(path, sizeof path, "%s/%s.log", PKGLOGDIR, ident);
	return log_open(ident, path, level, e);
}

int world_begin(const char *ident, bool foreground, struct err *e)
{
	struct err log_err = {""};
	int rc;

	proc_sane();
	/* before the log: a file that root made could not be appended to by SlurmUser later */
	rc = user_drop(SLURM_USER, e);
	if (open_log(ident, foreground, LOG_INFO_LEVEL, &log_err) < 0)
		log_warn("%s", log_err.text);
	return rc;
}

static void identify_settings(struct world *w)
{
	struct stat st;

	memset(&w->settings_file, 0, sizeof w->settings_file);
	if (stat(SETTINGS_PATH, &st))
		return;
	w->settings_file.dev = st.st_dev;
	w->settings_file.ino = st.st_ino;
	w->settings_file.changed_ns = st.st_ctim.tv_sec * INT64_C(1000000000) + st.st_ctim.tv_nsec;
}

/* A file that cannot be used is said, as often as say_again() lets us, and once as an event. */
static void tell_settings(struct world *w)
{
	if (!w->settings_trouble.text[0])
		return;
	if (say_again(w->settings_trouble.text))
		log_error("%s; going on with what this file said when it was last right", w->settings_trouble.text);
	if (!w->settings_told)
		apply_event(w, "settings-refused", NULL, NULL, w->settings_trouble.text);
	w->settings_told = true;
}

static int open_settings(struct world *w, bool keep, struct err *e)
{
	identify_settings(w); /* before the file is read: a change meanwhile is one for the next look */
	w->settings = last_settings_load(keep, &w->settings_trouble, e);
	return w->settings ? 0 : -1;
}

static int read_rates(const struct settings *s, struct aws_rates *r, struct err *e)
{
	const struct {
		const char *key, *text;
		struct aws_rate *rate;
	} all[] = {
	    {"LaunchRate", s->launch_rate, &r->launch_requests},
	    {"LaunchInstancesRate", s->launch_instances_rate, &r->launch_instances},
	    {"TerminateRate", s->terminate_rate, &r->terminate_requests},
	    {"TerminateInstancesRate", s->terminate_instances_rate, &r->terminate_instances},
	    {"ReadRate", s->read_rate, &r->reads},
	    {"ChangeRate", s->change_rate, &r->changes},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (aws_rate_parse(all[i].text, all[i].rate, e))
			return err_prefix(e, "%s: %s", SETTINGS_PATH, all[i].key);
	return 0;
}

struct aws *world_cloud_aws(const struct settings *s, const struct gen_cloud *cloud, bool person, struct err *e)
{
	struct aws_config c = {
	    .region = cloud->region,
	    .endpoint = cloud->endpoint,
	    .profile = cloud->profile ? cloud->profile : s->profile,
	    .credentials_file = s->credentials_file,
	    .config_file = s->config_file,
	    .imds_endpoint = s->imds_endpoint,
	    .proxy = s->proxy,
	    .ca_bundle = s->ca_bundle,
	    .no_proxy = s->no_proxy,
	    .sts_endpoint = s->sts_endpoint,
	    .share_dir = PKGSTATEDIR "/aws",
	    .person = person,
	    .stop = &apply_stop,
	};

	if (read_rates(s, &c.rates, e))
		return NULL;
	return aws_create(&c, e);
}

struct aws *world_aws(const struct settings *s, const char *region, bool person, struct err *e)
{
	struct gen_cloud own = {.region = (char *)region, .endpoint = s->endpoint};

	return world_cloud_aws(s, &own, person, e);
}

struct aws *world_cloud_at(const struct world *w, size_t i)
{
	return i == 0 ? w->aws : i - 1 < w->n_clouds ? w->clouds[i - 1] : NULL;
}

/* One connection a cloud of the generation; none is used before its first call. */
static int open_clouds(struct world *w, const struct generation *g, struct err *e)
{
	w->aws = world_aws(w->settings, g->region, false, e);
	w->clouds = calloc(g->n_clouds + 1, sizeof(*w->clouds));
	if (!w->aws || !w->clouds)
		return w->aws ? err_nomem(e) : -1;
	for (size_t i = 0; i < g->n_clouds; i++) {
		w->clouds[i] = world_cloud_aws(w->settings, &g->clouds[i], false, e);
		if (!w->clouds[i])
			return -1;
		w->n_clouds++;
	}
	return 0;
}

static void close_clouds(struct world *w)
{
	for (size_t i = 0; i < w->n_clouds; i++)
		aws_destroy(w->clouds[i]);
	free(w->clouds);
	w->clouds = NULL;
	w->n_clouds = 0;
	aws_destroy(w->aws);
	w->aws = NULL;
}

bool world_credentials_open(const struct settings *s, mode_t *mode)
{
	struct stat st;
	uid_t uid;
	gid_t gid;

	if (!s->credentials_file || stat(s->credentials_file, &st) || !S_ISREG(st.st_mode))
		return false;
	*mode = st.st_mode & 07777;
	if (st.st_mode & (S_IRWXO | S_IWGRP))
		return true;
	return st.st_mode & S_IRGRP && (user_lookup(SLURM_USER, &uid, &gid, NULL) || gid != st.st_gid);
}

static void note_store_file(struct world *w)
{
	struct stat st;

	if (stat(STORE_PATH, &st) == 0) {
		w->store_dev = st.st_dev;
		w->store_ino = st.st_ino;
	}
}

static int open_store(struct world *w, struct err *e)
{
	struct err note = {""};

	w->store = store_open(STORE_PATH, &note, e);
	if (note.text[0])
		log_warn("%s", note.text);
	if (!w->store)
		return -1;
	note_store_file(w);
	return 0;
}

static bool slurm_is_open;
static const char *conf_being_read; /* not NULL while slurm_init() runs */

/* libslurm ends the process on a slurm.conf it does not like; without this the log would just stop. */
static void explain_exit(void)
{
	if (conf_being_read)
		log_error("libslurm refused %s and ended this process; `scontrol show config` as SlurmUser tells why",
			  conf_being_read);
}

static int open_slurm(const char *conf, struct err *e)
{
	static bool registered;
	int rc;

	if (!registered)
		registered = atexit(explain_exit) == 0;
	conf_being_read = conf;
	rc = slurmctl_open(conf, e);
	conf_being_read = NULL;
	slurm_is_open = rc == 0;
	return rc;
}

static int open_common(struct world *w, struct err *e)
{
	w->gen = generation_load(APPLIED_DIR, e);
	if (!w->gen)
		return -1;
	if (open_clouds(w, w->gen, e))
		return -1;
	return open_slurm(w->settings->slurm_conf, e);
}

static void reopen_events(struct world *w, enum event_level level)
{
	struct err e = {""};

	if (w->events)
		event_log_reopen(w->events, level, &e);
	else
		w->events = event_log_open(EVENT_LOG_PATH, w->ident, level, &e);
	if (e.text[0] && say_again(e.text))
		log_warn("%s", e.text);
}

/* With the level of the settings; rotated files are left for the new ones. */
static void reopen_log(struct world *w)
{
	enum log_level level = LOG_INFO_LEVEL;
	struct err e = {""};

	log_level_parse(w->settings->log_level, &level);
	if (open_log(w->ident, w->foreground, level, &e) < 0 && say_again(e.text))
		log_warn("%s", e.text);
	reopen_events(w, (enum event_level)level);
}

int world_open(struct world *w, const char *ident, bool foreground, struct err *e)
{
	*w = (struct world){.ident = ident, .foreground = foreground};
	if (open_settings(w, true, e) < 0)
		goto fail;
	reopen_log(w);
	if (open_store(w, e) < 0)
		goto fail;
	tell_settings(w);
	if (open_common(w, e) < 0)
		goto fail;
	return 0;
fail:
	world_close(w);
	return -1;
}

int world_open_readonly(struct world *w, struct err *e)
{
	struct err none = {""};

	*w = (struct world){0};
	if (open_settings(w, false, e) < 0 || open_common(w, e) < 0) {
		world_close(w);
		return -1;
	}
	w->store = store_open_readonly(STORE_PATH, &none);
	if (!w->store)
		log_info("%s", none.text);
	return 0;
}

static int refresh_store(struct world *w, struct err *e)
{
	struct stat st;
	struct store *old = w->store;

	if (stat(STORE_PATH, &st) == 0 && st.st_dev == w->store_dev && st.st_ino == w->store_ino)
		return 0;
	log_warn("%s was deleted or replaced; opening it anew, rows are rebuilt from Slurm and EC2", STORE_PATH);
	if (open_store(w, e) < 0) {
		w->store = old;
		return -1;
	}
	store_close(old);
	return 1;
}

/* Number of the generation that "current" points to, -1 if it cannot be told. */
static int64_t current_number(void)
{
	char target[PATH_MAX];
	ssize_t n = readlink(APPLIED_DIR "/current", target, sizeof target - 1);
	const char *base;
	int64_t number;

	if (n <= 0)
		return -1;
	target[n] = 0;
	base = strrchr(target, '/') ? strrchr(target, '/') + 1 : target;
	return num_i64(base, 0, INT64_MAX, &number, NULL) < 0 ? -1 : number;
}

/* Connections of `fresh` in the place of ours. */
static void take_clouds(struct world *w, struct world *fresh)
{
	close_clouds(w);
	w->aws = fresh->aws;
	w->clouds = fresh->clouds;
	w->n_clouds = fresh->n_clouds;
}

/* All or nothing; a file with mistakes changes nothing, and that is said again and again. */
static int refresh_settings(struct world *w, struct err *e)
{
	struct world fresh = {0};

	identify_settings(&fresh);
	if (!memcmp(&fresh.settings_file, &w->settings_file, sizeof fresh.settings_file)) {
		tell_settings(w);
		return 0;
	}
	w->settings_file = fresh.settings_file;
	fresh.settings = last_settings_load(true, &w->settings_trouble, NULL);
	w->settings_told = false;
	tell_settings(w);
	if (!fresh.settings || w->settings_trouble.text[0]) {
		settings_destroy(fresh.settings);
		return 0;
	}
	if (open_clouds(&fresh, w->gen, e) < 0) {
		close_clouds(&fresh);
		settings_destroy(fresh.settings);
		return err_prefix(e, "changed settings are not taken");
	}
	if (!str_eq(fresh.settings->slurm_conf, w->settings->slurm_conf))
		log_warn("SlurmConf changed in %s: it takes a new start of %s", SETTINGS_PATH, w->ident);
	take_clouds(w, &fresh);
	settings_destroy(w->settings);
	w->settings = fresh.settings;
	log_info("now working with the changed %s", SETTINGS_PATH);
	return 1;
}

static int refresh_generation(struct world *w, struct err *e)
{
	struct world fresh = {.settings = w->settings};
	struct generation *g;

	if (current_number() == w->gen->number)
		return 0;
	g = generation_load(APPLIED_DIR, e);
	if (!g)
		return -1;
	if (open_clouds(&fresh, g, e)) {
		close_clouds(&fresh);
		generation_destroy(g);
		return -1;
	}
	take_clouds(w, &fresh);
	log_info("now working with generation %lld (before: %lld)", (long long)g->number, (long long)w->gen->number);
	generation_destroy(w->gen);
	w->gen = g;
	return 1;
}

/* Each on its own: what cannot be taken keeps nothing else back. The last trouble is told. */
int world_refresh(struct world *w, struct err *e)
{
	int settings = refresh_settings(w, e), store, gen;

	reopen_log(w);
	store = refresh_store(w, e);
	gen = store < 0 ? -1 : refresh_generation(w, e);
	return settings < 0 || gen < 0 ? -1 : settings || store || gen;
}

void world_close(struct world *w)
{
	store_close(w->store);
	event_log_close(w->events);
	close_clouds(w);
	generation_destroy(w->gen);
	settings_destroy(w->settings);
	if (slurm_is_open)
		slurmctl_close();
	slurm_is_open = false;
	*w = (struct world){0};
}
