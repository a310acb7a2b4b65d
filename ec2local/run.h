/* run.h - what RunInstances and CreateFleet have in common. */
#ifndef EC2LOCAL_RUN_H
#define EC2LOCAL_RUN_H

struct call;
struct launch;

/* May the signer launch this? Each thing it touches is asked as IAM does. -1 = error written. */
int run_allowed(struct call *c, const struct launch *l);
/* The form of a ClientToken. -1 = error written. */
int run_check_token(struct call *c, const char *token);

#endif
