/* bootstrap.h - the one boot script of a node, the same on EC2 (cloud-init user data) and in the local cloud.
 *
 * Template: conf/bootstrap.sh.in with @NAME@ places. bootstrap_render fills what is the same for a whole generation;
 * bootstrap_launch adds the launch id and the node list of one RunInstances call. The result stays under EC2's limit of 16 KiB
 * raw.
 */
#ifndef SE_CONF_BOOTSTRAP_H
#define SE_CONF_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct generation;

#define USER_DATA_MAX 16384 /* bytes before base64 */

/* For the launch template; caller frees. Every value is checked: only [A-Za-z0-9._:/@-] may enter the script. */
char *bootstrap_render(const struct generation *g, struct err *e);
/* The user data of one resource's template: with no_smt the machine switches its second hardware threads off itself (several
 * types, or one that EC2 cannot launch so). NULL with e if it would be too large. Caller frees. */
char *bootstrap_resource(const char *base, bool no_smt, struct err *e);
/* base = generation->bootstrap; nodes in the order of the call (ami-launch-index). NULL with e if it would be too large. Caller
 * frees. */
char *bootstrap_launch(const char *base, const char *launch, const char *const *nodes, size_t n, struct err *e);

#endif
