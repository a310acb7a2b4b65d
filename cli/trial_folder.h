/* trial_folder.h - the folder of the trial slurmctld: gone when the trial is over, also if we are killed. */
#ifndef SE_CLI_TRIAL_FOLDER_H
#define SE_CLI_TRIAL_FOLDER_H

#include <sys/types.h>

struct err;

struct trial_folder {
	char *path;
	int lock_fd;  /* on the folder: it has a living owner */
	int watch_fd; /* its end tells the keeper that we are gone */
	pid_t keeper;
};

/* A folder of this user's own in `base` ("/tmp"); those there that nobody owns any more are removed. -1 with e. */
int trial_folder_make(struct trial_folder *t, const char *base, struct err *e);
/* If we end before trial_folder_remove(), the process group of pid is to end too. */
void trial_folder_watch(struct trial_folder *t, pid_t pid);
/* Remove it; takes one that could not be made. */
void trial_folder_remove(struct trial_folder *t);

#endif
