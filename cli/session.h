/* session.h - what the commands that a person runs share: settings, a connection to EC2, a line a step. */
#ifndef SE_CLI_SESSION_H
#define SE_CLI_SESSION_H

#include <stdint.h>

struct aws;
struct err;
struct settings;

#define RESUME_PROGRAM PKGLIBEXECDIR "/resume"
#define SUSPEND_PROGRAM PKGLIBEXECDIR "/suspend"

/* settings.yaml; its problems go to stderr. NULL with e on error. Caller settings_destroy()s. */
struct settings *session_settings(struct err *e);
/* The same for commands that only look: with a file that has mistakes they go on as our programs do, with what it said when it was
 * last right, and say so on stderr. */
struct settings *session_last_settings(struct err *e);
/* EC2 as settings.yaml and this person's environment say. region NULL = theirs. Caller aws_destroy()s. */
struct aws *session_aws(const char *region, struct err *e);
/* SuspendTimeout of settings.yaml, or its default if that file cannot be read. */
int64_t session_suspend_timeout(void);

/* slurmctl_open(). libslurm ends the process on a slurm.conf that it does not like: `note` ("slurm-ec2 apply: nothing was
 * changed") is then the beginning of our last line. */
int session_slurm_open(const char *note, const char *conf, struct err *e);

/* Ask on the terminal; true only for "y" or "yes". Not a terminal = no. */
int session_confirm(const char *question);

#endif
