/* ec2.h - the EC2 verbs we use. A call is built, performed (alone or many side by side) and read.
 *
 * Building is pure: the body is the same bytes for the same arguments, so a retry with the same ClientToken is the same
 * request.
 * ec2_actions() lists every action this file can send: the IAM policy is made from it.
 */
#ifndef SE_AWS_EC2_H
#define SE_AWS_EC2_H

#include "lib/aws/aws.h"
#include "lib/base/str.h"
#include "lib/node/health.h"
#include "lib/node/instance.h"
#include "lib/node/itype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct json_object;
struct reply_reader;

/* One request and, after aws_perform, its outcome. */
struct ec2_call {
	const char *action;       /* "RunInstances" */
	char *body;               /* form body without Version's credentials; owned */
	struct aws_error error;   /* error.class == AWS_OK on success */
	void *reply;              /* typed by the reader below; owned */
	void (*reply_free)(void *);
	bool mutating;
	bool launches;            /* takes from the RunInstances bucket */
	bool sent;                /* false = never tried (deadline, no credentials) */
	bool repeated;            /* sent more than once: an earlier try may have done something that the answer does not tell */
	bool nothing;             /* a read of no ids: succeeds, empty, without a request */
	int instances;            /* how many it launches or terminates, for the buckets */
	struct strs parts;        /* further bodies of a read that names more things than one request may */
	const struct reply_reader *reader; /* how the answer is read; lib/aws's own */
};

/* Perform all, at most 8 at a time, retrying THROTTLE and TRANSIENT (same body) with jitter until deadline_mono_ms
 * (clock_mono_ms scale). Each outcome is in its call; returns 0 if all are AWS_OK, else -1. Paged reads follow NextToken
 * until the end; a read that failed midway is a failure, whatever its reply holds. A changing call that had a try of
 * unknown outcome stays AWS_TRANSIENT when a later try was only refused for a while. on_done (may be NULL) is called as
 * each call ends. */
int ec2_perform(struct aws *a, struct ec2_call *const *calls, size_t n, int64_t deadline_mono_ms,
		void (*on_done)(struct ec2_call *, void *), void *arg);
/* One call; err filled with "Action: Code: message (request id)". */
int ec2_perform_one(struct aws *a, struct ec2_call *c, int64_t deadline_mono_ms, struct err *e);
void ec2_call_destroy(struct ec2_call *c); /* takes NULL */

/* --- launching */
struct ec2_run {
	const char *template_id;
	int64_t template_version;
	int min_count, max_count;
	const char *client_token;
	const char *user_data;     /* raw text; base64 is ours. NULL = the template's */
	const char *subnet_id;     /* NULL = the template's */
	const struct kvs *tags;    /* added to the template's, on instance and volume */
	const struct kvs *overrides; /* wire parameters; a top-level member here replaces ours whole. NULL = none */
	bool dry_run;              /* EC2 only says whether it would: error code DryRunOperation = yes */
};
struct ec2_call *ec2_run_instances(const struct ec2_run *r); /* NULL on no memory */
/* The same call, of either kind, from the stored body of an open launch row. NULL on no memory or for another action. */
struct ec2_call *ec2_launch_again(const char *body);

/* CreateFleet of type instant: EC2 chooses among types and subnets. */
struct ec2_fleet_choice {
	const char *type;
	const char *subnet_id;
	double max_price;          /* spot, 0 = none */
	int priority;              /* of the prioritized strategies, 0 = first; -1 = none */
};
struct ec2_fleet {
	const char *template_id;
	int64_t template_version;
	const struct ec2_fleet_choice *choices;
	size_t n_choices;
	int total;
	int min_total;             /* 0 = none: EC2 takes one only for a single type or a single zone */
	bool single_type, single_zone;
	const char *capacity;      /* "on-demand", "spot", "capacity-block" */
	const char *allocation_strategy; /* NULL, or a word of the other market, = EC2's default */
	bool reservations_first;   /* on-demand: UsageStrategy use-capacity-reservations-first */
	const char *client_token;
	const struct kvs *tags;    /* added to the template's, on instances */
	const struct kvs *overrides;
	bool dry_run;              /* as of ec2_run */
};
struct ec2_call *ec2_create_fleet(const struct ec2_fleet *f); /* NULL on no memory */

/* The members of a launch request in the API's JSON form (as ParallelCluster's overrides files have them) to wire parameters,
 * for `overrides` above. action: "RunInstances" or "CreateFleet". Appends to out, all or nothing. -1 with e, which names the
 * member, when EC2 knows no such member, its kind is wrong, or it is ours to say (ClientToken, DryRun, counts, template, user
 * data, tags of slurm-ec2). Our tags, counts and template stay whatever is overridden. */
int ec2_overrides(const char *action, struct json_object *members, struct kvs *out, struct err *e);

/* What a launch of either kind gave. RunInstances tells addresses at once, a fleet never does. errors: of a fleet's choices;
 * they also come beside instances. */
struct ec2_launch_error { char *code, *message, *type, *subnet_id, *zone; };
struct ec2_launch_reply {
	struct instances instances;
	struct ec2_launch_error *errors;
	size_t n_errors, cap_errors;
	char *fleet_id;
};
const struct ec2_launch_reply *ec2_launch_reply(const struct ec2_call *c); /* NULL if it did not succeed */

struct ec2_reservation {
	char *id, *type, *zone, *state;  /* active, scheduled, pending, payment-pending, expired, cancelled, failed, ... */
	char *kind;                      /* "default", "capacity-block" */
	char *cluster;                   /* TAG_CLUSTER */
	char *placement_group;           /* ARN, NULL = none */
	int total, available;
	int64_t start_ms, end_ms;        /* 0 = unlimited */
};
struct ec2_reservations { struct ec2_reservation *v; size_t n; size_t cap; };
/* EC2 knows no filter for ids, and one unknown id spoils a call that names them: all of the account are read and those of
 * ids kept. n 0 = all. */
struct ec2_call *ec2_describe_reservations(const char *const *ids, size_t n);
const struct ec2_reservations *ec2_describe_reservations_reply(const struct ec2_call *c);

struct ec2_call *ec2_terminate_instances(const char *const *ids, size_t n); /* at most 1000 */
/* Terminate any number in parts of 200. Ids that EC2 does not know, or that are protected from termination, are left out
 * and the rest is tried again. 0 if every id is gone or going. */
int ec2_terminate_all(struct aws *a, const char *const *ids, size_t n, int64_t deadline_mono_ms, struct err *e);

/* --- reading. All pages of 1000. */
/* Instances whose tag slurm-ec2:cluster is uuid, in every state. */
struct ec2_call *ec2_describe_cluster(const char *uuid);
/* Instances with a tag value or of a filter name, e.g. {"tag:slurm-ec2:launch", "client-token", "instance-id",
 * "tag:parallelcluster:cluster-name"}. */
struct ec2_call *ec2_describe_by(const char *filter, const char *const *values, size_t n);
/* Unknown ids are simply absent. */
struct ec2_call *ec2_describe_ids(const char *const *ids, size_t n);
const struct instances *ec2_describe_reply(const struct ec2_call *c);

/* The running machines of the account and region with an impaired status check or an event to come; each once, others than the
 * cluster's too. Three questions, however many machines there are. */
struct ec2_call *ec2_describe_unwell(void);
const struct healths *ec2_describe_unwell_reply(const struct ec2_call *c);

/* What a machine has printed on its console, as EC2 kept it: often nothing yet while it is young. Raw bytes, at most the last
 * EC2_CONSOLE_MAX; "" = nothing. */
#define EC2_CONSOLE_MAX (64 * 1024)
struct ec2_call *ec2_console_output(const char *id);
const char *ec2_console_output_reply(const struct ec2_call *c, size_t *n); /* borrowed */

struct ec2_call *ec2_describe_instance_types(const char *const *names, size_t n); /* any number, asked in parts */
const struct itypes *ec2_describe_instance_types_reply(const struct ec2_call *c);

struct ec2_image { char *id, *name, *arch, *state, *root_device, *slurm_version; int64_t root_size_gib; char *creation; };
struct ec2_images { struct ec2_image *v; size_t n; size_t cap; };
struct ec2_call *ec2_describe_images(const char *const *ids, size_t n);
/* Own images that carry tag slurm-ec2:slurm-version. */
struct ec2_call *ec2_describe_images_tagged(void);
const struct ec2_images *ec2_describe_images_reply(const struct ec2_call *c);

struct ec2_subnet { char *id, *vpc, *zone, *cidr; bool public_ip; int free_addresses; };
struct ec2_subnets { struct ec2_subnet *v; size_t n; size_t cap; };
struct ec2_call *ec2_describe_subnets(const char *const *ids, size_t n);
const struct ec2_subnets *ec2_describe_subnets_reply(const struct ec2_call *c);

struct ec2_rule { char *protocol; int from_port, to_port; /* -1 = all */ struct strs groups; struct strs cidrs; };
struct ec2_group { char *id, *name, *vpc; struct ec2_rule *in; size_t n_in; struct ec2_rule *out; size_t n_out; };
struct ec2_groups { struct ec2_group *v; size_t n; size_t cap; };
struct ec2_call *ec2_describe_groups(const char *const *ids, size_t n);
struct ec2_call *ec2_describe_default_group(const char *vpc);
const struct ec2_groups *ec2_describe_groups_reply(const struct ec2_call *c);

/* --- what apply makes; everything carries tag slurm-ec2:cluster. */
struct ec2_interface { int card, device; const char *type; /* NULL, efa, efa-only */ int public_ip; /* -1 unset, 0, 1 */ };
struct ec2_template {
	const char *name;
	const char *client_token;
	const char *image_id;
	const char *instance_type;   /* NULL = several */
	const char *subnet_id;       /* NULL = several */
	const struct strs *groups;
	const struct ec2_interface *interfaces;
	size_t n_interfaces;
	const char *placement_group; /* name or id (pg- and hex digits), NULL = none */
	const char *instance_profile;/* name or ARN, NULL = none */
	const char *root_device;     /* NULL = image's volume unchanged */
	int64_t root_size_gib, root_iops, root_throughput; /* 0 = unset */
	const char *root_type;
	bool root_encrypted;
	bool imds_v2_only;
	bool imds_tags;              /* the machine may read its own tags there */
	bool detailed_monitoring;
	bool ebs_optimized;
	const char *market;          /* NULL, "spot", "capacity-block" */
	double spot_price;
	const char *capacity_reservation_id, *capacity_reservation_group;
	int cores, threads_per_core; /* CpuOptions, 0 = unset */
	const char *user_data;       /* raw text */
	const struct kvs *tags;      /* instance and volume */
	const struct kvs *instance_tags; /* more, of the instance only; NULL = none */
	const struct kvs *own_tags;  /* the template's */
};
struct ec2_call *ec2_create_template(const struct ec2_template *t);
struct ec2_call *ec2_create_template_version(const char *template_id, const struct ec2_template *t);
struct ec2_template_ref { char *id, *name, *cluster; int64_t version; };
struct ec2_template_refs { struct ec2_template_ref *v; size_t n; size_t cap; };
const struct ec2_template_refs *ec2_template_reply(const struct ec2_call *c); /* of create, create_version and describe */
struct ec2_call *ec2_describe_templates(const char *uuid);
struct ec2_call *ec2_delete_template(const char *id);

bool ec2_is_placement_id(const char *text); /* pg- and 8 to 17 hex digits: else it is a name */
struct ec2_call *ec2_create_placement_group(const char *name, const struct kvs *tags);
struct ec2_call *ec2_describe_placement_groups(const char *uuid);
struct ec2_call *ec2_describe_placement_group(const char *name_or_id);
struct ec2_call *ec2_delete_placement_group(const char *name);
struct ec2_placement { char *id, *name, *state, *cluster; };
struct ec2_placements { struct ec2_placement *v; size_t n; size_t cap; };
const struct ec2_placements *ec2_placement_groups_reply(const struct ec2_call *c);

struct ec2_call *ec2_create_tags(const char *const *ids, size_t n, const struct kvs *tags);

/* --- for the policy: every action, NULL-terminated; `resource` says how the policy may narrow it. */
struct ec2_action { const char *action; const char *user; /* "daemons", "apply" */ const char *scope; /* "any", "cluster-tag", "launch" */ };
const struct ec2_action *ec2_actions(void);

#endif
