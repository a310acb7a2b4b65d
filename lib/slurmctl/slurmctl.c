/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurmctl.c - start and end of libslurm in a process, and what is common to the calls of this room. */
#include "lib/slurmctl/slurmctl.h"

#include "lib/base/err.h"
#include "lib/node/node.h"
#include "lib/slurmctl/slurm_compat.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* lib/node/node.h repeats Slurm's numbers so that pure code can test them; a release that renumbers them must not compile. */
#define SAME(ours, theirs) _Static_assert((ours) == (unsigned)(theirs), #ours " differs from Slurm's " #theirs)
SAME(NS_BASE, NODE_STATE_BASE);
SAME(NS_UNKNOWN, NODE_STATE_UNKNOWN);
SAME(NS_DOWN, NODE_STATE_DOWN);
SAME(NS_IDLE, NODE_STATE_IDLE);
SAME(NS_ALLOCATED, NODE_STATE_ALLOCATED);
SAME(NS_ERROR, NODE_STATE_ERROR);
SAME(NS_MIXED, NODE_STATE_MIXED);
SAME(NS_FUTURE, NODE_STATE_FUTURE);
SAME(NS_RES, NODE_STATE_RES);
SAME(NS_UNDRAIN, NODE_STATE_UNDRAIN);
SAME(NS_CLOUD, NODE_STATE_CLOUD);
SAME(NS_RESUME, NODE_RESUME);
SAME(NS_DRAIN, NODE_STATE_DRAIN);
SAME(NS_COMPLETING, NODE_STATE_COMPLETING);
SAME(NS_NO_RESPOND, NODE_STATE_NO_RESPOND);
SAME(NS_POWERED_DOWN, NODE_STATE_POWERED_DOWN);
SAME(NS_FAIL, NODE_STATE_FAIL);
SAME(NS_POWERING_UP, NODE_STATE_POWERING_UP);
SAME(NS_MAINT, NODE_STATE_MAINT);
SAME(NS_REBOOT_REQUESTED, NODE_STATE_REBOOT_REQUESTED);
SAME(NS_POWERING_DOWN, NODE_STATE_POWERING_DOWN);
SAME(NS_REBOOT_ISSUED, NODE_STATE_REBOOT_ISSUED);
SAME(NS_PLANNED, NODE_STATE_PLANNED);
SAME(NS_INVALID_REG, NODE_STATE_INVALID_REG);
SAME(NS_POWER_DOWN, NODE_STATE_POWER_DOWN);
SAME(NS_POWER_UP, NODE_STATE_POWER_UP);
SAME(NS_POWER_DRAIN, NODE_STATE_POWER_DRAIN);

const uint32_t slurmctl_state_down = NODE_STATE_DOWN;
const uint32_t slurmctl_state_resume = NODE_RESUME;
const uint32_t slurmctl_state_power_down = NODE_STATE_POWER_DOWN;
const uint32_t slurmctl_state_power_down_force = NODE_STATE_POWER_DOWN | NODE_STATE_POWERED_DOWN;
const uint32_t slurmctl_state_power_up = NODE_STATE_POWER_UP;
const uint32_t slurmctl_state_drain = NODE_STATE_DRAIN;
const uint32_t slurmctl_state_idle = NODE_STATE_IDLE;

int slurmctl_open(const char *conf, struct err *e)
{
	/* slurm_init() would retry a missing file for a minute and then exit(1) */
	if (access(conf, R_OK) < 0)
		return err_errno(e, errno, "cannot read %s", conf);
	slurm_init(conf);
	return 0;
}

void slurmctl_close(void)
{
	slurm_fini();
}

const char *slurmctl_library_version(void)
{
	static char text[16];

	/* within a major the library keeps its soname, so the headers' version names the one that was loaded up to its micro
	 * number */
	snprintf(text, sizeof text, "%02d.%02d.%d", SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER),
		 SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER), SLURM_VERSION_MICRO(SLURM_VERSION_NUMBER));
	return text;
}

int slurmctl_fail(struct err *e, const char *what)
{
	return err_set(e, "%s: %s", what, slurm_strerror(errno));
}

static struct slurmctl_count count[32]; /* more than there are kinds */
static size_t n_counts;

void slurmctl_asked(const char *request)
{
	for (size_t i = 0; i < n_counts; i++) {
		if (!strcmp(count[i].request, request)) {
			count[i].n++;
			return;
		}
	}
	if (n_counts < sizeof count / sizeof *count)
		count[n_counts++] = (struct slurmctl_count){.request = request, .n = 1};
}

const struct slurmctl_count *slurmctl_counts(size_t *n)
{
	*n = n_counts;
	return count;
}

int slurmctl_ping(struct err *e)
{
	slurmctl_asked("ping");
	errno = 0;
	if (slurm_ping(0) == 0)
		return 0;
	return err_set(e, "slurmctld does not answer (is it running? is munge?): %s",
		       errno ? slurm_strerror(errno) : "no answer");
}

int slurmctl_reconfigure(struct err *e)
{
	errno = 0;
	if (slurm_reconfigure() == 0)
		return 0;
	return slurmctl_fail(e, "slurmctld does not take the new configuration");
}
