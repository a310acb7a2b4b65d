/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_apply.c - `slurm-ec2 apply FILE`: make the cluster of a cluster.yaml the running one.
 *
 * A list of steps, one line each. All before the gate only look, and their problems are shown together; what comes after
 * changes things, in an order in which the last change is the one that counts. Refuses whatever would make a later launch fail.
 */
#include "build_config.h"

#include "cli/apply_job.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/session.h"
#include "lib/base/err.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum phase { LOOK, MAKE };

static const struct step {
	enum phase phase;
	const char *title;
	apply_step_fn run;
} steps[] = {
	{ LOOK, "cluster.yaml", apply_step_file },
	{ LOOK, "settings", apply_step_settings },
	{ LOOK, "Slurm here", apply_step_slurm },
	{ LOOK, "our folders", apply_step_folders },
	{ LOOK, "applied so far", apply_step_previous },
	{ LOOK, "head node address", apply_step_head },
	{ LOOK, "EC2 account", apply_step_account },
	{ LOOK, "instance types", apply_step_types },
	{ LOOK, "images", apply_step_images },
	{ LOOK, "network", apply_step_network },
	{ LOOK, "machines", apply_step_machines },
	{ LOOK, "launch rules", apply_step_rules },
	{ LOOK, "Slurm files", apply_step_render },
	{ LOOK, "nodes that would go", apply_step_shrink },
	{ LOOK, "jobs", apply_step_jobs },
	{ MAKE, "trial slurmctld", apply_step_scratch },
	{ MAKE, "placement groups", apply_step_placement },
	{ MAKE, "launch templates", apply_step_templates },
	{ MAKE, "trial launch", apply_step_try_launch },
	{ MAKE, "install", apply_step_install },
	{ MAKE, "tidy EC2", apply_step_tidy },
};
#define N_STEPS (sizeof(steps) / sizeof(steps[0]))

static int run_step(struct apply_job *j, const struct step *s, struct err *e)
{
	struct buf note = { 0 };
	size_t before = problems_count(&j->problems, PROBLEM_ERROR);
	int rc;

	printf("%-20s ", s->title);
	fflush(stdout);
	rc = s->run(j, &note, e);
	if (rc)
		puts(interrupt_came() ? "interrupted" : "failed");
	else if (problems_count(&j->problems, PROBLEM_ERROR) > before)
		printf("problems%s%s\n", note.n ? "; " : "", buf_text(&note));
	else
		printf("ok%s%s\n", note.n ? ", " : "", buf_text(&note));
	fflush(stdout);
	buf_free(&note);
	return rc;
}

static void show_problems(struct apply_job *j)
{
	fflush(stdout);
	problems_sort(&j->problems);
	problems_print(&j->problems, stderr);
	problems_clear(&j->problems);
}

/* Between looking and making: 0 = go on, 1 = stop, all well (--dry-run), -1 = refused. */
static int gate(struct apply_job *j, bool failed)
{
	bool bad = failed || problems_count(&j->problems, PROBLEM_ERROR) > 0 || j->problems.nomem;

	show_problems(j);
	if (bad)
		return -1;
	if (!j->dry_run)
		return 0;
	puts("Would do:");
	apply_files_show(j);
	return 1;
}

/* Ctrl-C leaves either the old state or the new one: the install, which is short, is finished. */
static int run_install(struct apply_job *j, const struct step *s, struct err *e)
{
	sigset_t before;
	int rc;

	apply_hold_signals(&before);
	rc = run_step(j, s, e);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/* The steps after the gate, from the i-th. */
static int make_steps(struct apply_job *j, size_t i, struct err *e)
{
	for (; i < N_STEPS; i++) {
		if (interrupt_came())
			return j->stored ? 0 : -1; /* what is not tidied now is by the next apply */
		if (steps[i].run == apply_step_install ? run_install(j, &steps[i], e) : run_step(j, &steps[i], e))
			return -1;
	}
	return 0;
}

/* Exit status; e has the reason if it is EXIT_PROBLEM. */
static int make(struct apply_job *j, size_t i, struct err *e)
{
	int rc = make_steps(j, i, e), sig = interrupt_came();

	interrupt_clean_up();
	/* Without its generation nobody knows the UUID of a first apply; what --adopt found is another's until then. */
	if (rc && !j->stored && (j->old || !j->adopt))
		apply_unmake(j);
	show_problems(j);
	if (rc == 0 && sig)
		fputs("slurm-ec2 apply: interrupted; the install was finished before, and the new files are in force\n", stderr);
	else if (sig && !j->tried)
		fprintf(stderr, "slurm-ec2 apply: interrupted; %s was changed\n",
			j->old || !j->adopt ? "nothing" : "no file, and no machine,");
	else if (rc)
		fprintf(stderr, "slurm-ec2 apply: %s\n", e->text);
	if (sig)
		return 128 + sig;
	return rc ? EXIT_PROBLEM : EXIT_OK;
}

/* EC2's refusals do not say where the list of permissions is. */
static void hint(const struct err *e)
{
	if (strstr(e->text, "UnauthorizedOperation") && !strstr(e->text, "slurm-ec2 policy"))
		fputs("slurm-ec2 apply: `slurm-ec2 policy` prints the permissions that are needed\n", stderr);
}

static int apply(struct apply_job *j)
{
	struct err e = { 0 };
	size_t i = 0;
	int rc = 0;

	for (; i < N_STEPS && steps[i].phase == LOOK && rc == 0; i++)
		rc = run_step(j, &steps[i], &e);
	switch (gate(j, rc != 0)) {
	case -1:
		/* e may hold what a step took in its stride: only a failed step's text is the reason */
		fprintf(stderr, "slurm-ec2 apply: %s%snothing was changed\n", rc ? e.text : "", rc ? "; " : "");
		hint(&e);
		return EXIT_PROBLEM;
	case 1:
		return EXIT_OK;
	default:
		break;
	}
	interrupt_remember();
	rc = make(j, i, &e);
	if (rc == EXIT_PROBLEM)
		hint(&e);
	return rc;
}

static int run(int argc, char **argv)
{
	static const struct option options[] = { { "dry-run", no_argument, NULL, 'n' },
						 { "yes", no_argument, NULL, 'y' },
						 { "adopt", required_argument, NULL, 'a' },
						 { NULL, 0, NULL, 0 } };
	struct apply_job j = { .lock_fd = -1 };
	int c, status;

	while ((c = command_option(&cmd_apply, argc, argv, ":ny", options)) != -1) {
		switch (c) {
		case 'n':
			j.dry_run = true;
			break;
		case 'y':
			break; /* nothing is asked: for scripts that say it everywhere */
		case 'a':
			j.adopt = optarg;
			break;
		default:
			return EXIT_USAGE;
		}
	}
	if (argc - optind != 1)
		return command_usage_error(&cmd_apply, "give one FILE");
	if (geteuid() != 0) {
		fputs("slurm-ec2 apply: it writes into Slurm's folder and restarts slurmctld, so root must run it\n", stderr);
		return EXIT_PROBLEM;
	}
	umask(022); /* a root with a stricter one must not shut SlurmUser out */
	interrupt_ends("\nslurm-ec2 apply: interrupted; nothing was changed\n");
	j.file = argv[optind];
	status = apply(&j);
	apply_job_clear(&j);
	return status;
}

const struct command cmd_apply = {
	.name = "apply",
	.help = "make a cluster.yaml the running cluster",
	.usage =
		"usage: slurm-ec2 apply FILE [--dry-run] [--adopt UUID]\n"
		"Check FILE against this machine's Slurm and against EC2, make launch templates and placement groups, install the Slurm\n"
		"files beside slurm.conf and let slurmctld take them in. Running jobs and nodes stay. If slurmctld does not come back\n"
		"with the new files, the old ones are put back.\n\n"
		"  --dry-run     look and judge only; print what would be changed in Slurm's folder\n"
		"  --adopt UUID  take over the machines of that cluster, after the state folder was lost\n\n"
		"Root runs it. Exit status: 0 done, 1 refused or failed, 2 wrong usage, 130 or 143 ended by a signal. A failed\n"
		"one leaves all as before, but for versions of launch templates that nothing uses.\n",
	.run = run,
};
