/* load.h - cluster.yaml and settings.yaml from disk: the only file opener of this room.
 *
 * Three steps: load (read the file), parse (libyaml events to a cluster value, every message with line and column), check
 * (rules across keys). All problems of one run are collected; an error in one place does not hide another.
 */
#ifndef SE_CLUSTER_LOAD_H
#define SE_CLUSTER_LOAD_H

#include <stddef.h>

struct cluster;
struct settings;
struct problems;

/* How $NAME and ${NAME} in a value are looked up; NULL answer = unset, which is an error with the variable's name and place. */
typedef const char *(*cluster_getenv_fn)(void *arg, const char *name);

/* NULL if there was an error among the problems (warnings alone still give a cluster). Caller cluster_destroy()s. */
struct cluster *cluster_load(const char *path, cluster_getenv_fn get, void *arg, struct problems *p);
/* The same from memory; `path` is only for messages. */
struct cluster *cluster_parse(const char *path, const char *text, size_t n, cluster_getenv_fn get, void *arg,
			      struct problems *p);
/* getenv(3) as a cluster_getenv_fn. */
const char *cluster_getenv_process(void *arg, const char *name);

/* settings.yaml; an absent file gives the defaults. NULL on error. Caller settings_destroy()s. */
struct settings *settings_load(const char *path, struct problems *p);

#endif
