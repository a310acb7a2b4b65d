/* reconcile_view.h - the inputs of one reconcile joined by name, id and address. Private to lib/plan/reconcile*.c. */
#ifndef SE_PLAN_RECONCILE_VIEW_H
#define SE_PLAN_RECONCILE_VIEW_H

#include "lib/node/map.h"
#include "lib/node/name.h"
#include "lib/node/nodeset.h"
#include "lib/plan/reconcile.h"

#include <stdbool.h>

#define NONE SIZE_MAX

/* May the pools of a compute resource be asked? */
enum pool_state { POOL_OPEN = 1, POOL_CLOSED = 2, POOL_UNREAD = 4 };

struct pool {
	enum pool_state state;
	const char *code;         /* why it is closed */
	int64_t until_ms;
};

struct view {
	const struct reconcile_input *in;
	struct plan *out;
	bool nomem;
	struct map node;          /* name -> in->nodes */
	struct map node_at;       /* machine address -> in->nodes, the first that has it */
	size_t *same_addr;        /* of each node: the next that has its address, NONE = no more */
	struct map node_of;       /* instance id that slurmctld keeps -> in->nodes */
	struct map row;           /* node name -> in->bindings */
	struct map row_of;        /* instance id -> in->bindings, BOUND rows */
	struct map instance;      /* id -> in->instances */
	struct map launch;        /* id -> in->launches */
	struct map health;        /* instance id -> in->healths */
	struct map seen;          /* node or instance -> in->seen, or what the watch has so far */
	const struct kvs *watch;  /* of which `seen` is the map; NULL = nothing was watched */
	struct map backoff;       /* node -> in->static_backoff */
	bool old_slurm;           /* before 22.05.6 */
	struct nodeset *dead;     /* launches without a worker */
	struct nodeset *waiting;  /* launch ids in the extra of nodes that are up but have no row */
	struct nodeset *lost;     /* those of them whose node has no address either: slurmctld has just started */
	struct nodeset *judged;   /* nodes that have their action: one rule a node and loop */
	struct nodeset *handled;  /* instances that have theirs */
	struct pool *pool;        /* one a resource */
	struct shortages closing; /* the memory without probes under way; codes are borrowed from it */
	struct shortages resting; /* the same, each closed at least until its jobs were tried again */
};

/* watch: in->seen, or that of reconcile_watch. */
int view_create(struct view *v, const struct reconcile_input *in, const struct kvs *watch, struct plan *out);
void view_destroy(struct view *v);

const struct binding *view_row(const struct view *v, const char *node);          /* NULL = none */
const struct node *view_node(const struct view *v, const char *name);            /* NULL = unknown or nodes not read */
const struct instance *view_instance(const struct view *v, const char *id);
const struct launch *view_launch(const struct view *v, const char *id);
/* Were the machines of a resource read, by its index; SIZE_MAX = of every one? */
bool view_machines_read(const struct view *v, size_t resource);
/* Changed after the reads began, so that the rest of the picture may be older than this row. */
bool view_too_new(const struct view *v, int64_t ms);
bool view_older(const struct view *v, int64_t ms, int64_t age_ms);

/* Append actions. Out of memory sets v->nomem. node, instance, launch may be NULL; the reason is printf text or NULL. */
struct action *view_act(struct view *v, enum action_kind kind, const char *code, const char *node, const char *instance,
			const char *launch, const char *reason, ...) __attribute__((format(printf, 7, 8)));
/* Once per instance. launch: of a machine that is ended because nothing wants it, so that the act can look again; else NULL. */
void view_terminate(struct view *v, const char *code, const char *node, const char *instance, const char *launch,
		    const char *reason);

/* The rules, in the order they run. */
void reconcile_launches(struct view *v);
void reconcile_adopt(struct view *v);
void reconcile_untold(struct view *v);
void reconcile_nodes(struct view *v);
void reconcile_machines(struct view *v);

#endif
