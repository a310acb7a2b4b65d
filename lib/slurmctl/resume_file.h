/* resume_file.h - the text of SLURM_RESUME_FILE (22.05 and 23.02+ keys) and the argument hostlist, to a resume_request. Pure.
 */
#ifndef SE_SLURMCTL_RESUME_FILE_H
#define SE_SLURMCTL_RESUME_FILE_H

#include <stddef.h>

struct err;
struct resume_request;

/* text NULL = there was no file: only the argument counts. Unknown keys are ignored; a name in a job that is in neither list is
 * kept. A job whose node list cannot be read is an error that names it, and nothing is returned. */
int resume_request_parse(struct resume_request *out, const char *text, size_t n, const char *argument, struct err *e);

#endif
