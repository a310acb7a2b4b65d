/* rule.h - what a text value must look like: one predicate and one sentence a kind of value. Pure. */
#ifndef SE_CLUSTER_RULE_H
#define SE_CLUSTER_RULE_H

#include <stdbool.h>

struct rule {
	bool (*ok)(const char *text, const char *arg);
	const char *arg;
	const char *says;    /* what would be right */
	const char *example; /* a text that fits */
};

extern const struct rule rule_name;       /* queue, compute resource, login pool */
extern const struct rule rule_scheduler;  /* slurm */
extern const struct rule rule_itype;      /* c6i.32xlarge */
extern const struct rule rule_subnet, rule_group, rule_image;
extern const struct rule rule_reservation;
extern const struct rule rule_tag_key, rule_tag_value;
extern const struct rule rule_profile;    /* instance profile: ARN or bare name */
extern const struct rule rule_role;
extern const struct rule rule_region;
extern const struct rule rule_placement;  /* name of a placement group */
extern const struct rule rule_one_line;   /* anything without control characters */
extern const struct rule rule_path;       /* absolute */
extern const struct rule rule_url;        /* http or https */
extern const struct rule rule_address;    /* an IP literal */
extern const struct rule rule_rate;       /* of a token bucket */
extern const struct rule rule_cluster_name;

#endif
