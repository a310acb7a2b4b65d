/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apply_here.c - apply's steps that look at this machine: the file, settings, Slurm, our folders, the generation applied
 * before.
 *
 * Makes our own folders (the daemons need them) unless it is a dry run, changes nothing else.
 */
#include "build_config.h"

#include "cli/apply_job.h"
#include "cli/session.h"
#include "conf/bootstrap.h"
#include "conf/slurm_files.h"
#include "lib/aws/aws.h"
#include "lib/aws/imds.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/num.h"
#include "lib/base/proc.h"
#include "lib/base/user.h"
#include "lib/cluster/fallback.h"
#include "lib/cluster/load.h"
#include "lib/slurmctl/slurmctl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define CALL_LIMIT_MS 60000
#define SLURMCTLD_PORT 6817
#define SLURMD_PORT 6818
#define CONF_MAX (16u << 20)

int64_t apply_deadline(void)
{
	return clock_mono_ms() + CALL_LIMIT_MS;
}

struct gen_resource *apply_resource(const struct apply_job *j, size_t q, size_t r)
{
	size_t at = r;

	for (size_t i = 0; i < q; i++)
		at += j->cluster->queues[i].n_resources;
	return &j->gen->resources[at];
}

int apply_read(const char *path, char **out, struct err *e)
{
	struct buf b = { 0 };

	*out = NULL;
	if (!file_exists(path))
		return 0;
	if (file_read(path, CONF_MAX, &b, e)) {
		buf_free(&b);
		return -1;
	}
	*out = str_dup(buf_text(&b));
	buf_free(&b);
	return *out ? 0 : err_nomem(e);
}

char *apply_beside(const char *slurm_conf, const char *name)
{
	const char *slash = strrchr(slurm_conf, '/');

	return str_fmt("%.*s/%s", (int)(slash - slurm_conf), slurm_conf, name);
}

/* --- the file and settings */

int apply_step_file(struct apply_job *j, struct buf *note, struct err *e)
{
	j->cluster = cluster_load(j->file, cluster_getenv_process, NULL, &j->problems);
	if (!j->cluster)
		return err_set(e, "%s has errors", j->file);
	buf_fmt(note, "%zu queue%s", j->cluster->n_queues, j->cluster->n_queues == 1 ? "" : "s");
	return 0;
}

int apply_step_settings(struct apply_job *j, struct buf *note, struct err *e)
{
	j->set = settings_load(SETTINGS_PATH, &j->problems);
	if (!j->set)
		return err_set(e, "%s has errors", SETTINGS_PATH);
	fallback_check(j->cluster, j->set, SETTINGS_PATH, &j->problems);
	if (fallback_note_types(j->cluster, j->set))
		return err_nomem(e);
	buf_str(note, file_exists(SETTINGS_PATH) ? SETTINGS_PATH : "defaults (there is no " SETTINGS_PATH ")");
	return 0;
}

/* --- Slurm */

static char *site_text(const struct site *s, const char *key, const char *otherwise)
{
	const struct site_key *k = site_find(s, key);

	return str_dup(k ? k->value : otherwise);
}

/* First number of "6820-6829". */
static int site_port(const struct site *s, const char *key, int otherwise)
{
	const struct site_key *k = site_find(s, key);
	char text[8];
	int64_t port;
	size_t n;

	if (!k)
		return otherwise;
	n = strcspn(k->value, "-");
	if (n >= sizeof(text))
		return otherwise;
	memcpy(text, k->value, n);
	text[n] = 0;
	return num_i64(text, 1, 65535, &port, NULL) ? otherwise : (int)port;
}

static char *munge_socket(const struct site *s)
{
	const struct site_key *k = site_find(s, "AuthInfo");
	const char *at = k ? strstr(k->value, "socket=") : NULL;

	return at ? strndup(at + 7, strcspn(at + 7, ",")) : NULL;
}

/* "slurm-wlm 22.05.8" or "slurm 23.11.10". */
static char *version_of_program(const char *slurmctld, struct err *e)
{
	const char *const argv[] = { slurmctld, "-V", NULL };
	struct buf out = { 0 };
	struct proc_result r;
	const char *space;
	char *version = NULL;

	if (proc_run(argv, NULL, 10000, &out, &r, e) == 0) {
		space = strrchr(buf_text(&out), ' ');
		if (space)
			version = strndup(space + 1, strcspn(space + 1, " \r\n"));
		if (!version || slurmfiles_version_number(version) < 0) {
			free(version);
			version = NULL;
			err_set(e, "%s -V tells no version (Slurmctld in %s names that program)", slurmctld, SETTINGS_PATH);
		}
	}
	buf_free(&out);
	return version;
}

static char *version_of_running(struct apply_job *j, struct err *e)
{
	struct slurmctl_conf c;
	char *version = NULL;

	if (!j->slurm_open && session_slurm_open("slurm-ec2 apply: nothing was changed", j->slurm_conf, e))
		return NULL;
	j->slurm_open = true;
	if (slurmctl_ping(e))
		return NULL;
	if (slurmctl_conf_load(&c, e) == 0) {
		version = str_dup(c.version);
		slurmctl_conf_clear(&c);
	}
	j->slurm_up = version != NULL;
	return version;
}

static int find_conf(struct apply_job *j, struct err *e)
{
	j->slurm_conf = realpath(j->set->slurm_conf, NULL);
	if (!j->slurm_conf)
		return err_errno(e, errno, "%s (SlurmConf in %s says where slurm.conf is)", j->set->slurm_conf, SETTINGS_PATH);
	if (site_load(&j->site, j->slurm_conf, e))
		return -1;
	if (access(RESUME_PROGRAM, X_OK) || access(SUSPEND_PROGRAM, X_OK))
		APPLY_PROBLEM(j, "%s or %s is not there: install slurm-ec2 on this machine", RESUME_PROGRAM, SUSPEND_PROGRAM);
	return 0;
}

/* Our programs become the user they were built for, and only root may become another. */
static int same_user(const char *slurm_user, struct err *e)
{
	uid_t theirs, ours;
	gid_t gid;

	if (user_lookup(slurm_user, &theirs, &gid, e))
		return err_prefix(e, "SlurmUser");
	if (user_lookup(SLURM_USER, &ours, &gid, e) == 0 && ours == theirs)
		return 0;
	return err_set(e, "SlurmUser is %s, but slurm-ec2 was built for %s: build it with ./configure --with-slurm-user=%s", slurm_user,
		       SLURM_USER, slurm_user);
}

static int fill_slurm(struct apply_job *j, char *version, struct err *e)
{
	struct generation *g = j->gen;
	const struct site_key *name = site_find(&j->site, "ClusterName");

	g->slurm_version = version;
	j->version = slurmfiles_version_number(version);
	g->slurm_user = site_text(&j->site, "SlurmUser", "root");
	g->slurmctld_port = site_port(&j->site, "SlurmctldPort", SLURMCTLD_PORT);
	j->slurmd_port = site_port(&j->site, "SlurmdPort", SLURMD_PORT);
	g->munge_socket = munge_socket(&j->site);
	g->cluster_name = str_dup(j->set->cluster_name ? j->set->cluster_name : name ? name->value : NULL);
	if (!g->cluster_name)
		return err_set(e, "%s has no ClusterName: give it one", j->slurm_conf);
	if (j->version < 2205)
		APPLY_PROBLEM(j, "slurmctld is %s: 22.05 or newer is needed", version);
	return g->slurm_user ? same_user(g->slurm_user, e) : err_nomem(e);
}

int apply_step_slurm(struct apply_job *j, struct buf *note, struct err *e)
{
	char *version;

	j->gen = calloc(1, sizeof(*j->gen));
	if (!j->gen)
		return err_nomem(e);
	if (find_conf(j, e))
		return -1;
	version = version_of_running(j, e);
	if (!version)
		version = version_of_program(j->set->slurmctld, e);
	if (!version)
		return -1;
	if (fill_slurm(j, version, e))
		return -1;
	buf_fmt(note, "%s, %s, SlurmUser %s", j->slurm_conf, version, j->gen->slurm_user);
	if (!j->slurm_up)
		buf_str(note, "; slurmctld is down and will be started");
	return 0;
}

/* --- our folders and the generation before */

static int own_folder(const char *path, mode_t mode, uid_t uid, gid_t gid, struct err *e)
{
	int fd, rc = 0;

	if (file_mkdirs(path, mode, e))
		return -1;
	/* by descriptor, so that no link put there meanwhile is followed */
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_errno(e, errno, "%s", path);
	if (fchown(fd, uid, gid) || fchmod(fd, mode))
		rc = err_errno(e, errno, "%s", path);
	close(fd);
	return rc;
}

int apply_lock(const char *slurm_user, struct err *e)
{
	int fd, num;

	if (user_become(slurm_user, e))
		return -1;
	fd = open(PKGSTATEDIR "/apply.lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	num = errno;
	user_restore();
	if (fd < 0)
		return err_errno(e, num, "%s", PKGSTATEDIR "/apply.lock");
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	return err_set(e, "another slurm-ec2 apply or uninstall is running");
}

int apply_step_folders(struct apply_job *j, struct buf *note, struct err *e)
{
	uid_t uid;
	gid_t gid;

	if (user_lookup(j->gen->slurm_user, &uid, &gid, e))
		return -1;
	if (j->dry_run) {
		buf_str(note, file_exists(APPLIED_DIR) ? "there" : "not made in a dry run");
		return 0;
	}
	if (own_folder(PKGSTATEDIR, 0755, uid, gid, e) || own_folder(APPLIED_DIR, 0755, uid, gid, e) ||
	    own_folder(PKGLOGDIR, 0755, uid, gid, e))
		return -1;
	buf_str(note, PKGSTATEDIR ", " PKGLOGDIR);
	j->lock_fd = apply_lock(j->gen->slurm_user, e);
	return j->lock_fd < 0 ? -1 : 0;
}

static int load_previous(struct apply_job *j, struct err *e)
{
	if (user_become(j->gen->slurm_user, e))
		return -1;
	if (file_exists(APPLIED_DIR "/current")) {
		j->old = generation_load(APPLIED_DIR, e);
		if (!j->old)
			err_prefix(
				e,
				"the applied generation cannot be read, and with it goes the cluster's UUID; bring it back, or remove "
				"%s and give --adopt UUID (tag " TAG_CLUSTER " of the machines)",
				APPLIED_DIR "/current");
	} else {
		e->text[0] = 0;
	}
	user_restore();
	return j->old || !e->text[0] ? 0 : -1;
}

static bool uuid_ok(const char *s)
{
	return strlen(s) == 36 && s[strspn(s, "0123456789abcdef-")] == 0;
}

int apply_step_previous(struct apply_job *j, struct buf *note, struct err *e)
{
	struct generation *g = j->gen;
	char fresh[37];

	if (load_previous(j, e))
		return -1;
	if (j->adopt && !uuid_ok(j->adopt))
		return err_set(e, "--adopt %s: not a UUID", j->adopt);
	if (j->adopt && j->old && strcmp(j->adopt, j->old->uuid) != 0)
		return err_set(e, "--adopt %s: this head node has cluster %s already", j->adopt, j->old->uuid);
	rand_uuid(fresh);
	g->uuid = str_dup(j->old ? j->old->uuid : j->adopt ? j->adopt : fresh);
	g->number = j->old ? j->old->number + 1 : 1;
	if (!g->uuid)
		return err_nomem(e);
	if (j->old && strcmp(j->old->cluster_name, g->cluster_name) != 0)
		APPLY_PROBLEM(
			j,
			"the applied cluster is named %s, now it would be %s: set ClusterName in %s to keep the name, or run "
			"slurm-ec2 uninstall first",
			j->old->cluster_name, g->cluster_name, SETTINGS_PATH);
	if (j->old)
		buf_fmt(note, "generation %" PRId64 ", ", j->old->number);
	else
		buf_str(note, "first one, ");
	buf_fmt(note, "cluster %s %s", g->cluster_name, g->uuid);
	return 0;
}

/* --- the head's address, and with it the rest of the generation */

static bool is_address(const char *s)
{
	unsigned char b[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, s, b) == 1 || inet_pton(AF_INET6, s, b) == 1;
}

/* The address in "name(10.0.0.1)", or the name if it is one itself. Caller frees. */
static char *address_of_host(const char *value)
{
	const char *open = strchr(value, '(');
	char *text = open ? strndup(open + 1, strcspn(open + 1, ")")) : str_dup(value);

	if (text && is_address(text))
		return text;
	free(text);
	return NULL;
}

static char *address_of_imds(const struct settings *s)
{
	struct imds *i = imds_create(s->imds_endpoint);
	struct buf b = { 0 };
	char *address = NULL;

	if (i && imds_get(i, "meta-data/local-ipv4", &b, NULL) == 1 && is_address(buf_text(&b)))
		address = str_dup(buf_text(&b));
	buf_free(&b);
	imds_destroy(i);
	return address;
}

static int find_address(struct apply_job *j, struct err *e)
{
	const struct site_key *host = site_find(&j->site, "SlurmctldHost");

	if (j->set->head_address) {
		j->gen->head_address = str_dup(j->set->head_address);
		return is_address(j->set->head_address)
			       ? 0
			       : err_set(e, "HeadNodeAddress %s is not an IP address", j->set->head_address);
	}
	if (host)
		j->gen->head_address = address_of_host(host->value);
	if (!j->gen->head_address)
		j->gen->head_address = address_of_imds(j->set);
	if (!j->gen->head_address)
		return err_set(
			e,
			"the address nodes reach slurmctld at is not known: set HeadNodeAddress in %s, or write SlurmctldHost=name(address)",
			SETTINGS_PATH);
	return 0;
}

int apply_step_head(struct apply_job *j, struct buf *note, struct err *e)
{
	struct generation *g = j->gen;

	if (find_address(j, e))
		return -1;
	g->region = str_dup(j->cluster->region);
	g->scaling = j->cluster->scaling;
	g->resume_timeout_s = j->cluster->resume_timeout_s;
	g->suspend_timeout_s = j->set->suspend_timeout_s;
	if (!g->region)
		return err_set(e, "%s names no Region", j->file);
	if (apply_fill_resources(j, e))
		return -1;
	g->bootstrap = bootstrap_render(g, e);
	if (!g->bootstrap)
		return err_prefix(e, "boot script");
	buf_fmt(note, "%s port %d", g->head_address, g->slurmctld_port);
	return 0;
}

static void clear_queues(struct apply_job *j)
{
	for (size_t i = 0; j->queues && i < j->cluster->n_queues; i++) {
		strs_clear(&j->queues[i].images);
		strs_clear(&j->queues[i].root_devices);
		strs_clear(&j->queues[i].groups);
		free(j->queues[i].vpc);
	}
	free(j->queues);
}

void apply_job_clear(struct apply_job *j)
{
	clear_queues(j);
	for (size_t i = 0; i < j->n_install; i++) {
		free(j->install[i].path);
		free(j->install[i].old_text);
		free(j->install[i].new_text);
	}
	free(j->install);
	gen_files_free(j->files, j->n_files);
	strs_clear(&j->head_groups);
	itypes_clear(&j->types);
	for (size_t i = 0; i < j->n_clouds; i++) {
		aws_destroy(j->clouds[i].daemon_aws);
		aws_destroy(j->clouds[i].aws);
	}
	free(j->clouds);
	generation_destroy(j->old);
	generation_destroy(j->gen);
	if (j->slurm_open)
		slurmctl_close();
	site_clear(&j->site);
	free(j->slurm_conf);
	settings_destroy(j->set);
	cluster_destroy(j->cluster);
	problems_clear(&j->problems);
	if (j->lock_fd >= 0)
		close(j->lock_fd);
}
