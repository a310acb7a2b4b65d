/* proc_start.h - fork and exec with a clean child; inside lib/base only. */
#ifndef SE_BASE_PROC_START_H
#define SE_BASE_PROC_START_H

#include <sys/types.h>

struct err;

/* Start argv in a process group of its own: stdin from /dev/null, stdout to out_fd and stderr to err_fd (-1 = /dev/null),
 * every other descriptor closed, empty signal mask, default handlers. pid, or -1 with e if it cannot be executed (then nothing
 * is left of it). */
pid_t proc_start(const char *const argv[], const char *const env[], int out_fd, int err_fd, struct err *e);

#endif
