/* init.h - process 1 of a machine: start one program, reap everything, end when told. */
#ifndef SE_EC2LOCAL_INIT_H
#define SE_EC2LOCAL_INIT_H

#include <stdbool.h>

/* Run argv (argv[0] an absolute path inside the machine; NULL = nothing to run). stay: go on after it ended, as a machine does
 * after its boot. SIGTERM, SIGINT or SIGPWR shut down: SIGTERM to all, two seconds later the kernel kills the rest as we
 * return. Returns the exit status for the machine: the program's without stay, else 0; 127 if it could not be started. */
int init_run(char *const argv[], bool stay);

#endif
