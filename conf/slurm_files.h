/* slurm_files.h - the Slurm configuration of a cluster, as text: a pure function of cluster, instance facts, Slurm version and
 * what the site's own slurm.conf says already.
 *
 * slurm-ec2.conf (nodes, partitions, power saving) and, with GPUs, slurm-ec2-gres.conf; and the values that must be merged into
 * comma lists the site has already (slurm_conf.h does it). cgroup.conf is the site's.
 */
#ifndef SE_CONF_SLURM_FILES_H
#define SE_CONF_SLURM_FILES_H

#include "conf/site.h"
#include "lib/base/str.h"
#include "lib/cluster/generation.h"
#include "lib/node/itype.h"

struct err;
struct problems;

struct slurm_render {
	const struct cluster *cluster;
	const struct itypes *types;
	const struct site *site;		      /* NULL = an empty slurm.conf */
	int version;				      /* 2205, 2302, ...: major * 100 + minor */
	const char *resume_program, *suspend_program; /* absolute paths */
	int64_t suspend_timeout_s;
};

/* Append files {path "slurm/...", text} to *files. merged: key -> comma list we need in a line the site has; keys the site does
 * not have stand in slurm-ec2.conf. Collisions and conflicts with the site go to p, each with file and line. -1 if p got an
 * error or there is no memory (p->nomem). */
int slurmfiles_render(const struct slurm_render *in, struct gen_file **files, size_t *n, struct kvs *merged,
		      struct problems *p);
void gen_files_free(struct gen_file *files, size_t n);

/* "22.05.8" to 2205; -1 if it is no such text. */
int slurmfiles_version_number(const char *text);

#endif
