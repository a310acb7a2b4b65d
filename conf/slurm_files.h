/* slurm_files.h - the Slurm configuration of a cluster, as text: a pure function of cluster, instance facts and Slurm version.
 *
 * slurm-ec2.conf (nodes, partitions, power saving), gres.conf, cgroup.conf when absent; and the keys that must be merged into
 * the site's own slurm.conf lines (SlurmctldParameters, PrivateData, ...).
 */
#ifndef SE_CONF_SLURM_FILES_H
#define SE_CONF_SLURM_FILES_H

#include "lib/base/str.h"
#include "lib/cluster/generation.h"
#include "lib/node/itype.h"

struct err;
struct problems;

struct slurm_render {
	const struct cluster *cluster;
	const struct itypes *types;
	int version;              /* 2205, 2302, ...: major * 100 + minor */
	const char *resume_program, *suspend_program; /* absolute paths */
	int64_t suspend_timeout_s;
	bool site_has_nodes;      /* physical nodes in the site's own files: global SuspendTime=INFINITE, ours per partition (always so) */
};

/* Append files {path "slurm/...", text} to *files. merged: key -> values we need inside a comma list of the site's own file. */
int slurm_files_render(const struct slurm_render *in, struct gen_file **files, size_t *n, struct kvs *merged, struct problems *p);
void gen_files_free(struct gen_file *files, size_t n);

/* The site's slurm.conf with our Include (relative) and the merged keys. `site` is the present text (may already carry ours: idempotent).
 * Conflicts (our Include missing power, another ResumeProgram, SelectType linear ...) are problems with file and line and what to change. Caller frees. */
char *slurm_conf_merge(const char *path, const char *site, const struct kvs *merged, struct problems *p);
/* The reverse, for uninstall. */
char *slurm_conf_unmerge(const char *path, const char *site, const struct kvs *merged, struct problems *p);

/* RealMemory and CPUs of a resource as written to NodeName. 0, or -1 if a type is unknown. */
int resource_hardware(const struct queue *q, const struct compute_resource *r, const struct itypes *types, int *cpus,
		      int64_t *real_memory_mib);

#endif
