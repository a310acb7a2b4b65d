/* overrides.h - the files of RunInstancesOverrides and CreateFleetOverrides: queue -> compute resource -> request members, as
 * ParallelCluster has them. For check and apply. */
#ifndef SE_CLI_OVERRIDES_H
#define SE_CLI_OVERRIDES_H

struct json_object;
struct kvs;
struct problems;

/* Called for each resource of the file; members is borrowed. */
typedef void overrides_each_fn(void *arg, const char *queue, const char *resource, struct json_object *members);

/* Read one file; what is wrong with its form becomes problems. key: the setting that names it. */
void overrides_read(const char *path, const char *key, struct problems *p, overrides_each_fn *each, void *arg);
/* Members to wire parameters, appended to out; each member that EC2 does not know, or that is ours to say, is a problem. */
void overrides_take(const char *path, const char *action, const char *queue, const char *resource, struct json_object *members,
		    struct kvs *out, struct problems *p);

#endif
