/* apply_job.h - one run of `slurm-ec2 apply`: what was read, what was decided, what was made; shared by the apply_*.c files.
 *
 * A step is one line on the screen. Steps before the gate read and judge only: they add to `problems` and fail only if the
 * steps after them would make no sense. Steps after the gate change things; each that fails undoes what would hurt.
 */
#ifndef SE_CLI_APPLY_JOB_H
#define SE_CLI_APPLY_JOB_H

#include "conf/site.h"
#include "lib/aws/ec2.h"
#include "lib/base/buf.h"
#include "lib/base/problem.h"
#include "lib/base/str.h"
#include "lib/cluster/cluster.h"
#include "lib/cluster/generation.h"
#include "lib/cluster/settings.h"
#include "lib/node/itype.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct aws;
struct err;

/* A connection: 0 = the cluster's cloud, then those of the new generation's `clouds`, then those that only the generation before
 * had, where there may be something to tidy. */
struct apply_cloud {
	const char *region;	/* borrowed from a generation */
	struct aws *aws;	/* with this person's environment */
	struct aws *daemon_aws; /* as the programs that slurmctld starts will do it; only as SlurmUser; NULL for an old one */
};

/* What was decided for one queue, in the order of cluster->queues. */
struct apply_queue {
	struct strs images;	  /* one a resource: image ids */
	struct strs root_devices; /* one a resource, "" = unknown */
	struct strs groups;	  /* security groups in force */
	char *vpc;
	int64_t cloud; /* of all its resources; as gen_resource.cloud */
};

/* One file of Slurm's folder: before and after. */
struct apply_file {
	char *path;
	char *old_text; /* NULL = there was none */
	char *new_text; /* NULL = there shall be none */
	mode_t mode;
	uid_t uid;
	gid_t gid;
};

struct apply_job {
	const char *file;
	const char *adopt; /* --adopt UUID, NULL = a new one at the first apply */
	bool dry_run;
	struct problems problems;
	struct settings *set;
	struct cluster *cluster;
	int lock_fd;

	char *slurm_conf; /* with symbolic links resolved */
	struct site site;
	bool slurm_up;
	bool slurm_open;
	int version; /* of slurmctld, 2205 */
	int slurmd_port;

	struct generation *old, *gen; /* applied now (or NULL), and the one to be */
	struct apply_cloud *clouds;
	size_t n_clouds;
	struct itypes types;
	struct apply_queue *queues;
	struct strs head_groups;
	bool head_in_ec2;

	struct gen_file *files;
	size_t n_files;
	struct apply_file *install;
	size_t n_install;
	bool restart; /* else reconfigure is enough */
	bool changed; /* any file of Slurm's folder differs */
	bool unmake;  /* in EC2 only what the generation before uses is kept */
	bool tried;   /* the install has begun */
	bool stored;  /* the new generation is current */
};

/* note: what the step found, for its line. */
typedef int (*apply_step_fn)(struct apply_job *j, struct buf *note, struct err *e);

/* A problem without a place, or at a place of cluster.yaml. */
#define APPLY_PROBLEM(j, ...) problems_add(&(j)->problems, PROBLEM_ERROR, NULL, 0, 0, NULL, __VA_ARGS__)
#define APPLY_PROBLEM_AT(j, place, ...)                                                                                        \
	problems_add(&(j)->problems, PROBLEM_ERROR, (j)->cluster->file, (place).line, (place).column, NULL, __VA_ARGS__)
#define APPLY_WARN(j, ...) problems_add(&(j)->problems, PROBLEM_WARNING, NULL, 0, 0, NULL, __VA_ARGS__)

/* apply_here.c: what is on this machine */
int apply_step_file(struct apply_job *j, struct buf *note, struct err *e);
int apply_step_settings(struct apply_job *j, struct buf *note, struct err *e);
int apply_step_slurm(struct apply_job *j, struct buf *note, struct err *e);
int apply_step_folders(struct apply_job *j, struct buf *note, struct err *e);
int apply_step_previous(struct apply_job *j, struct buf *note, struct err *e);
int apply_step_head(struct apply_job *j, struct buf *note, struct err *e);

/* apply_resources.c: the generation's resources. First what the files say, then (types of reservations known) their stages, then
 * the launch overrides. */
int apply_fill_resources(struct apply_job *j, struct err *e);
int apply_fill_stages(struct apply_job *j, struct err *e);
void apply_fill_overrides(struct apply_job *j);
bool apply_same_cloud(const struct gen_cloud *a, const struct gen_cloud *b);
/* Region of the i-th queue. */
const char *apply_region(const struct apply_job *j, size_t queue);

/* apply_cloud.c: what EC2 has */
int apply_step_account(struct apply_job *j, struct buf *note, struct err *e);
int apply_step_types(struct apply_job *j, struct buf *note, struct err *e);
int apply_step_images(struct apply_job *j, struct buf *note, struct err *e);
int apply_step_machines(struct apply_job *j, struct buf *note, struct err *e);

/* apply_network.c: subnets and security groups */
int apply_step_network(struct apply_job *j, struct buf *note, struct err *e);

/* apply_files.c: the Slurm files, before they are installed */
int apply_step_render(struct apply_job *j, struct buf *note, struct err *e);
int apply_step_shrink(struct apply_job *j, struct buf *note, struct err *e);
int apply_step_jobs(struct apply_job *j, struct buf *note, struct err *e);
/* True if a Slurm file of ours changed, for --dry-run. */
void apply_files_show(const struct apply_job *j);

/* apply_make.c: what is made in EC2 */
int apply_step_rules(struct apply_job *j, struct buf *note, struct err *e);
int apply_step_placement(struct apply_job *j, struct buf *note, struct err *e);
int apply_step_templates(struct apply_job *j, struct buf *note, struct err *e);
int apply_step_try_launch(struct apply_job *j, struct buf *note, struct err *e);
int apply_step_tidy(struct apply_job *j, struct buf *note, struct err *e);
/* After an apply that failed: what it made in EC2 and the generation before does not use must go. */
void apply_unmake(struct apply_job *j);

/* apply_scratch.c: a scratch slurmctld's word on the new files */
int apply_step_scratch(struct apply_job *j, struct buf *note, struct err *e);

/* apply_install.c: the change itself; undone as a whole if slurmctld does not answer */
int apply_step_install(struct apply_job *j, struct buf *note, struct err *e);
/* Write files (new text, or old again), in the order that never shows slurm.conf an include that is missing. Shared with
 * uninstall. */
int apply_install_files(const struct apply_file *f, size_t n, bool back, struct err *e);
/* Remove the copies that apply_install_files keeps beside the site's files. */
void apply_forget_copies(const struct apply_file *f, size_t n);
/* Let the signals that end a program wait, a closed output's too; the mask before goes to *before. */
void apply_hold_signals(sigset_t *before);
int apply_restart(const struct settings *s, struct err *e);
/* Wait until slurmctld answers. */
int apply_wait_slurm(int64_t limit_ms, struct err *e);

/* apply_here.c */
void apply_job_clear(struct apply_job *j);
/* Only one apply or uninstall at a time: the lock's descriptor, opened as SlurmUser; -1 with e. */
int apply_lock(const char *slurm_user, struct err *e);
/* Deadline of one call to EC2. */
int64_t apply_deadline(void);
/* The generation's resource of queue q and resource r, in file order. */
struct gen_resource *apply_resource(const struct apply_job *j, size_t q, size_t r);
/* Read a file if it exists; *out NULL if not. Caller frees. */
int apply_read(const char *path, char **out, struct err *e);
/* "<folder of slurm.conf>/<name>"; caller frees. */
char *apply_beside(const char *slurm_conf, const char *name);

#endif
