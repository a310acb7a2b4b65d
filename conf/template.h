/* template.h - the launch template of one compute resource as a value: names, tags, interfaces, volume, market. Pure.
 *
 * The only other file of this room that knows lib/aws, for struct ec2_template; it sends nothing.
 */
#ifndef SE_CONF_TEMPLATE_H
#define SE_CONF_TEMPLATE_H

#include "lib/aws/ec2.h"
#include "lib/cluster/generation.h"

struct err;

struct template_input {
	const struct generation *gen; /* uuid, cluster_name, bootstrap */
	const struct cluster *cluster;
	const struct queue *queue;
	const struct compute_resource *resource;
	const struct itypes *types;
	const struct strs *groups; /* security groups in force */
	const char *image_id;
	const char *root_device;     /* of the image; NULL = unknown, then the image's volume stays as it is */
	const char *placement_group; /* name or id, NULL = none */
	/* Launched by RunInstances. Else by CreateFleet, which says type, subnet and market itself, and whose machines read their
	 * launch id from the metadata. */
	bool single;
};

/* `ec2` borrows from the other members and from the input. */
struct template
{
	struct ec2_template ec2;
	char *name;
	struct ec2_interface *interfaces;
	char *user_data;
	struct kvs tags, instance_tags, own_tags;
};

int template_build(const struct template_input *in, struct template *out, struct err *e);
void template_clear(struct template *t);

/* "<cluster>/<queue>/<resource>": a slash, since all three may hold a dash. Caller frees. */
char *template_name(const char *cluster, const char *queue, const char *resource);
/* Name of the placement group we make for a resource, unique in the account by the UUID's first part; underscores, which
 * neither queue nor resource has. Caller frees. */
char *placement_name(const char *uuid, const char *cluster, const char *queue, const char *resource);
/* 16 hex digits that change with the content (the request's body), not with its client token. */
void template_hash(const char *body, char out[17]);

#endif
