/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session.c - the common start of the commands that talk to EC2. Prints, since only commands use it; decides nothing. */
#include "cli/session.h"

#include "lib/apply/apply.h"
#include "lib/apply/last_settings.h"
#include "lib/base/err.h"
#include "lib/base/problem.h"
#include "lib/cluster/load.h"
#include "lib/cluster/settings.h"
#include "lib/slurmctl/slurmctl.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#define SUSPEND_TIMEOUT_DEFAULT_S 30

struct settings *session_settings(struct err *e)
{
	struct problems p = { 0 };
	struct settings *s = settings_load(SETTINGS_PATH, &p);

	problems_print(&p, stderr);
	problems_clear(&p);
	if (!s)
		err_set(e, "%s cannot be used", SETTINGS_PATH);
	return s;
}

struct settings *session_last_settings(struct err *e)
{
	struct problems p = { 0 };
	struct settings *s = session_settings(e);

	if (s || access(LAST_SETTINGS_PATH, R_OK))
		return s;
	s = settings_load(LAST_SETTINGS_PATH, &p);
	problems_clear(&p);
	if (s)
		fprintf(stderr, "our programs go on with what %s said when it was last right, and so does this\n", SETTINGS_PATH);
	return s;
}

struct aws *session_aws(const char *region, struct err *e)
{
	struct settings *s = session_settings(e);
	struct aws *a = s ? world_aws(s, region, true, e) : NULL;

	settings_destroy(s);
	return a;
}

int64_t session_suspend_timeout(void)
{
	struct problems p = { 0 };
	struct settings *s = settings_load(SETTINGS_PATH, &p);
	int64_t t = s ? s->suspend_timeout_s : SUSPEND_TIMEOUT_DEFAULT_S;

	settings_destroy(s);
	problems_clear(&p);
	return t;
}

static struct {
	bool registered;
	const char *note, *conf; /* conf not NULL while libslurm reads it */
} opening;

static void last_words(void)
{
	if (opening.conf)
		fprintf(stderr, "%s: Slurm's own library refuses %s, it says above why; correct that file first\n", opening.note,
			opening.conf);
}

int session_slurm_open(const char *note, const char *conf, struct err *e)
{
	int rc;

	if (!opening.registered)
		opening.registered = atexit(last_words) == 0;
	opening.note = note;
	opening.conf = conf;
	rc = slurmctl_open(conf, e);
	opening.conf = NULL;
	return rc;
}

int session_confirm(const char *question)
{
	char answer[16];

	if (!isatty(STDIN_FILENO))
		return 0;
	printf("%s [y/N] ", question);
	fflush(stdout);
	if (!fgets(answer, sizeof(answer), stdin))
		return 0;
	answer[sizeof(answer) - 1] = 0;
	return strcasecmp(answer, "y\n") == 0 || strcasecmp(answer, "yes\n") == 0;
}
