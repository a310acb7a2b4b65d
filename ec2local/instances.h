/* instances.h - every instance from launch until an hour after its end, with its states in time. Time comes from the caller. */
#ifndef EC2LOCAL_INSTANCES_H
#define EC2LOCAL_INSTANCES_H

#include "ec2local/call.h"
#include "ec2local/faults.h"
#include "ec2local/index.h"
#include "ec2local/launch.h"
#include "lib/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cloud;
struct err;

/* EC2's state codes. */
enum instance_code { PENDING = 0, RUNNING = 16, SHUTTING_DOWN = 32, TERMINATED = 48, STOPPING = 64, STOPPED = 80 };

#define SHOWN_AFTER_END_MS (60 * 60 * 1000) /* EC2 shows a terminated instance for about an hour */
#define ID_BYTES 24

/* An interface's address. ip 0 = none (efa-only). */
struct address {
	char eni[ID_BYTES];
	char mac[18];
	uint32_t ip;
};

/* A scheduled event of the instance status. */
struct event {
	char id[40];
	char *code;
	char *text;
	int64_t not_before_ms;
};

/* What a status check found, set by control. */
struct check {
	char *status;	  /* NULL = derived from the state */
	int64_t since_ms; /* of "impaired"; 0 = not told */
};

struct instance {
	uint64_t seq; /* order of launch, never used twice */
	char id[ID_BYTES];
	struct launch *launch;
	int index; /* AMI launch index */
	enum instance_code state;
	enum instance_code shown; /* last state told to the state log */
	const char *reason_code;  /* static text or NULL */
	const char *reason_text;
	int64_t launched_ms, running_ms, ended_ms;
	struct kvs tags;
	struct address *addresses; /* one per interface of the launch */
	uint32_t ip;		   /* of device 0; 0 once terminated */
	char ip_key[16];	   /* its text, key of by_ip */
	pid_t pid;		   /* of its machine, or 0 */
	double luck;		   /* 0 to 1: how long it stays unseen between the limits */
	bool head;		   /* a record only: never booted */
	struct check instance_check, system_check;
	struct event *events; /* one of a code */
	size_t n_events, cap_events;
	int64_t spot_action_ms;	 /* interruption notice for this time; 0 = none */
	const char *spot_action; /* static: "terminate", "stop", "hibernate"; NULL = terminate */
	bool interrupted;	 /* the notice comes true */
	int64_t due_ms;		/* next change by itself; 0 = none */
	unsigned int in_heap;	/* entries in the heap of changes */
	bool gone;		/* forgotten, kept only until the list is packed */
};

struct change {
	int64_t at_ms;
	struct instance *i;
};

/* How machines are made; on = false keeps instances as records. */
struct boot {
	bool on;
	const char *bridge;
	const char *gateway;
	const char *run_dir;
	const char *const *image_args; /* NULL-terminated */
};

struct instances {
	struct instance **v; /* by seq */
	size_t n, cap;
	size_t n_gone;
	uint64_t last_seq;
	struct index by_id;
	struct index by_ip;    /* running or pending ones */
	struct index by_token; /* run.c's */
	struct change *heap;
	size_t n_heap, cap_heap;
	struct boot boot;
	int64_t delay_running_ms;
	int64_t delay_terminated_ms;
	int64_t vcpus[MARKETS]; /* of those that are not terminated */
	int64_t quota_vcpus[QUOTA_ROWS];
};

void instances_free(struct instances *l);
/* One more instance of this launch, pending. NULL on no memory or no address (*no_address). */
struct instance *instances_launch(struct cloud *cloud, struct launch *launch, int index, int64_t now_ms, bool *no_address);
/* The record of the head: "ip=ADDRESS,id=ID[,type=TYPE][,subnet=ID][,profile=NAME]"; running. */
int instances_add_head(struct cloud *cloud, const char *spec, int64_t now_ms, struct err *e);
struct instance *instances_find(const struct instances *l, const char *id); /* NULL = never was or forgotten */
struct instance *instances_by_ip(const struct instances *l, const char *ip);
/* Index of the first instance whose seq is above `after`. */
size_t instances_behind(const struct instances *l, uint64_t after);
/* Begin the end of an instance; nothing if it has ended already. Texts are static. */
void instances_terminate(struct cloud *cloud, struct instance *i, int64_t now_ms, const char *code, const char *text);
/* Stop an instance that is pending or running; true if it was one. Texts are static. */
bool instances_stop(struct cloud *cloud, struct instance *i, int64_t now_ms, const char *code, const char *text);
/* Start one that is stopped; true if it was. */
bool instances_start(struct cloud *cloud, struct instance *i, int64_t now_ms);
/* Spot takes the instance back at i->spot_action_ms, by i->spot_action. */
void instances_interrupt(struct cloud *cloud, struct instance *i, int64_t now_ms);
/* The process of a machine has ended: the instance shut itself down, unless we did it. */
void instances_reaped(struct cloud *cloud, pid_t pid, int64_t now_ms);
/* Do all changes that are due. Milliseconds until the next one, -1 = none. */
int64_t instances_settle(struct cloud *cloud, int64_t now_ms);

const char *instance_state_name(enum instance_code s);
/* "ip-10-77-0-4" into out. */
void instance_hostname(const struct instance *i, char out[32]);
/* File of its boot messages; caller frees, NULL on no memory or without machines. */
char *instance_console(const struct instances *l, const struct instance *i);
/* Do Describe and the others see it yet (eventual consistency)? */
bool instance_seen(const struct cloud *cloud, const struct instance *i, int64_t now_ms);

/* The instances of these ids into out (as many as ids). One that is malformed, unknown or not seen yet fails the call. */
int instances_named(struct call *c, const struct strs *ids, struct instance **out);

extern const struct action run_actions[];      /* run.c */
extern const struct action describe_actions[]; /* describe.c */
extern const struct action status_actions[];   /* status.c */
extern const struct action end_actions[];      /* terminate.c */
extern const struct action tags_actions[];     /* tags.c */
void run_tokens_free(struct instances *l);

#endif
