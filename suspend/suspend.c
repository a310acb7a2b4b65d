/* SPDX-License-Identifier: GPL-2.0-or-later */
/* suspend.c - SuspendProgram and ResumeFailProgram: `suspend <hostlist>`, started by slurmctld with an empty environment. The
 * work is apply_suspend(). slurmctld ignores the exit code. */
#include "lib/apply/apply.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/base/options.h"
#include "lib/base/proc.h"
#include "lib/cluster/settings.h"
#include "lib/node/job.h"
#include "lib/slurmctl/resume_file.h"

#include <stdio.h>
#include <unistd.h>

static const char usage[] = "usage: suspend HOSTLIST\n"
			    "\n"
			    "Terminates the EC2 machines of nodes. slurmctld runs it as SuspendProgram and as\n"
			    "ResumeFailProgram; running it again for the same nodes does no harm.\n"
			    "Log: " PKGLOGDIR "/suspend.log. Settings: " SETTINGS_PATH ".\n";

static int work(const struct resume_request *q, int64_t start_ms, struct err *e)
{
	struct world w;
	int rc;

	if (world_open(&w, "suspend", false, e) < 0)
		return -1;
	rc = apply_suspend(&w, (const char *const *)q->nodes.v, q->nodes.n, start_ms + w.settings->resume_limit_s * 1000, e);
	world_close(&w);
	apply_poke();
	return rc;
}

int main(int argc, char **argv)
{
	int64_t start_ms = clock_mono_ms();
	struct err e = {""};
	struct resume_request q = {0}; /* only its node list is used */
	int rc;

	proc_sane();
	if (options_only_help("suspend", argc, argv, usage, "HOSTLIST", &rc))
		return rc;
	if (argc > 2)
		return options_refuse("suspend", "\"%s\": one HOSTLIST is expected", argv[2]);
	rc = world_begin("suspend", false, &e);
	log_info("suspend %s (process %ld)", argv[1], (long)getpid());
	apply_catch_signals();
	if (rc == 0)
		rc = resume_request_parse(&q, NULL, 0, argv[1], &e);
	if (rc == 0)
		rc = work(&q, start_ms, &e);
	if (rc < 0)
		log_error("%s", e.text);
	log_info("done after %lld ms", (long long)(clock_mono_ms() - start_ms));
	resume_request_clear(&q);
	log_close();
	return rc < 0;
}
