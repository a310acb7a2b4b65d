/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resume.c - ResumeProgram: `resume <hostlist>`, started by slurmctld with an empty environment. The work is apply_resume().
 *
 * slurmctld ignores the exit code; node states and the log tell what happened. A second argument (features, of a reboot) is
 * taken and ignored.
 */
#include "lib/apply/apply.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/options.h"
#include "lib/base/proc.h"
#include "lib/cluster/settings.h"
#include "lib/node/job.h"
#include "lib/slurmctl/resume_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FILE_MAX (64u << 20) /* bytes of a resume file; 10 000 jobs are about 2 MB */

static const char usage[] = "usage: resume HOSTLIST\n"
			    "\n"
			    "Launches EC2 machines for powered-down nodes. slurmctld runs it as ResumeProgram, with\n"
			    "SLURM_RESUME_FILE in the environment; without that file all nodes are treated alike.\n"
			    "Log: " PKGLOGDIR "/resume.log. Settings: " SETTINGS_PATH ".\n";

/* At once, because the file is slurmctld's memory and goes away. NULL = there is none, or it could not be read (then e says
 * so). */
static const char *read_request(struct buf *text, struct err *e)
{
	const char *path = getenv("SLURM_RESUME_FILE");

	if (!path || !*path)
		return NULL;
	if (file_read(path, FILE_MAX, text, e) < 0)
		return NULL;
	return buf_text(text);
}

/* A file that cannot be understood must not leave its nodes hanging: the argument alone says which they are. */
static int parse_request(struct resume_request *q, const char *text, size_t n, const char *argument, struct err *e)
{
	if (!text)
		return resume_request_parse(q, NULL, 0, argument, e);
	if (resume_request_parse(q, text, n, argument, e) == 0)
		return 0;
	log_error("%s; going on with the argument alone", e->text);
	return resume_request_parse(q, NULL, 0, argument, e);
}

static void note_credentials(const struct settings *s)
{
	mode_t mode;

	if (world_credentials_open(s, &mode))
		log_warn("%s has mode %04o, so others can read the keys in it: chmod 600 %s", s->credentials_file, (unsigned)mode,
			 s->credentials_file);
}

static int work(struct resume_request *q, int64_t start_ms, struct err *e)
{
	struct world w;
	struct err more = {""};
	int rc;

	if (world_open(&w, "resume", false, e) < 0) {
		if (apply_fail_nodes(getenv("SLURM_CONF"), q, e->text, &more) < 0)
			log_error("%s", more.text);
		return -1;
	}
	note_credentials(w.settings);
	rc = apply_resume(&w, q, start_ms + w.settings->resume_limit_s * 1000, e);
	world_close(&w);
	apply_poke();
	return rc;
}

int main(int argc, char **argv)
{
	int64_t start_ms = clock_mono_ms();
	struct err e = {""}, file_err = {""};
	struct resume_request q = {0};
	struct buf text = {0};
	const char *file;
	int rc;

	proc_sane();
	if (options_only_help("resume", argc, argv, usage, "HOSTLIST", &rc))
		return rc;
	if (argc > 3)
		return options_refuse("resume", "\"%s\": one HOSTLIST is expected", argv[3]);
	file = read_request(&text, &file_err);
	rc = world_begin("resume", false, &e);
	log_info("resume %s (process %ld)", argv[1], (long)getpid());
	if (file_err.text[0])
		log_error("%s", file_err.text);
	if (rc == 0)
		rc = parse_request(&q, file, text.n, argv[1], &e);
	apply_catch_signals();
	if (rc == 0)
		rc = work(&q, start_ms, &e);
	if (rc < 0)
		log_error("%s", e.text);
	log_info("done after %lld ms", (long long)(clock_mono_ms() - start_ms));
	resume_request_clear(&q);
	buf_free(&text);
	log_close();
	return rc < 0;
}
