/* peers.h - keep the names of this machine's jobs' nodes resolvable when slurmctld forgets their addresses. */
#ifndef SE_COMPUTEMGTD_PEERS_H
#define SE_COMPUTEMGTD_PEERS_H

#include <stdint.h>

struct err;

struct peers_spec {
	const char *conf; /* a slurm.conf with what a client needs */
	const char *name; /* of this machine's node */
	const char *file; /* /etc/hosts */
	int64_t timeout_s; /* ResumeTimeout */
};

/* Runs until it is killed, or 0 at once if this Slurm does not forget. -1 with e: it cannot begin. */
int peers_keep(const struct peers_spec *s, struct err *e);

#endif
