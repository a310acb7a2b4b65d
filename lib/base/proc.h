/* proc.h - run a program by argument vector; there is no shell anywhere in our programs. */
#ifndef SE_BASE_PROC_H
#define SE_BASE_PROC_H

#include <stdbool.h>
#include <sys/types.h>

struct buf;
struct err;

struct proc_result {
	int exit_code;  /* 0..255, or -1 if it was ended by a signal */
	int signal;     /* that signal, or 0 */
	bool timed_out; /* we ended its process group: SIGTERM, and SIGKILL when it has ended, after 2 s at the latest */
};

/* Run argv[0] (absolute path, or searched in a fixed safe PATH), wait at most timeout_ms (-1 = for ever). out: its stdout and
 * stderr, at most 1 MiB, may be NULL (then to /dev/null). env NULL = a minimal one (PATH, LANG=C). The child starts with
 * an empty signal mask and default handlers. 0 = it ran (see result), -1 = it could not be started. */
int proc_run(const char *const argv[], const char *const env[], int timeout_ms, struct buf *out, struct proc_result *r,
	     struct err *e);
/* The same, but only stdout goes to out and stderr to /dev/null: for output that is to be understood. */
int proc_read(const char *const argv[], const char *const env[], int timeout_ms, struct buf *out, struct proc_result *r,
	      struct err *e);

/* Start the same way in the background, output to log_path (appended; NULL = /dev/null); own process group. pid or -1. */
pid_t proc_spawn(const char *const argv[], const char *const env[], const char *log_path, struct err *e);
/* End a process group started by proc_spawn: SIGTERM, after grace_ms SIGKILL; reaped. pid <= 0 is a no-op. */
void proc_end(pid_t pid, int grace_ms);

/* First act of each program that slurmctld starts: empty signal mask, default handlers, SIGPIPE ignored, descriptors 0-2 open
 * (/dev/null where they were closed), umask 022. Never touches 1 and 2 if they are open. See CONTRIBUTING.md "power programs".
 */
void proc_sane(void);

#endif
