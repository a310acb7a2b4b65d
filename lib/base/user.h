/* user.h - become SlurmUser: state and applied folders belong to that user, root's commands act as him there. */
#ifndef SE_BASE_USER_H
#define SE_BASE_USER_H

#include <sys/types.h>

struct err;

/* uid and gid of a user name (or decimal uid). */
int user_lookup(const char *name, uid_t *uid, gid_t *gid, struct err *e);
/* If root: effective uid, gid and groups become the user's until user_restore(). Not root: must already be that user, else an
 * error naming who may run this. */
int user_become(const char *name, struct err *e);
void user_restore(void);
/* For good (daemons): real, effective and saved. */
int user_drop(const char *name, struct err *e);

#endif
