/* templates.h - launch templates: numbered versions, each kept as the parameters it was made of. */
#ifndef EC2LOCAL_TEMPLATES_H
#define EC2LOCAL_TEMPLATES_H

#include "ec2local/call.h"
#include "ec2local/index.h"
#include "lib/base/str.h"

#include <stddef.h>
#include <stdint.h>

struct template_version {
	int64_t number;
	int64_t created_ms;
	char *description;
	struct params data; /* without the prefix "LaunchTemplateData." */
};

struct template
{
	uint64_t seq;
	char id[24];
	char *name;
	int64_t created_ms;
	int64_t default_version;
	struct template_version *v;
	size_t n;
	size_t cap;
	struct kvs tags;
};

/* Zero-initialised = empty. */
struct templates {
	struct template **v; /* in order of making */
	size_t n;
	size_t cap;
	uint64_t last_seq;
	struct index by_id;
	struct index by_name;
	struct index by_token; /* client token to struct template_token */
};

void templates_free(struct templates *t);
struct template *templates_find(const struct templates *t, const char *id);
/* The version a call names by LaunchTemplateId or LaunchTemplateName and Version under `prefix` ("LaunchTemplate."); NULL =
 * error written. */
const struct template_version *templates_resolve(struct call *c, const char *prefix, const struct template **which);

extern const struct action templates_actions[];

#endif
