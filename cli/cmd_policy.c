/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_policy.c - `slurm-ec2 policy`: the least IAM policy, made from the list of calls that our own code can send.
 *
 * Two groups of statements: what the daemons need all the time, and what apply needs now and then. Where EC2 knows tag
 * conditions, only things that carry this cluster's tags may be changed. Asks nobody, changes nothing.
 */
#include "build_config.h"

#include "cli/command.h"
#include "cli/session.h"
#include "lib/aws/ec2.h"
#include "lib/base/jview.h"
#include "lib/base/problem.h"
#include "lib/cluster/cluster.h"
#include "lib/cluster/load.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

struct policy {
	struct json_object *list; /* statements */
	const char *cluster_name; /* NULL = any cluster of ours */
	bool failed;
};

static struct json_object *checked(struct policy *p, struct json_object *o)
{
	if (!o)
		p->failed = true;
	return o;
}

static void put(struct policy *p, struct json_object *o, const char *key, struct json_object *child)
{
	if (!o || !child || jview_put_obj(o, key, child))
		p->failed = true;
}

static struct json_object *text(struct policy *p, const char *s)
{
	return checked(p, json_object_new_string(s));
}

static void append(struct policy *p, struct json_object *list, const char *s)
{
	if (!list || json_object_array_add(list, text(p, s)))
		p->failed = true;
}

/* The condition that a thing carries (kind "aws:ResourceTag/") or will carry ("aws:RequestTag/") our tags. */
static struct json_object *tag_condition(struct policy *p, const char *kind)
{
	struct json_object *c = checked(p, json_object_new_object()), *null = checked(p, json_object_new_object());
	struct json_object *equals;
	char key[80];

	snprintf(key, sizeof(key), "%s" TAG_CLUSTER, kind);
	put(p, null, key, text(p, "false"));
	put(p, c, "Null", null);
	if (p->cluster_name) {
		equals = checked(p, json_object_new_object());
		snprintf(key, sizeof(key), "%s" TAG_PC_CLUSTER, kind);
		put(p, equals, key, text(p, p->cluster_name));
		put(p, c, "StringEquals", equals);
	}
	return c;
}

/* Takes the lists and the condition (may be NULL). */
static void statement(struct policy *p, const char *user, const char *what, struct json_object *actions,
		      struct json_object *resources, struct json_object *condition)
{
	struct json_object *s = checked(p, json_object_new_object());
	char sid[64];

	snprintf(sid, sizeof(sid), "%s%s", strcmp(user, "daemons") == 0 ? "Daemons" : "Apply", what);
	put(p, s, "Sid", text(p, sid));
	put(p, s, "Effect", text(p, "Allow"));
	put(p, s, "Action", actions);
	put(p, s, "Resource", resources);
	if (condition)
		put(p, s, "Condition", condition);
	if (json_object_array_add(p->list, s))
		p->failed = true;
}

static struct json_object *list_of(struct policy *p, const char *const *v)
{
	struct json_object *l = checked(p, json_object_new_array());

	for (; *v; v++)
		append(p, l, *v);
	return l;
}

static struct json_object *one(struct policy *p, const char *s)
{
	const char *const v[] = { s, NULL };

	return list_of(p, v);
}

/* All actions of one user and scope, as "ec2:Name"; NULL if there is none. `skip` are given statements of their own. */
static struct json_object *actions_of(struct policy *p, const char *user, const char *scope, const char *const *skip)
{
	struct json_object *l = NULL;
	char name[96];

	for (const struct ec2_action *a = ec2_actions(); a->action; a++) {
		bool special = false;

		for (const char *const *s = skip; *s; s++)
			special = special || strcmp(*s, a->action) == 0;
		if (special || strcmp(a->user, user) != 0 || strcmp(a->scope, scope) != 0)
			continue;
		if (!l)
			l = checked(p, json_object_new_array());
		snprintf(name, sizeof(name), "ec2:%s", a->action);
		append(p, l, name);
	}
	return l;
}

static bool sends(const char *user, const char *action)
{
	for (const struct ec2_action *a = ec2_actions(); a->action; a++) {
		if (strcmp(a->user, user) == 0 && strcmp(a->action, action) == 0)
			return true;
	}
	return false;
}

/* A launch names things of several kinds; each is allowed by itself. */
static void put_launch(struct policy *p, const char *user)
{
	static const char *const born[] = { "arn:*:ec2:*:*:instance/*", "arn:*:ec2:*:*:volume/*", NULL };
	static const char *const used[] = {
		"arn:*:ec2:*:*:subnet/*",   "arn:*:ec2:*:*:network-interface/*", "arn:*:ec2:*:*:security-group/*",
		"arn:*:ec2:*:*:key-pair/*", "arn:*:ec2:*:*:placement-group/*",	 "arn:*:ec2:*:*:capacity-reservation/*",
		"arn:*:ec2:*::image/*",	    "arn:*:ec2:*::snapshot/*",		 NULL
	};

	if (!sends(user, "RunInstances"))
		return;
	statement(p, user, "Launch", one(p, "ec2:RunInstances"), list_of(p, born), tag_condition(p, "aws:RequestTag/"));
	statement(p, user, "LaunchFrom", one(p, "ec2:RunInstances"), one(p, "arn:*:ec2:*:*:launch-template/*"),
		  tag_condition(p, "aws:ResourceTag/"));
	statement(p, user, "LaunchWith", one(p, "ec2:RunInstances"), list_of(p, used), NULL);
}

/* EC2 asks about the fleet and what it is made of; what it launches it asks about as RunInstances, see above. */
static void put_fleet(struct policy *p, const char *user)
{
	static const char *const made_of[] = {
		"arn:*:ec2:*:*:fleet/*",	     "arn:*:ec2:*:*:instance/*",	"arn:*:ec2:*:*:volume/*",
		"arn:*:ec2:*:*:subnet/*",	     "arn:*:ec2:*:*:network-interface/*", "arn:*:ec2:*:*:security-group/*",
		"arn:*:ec2:*:*:key-pair/*",	     "arn:*:ec2:*:*:placement-group/*", "arn:*:ec2:*:*:capacity-reservation/*",
		"arn:*:ec2:*::image/*",		     "arn:*:ec2:*::snapshot/*",	  NULL
	};

	if (!sends(user, "CreateFleet"))
		return;
	statement(p, user, "FleetFrom", one(p, "ec2:CreateFleet"), one(p, "arn:*:ec2:*:*:launch-template/*"),
		  tag_condition(p, "aws:ResourceTag/"));
	statement(p, user, "FleetOf", one(p, "ec2:CreateFleet"), list_of(p, made_of), NULL);
}

/* Tags may be given only to what is being made. */
static void put_tags(struct policy *p, const char *user)
{
	static const char *const makers[] = { "RunInstances", "CreateFleet", "CreateLaunchTemplate", "CreatePlacementGroup",
					      NULL };
	struct json_object *c, *equals, *l;

	if (!sends(user, "CreateTags"))
		return;
	c = checked(p, json_object_new_object());
	equals = checked(p, json_object_new_object());
	l = checked(p, json_object_new_array());
	for (const char *const *m = makers; *m; m++) {
		if (sends(user, *m))
			append(p, l, *m);
	}
	put(p, equals, "ec2:CreateAction", l);
	put(p, c, "StringEquals", equals);
	statement(p, user, "Tags", one(p, "ec2:CreateTags"), one(p, "*"), c);
}

static void put_user(struct policy *p, const char *user)
{
	static const char *const special[] = { "RunInstances", "CreateFleet", "CreateTags", NULL };
	struct json_object *l;

	l = actions_of(p, user, "any", special);
	if (l)
		statement(p, user, "Read", l, one(p, "*"), NULL);
	put_launch(p, user);
	put_fleet(p, user);
	l = actions_of(p, user, "launch", special);
	if (l)
		statement(p, user, "Make", l, one(p, "*"), tag_condition(p, "aws:RequestTag/"));
	l = actions_of(p, user, "cluster-tag", special);
	if (l)
		statement(p, user, "Change", l, one(p, "*"), tag_condition(p, "aws:ResourceTag/"));
	put_tags(p, user);
}

/* Machines with an instance profile take a role; who launches them must be allowed to hand it over. */
static void put_roles(struct policy *p, const struct cluster *c)
{
	struct json_object *roles = NULL, *cond, *equals;

	for (size_t i = 0; c && i < c->n_queues; i++) {
		const struct queue *q = &c->queues[i];

		if (!q->instance_profile && !q->instance_role)
			continue;
		if (!roles)
			roles = checked(p, json_object_new_array());
		append(p, roles, q->instance_role ? q->instance_role : "arn:*:iam::*:role/*");
	}
	if (!roles)
		return;
	cond = checked(p, json_object_new_object());
	equals = checked(p, json_object_new_object());
	put(p, equals, "iam:PassedToService", text(p, "ec2.amazonaws.com"));
	put(p, cond, "StringEquals", equals);
	statement(p, "daemons", "PassRole", one(p, "iam:PassRole"), roles, cond);
}

static int print_policy(const char *who, const char *cluster_name, const struct cluster *c)
{
	struct policy p = { .list = json_object_new_array(), .cluster_name = cluster_name };
	struct json_object *doc = checked(&p, json_object_new_object());
	int rc;

	if (!p.list || !doc) {
		fputs("slurm-ec2 policy: out of memory\n", stderr);
		return EXIT_PROBLEM;
	}
	put(&p, doc, "Version", text(&p, "2012-10-17"));
	if (!who || strcmp(who, "daemons") == 0) {
		put_user(&p, "daemons");
		put_roles(&p, c);
	}
	if (!who || strcmp(who, "apply") == 0) {
		put_user(&p, "apply");
		statement(&p, "apply", "Quotas", one(&p, "servicequotas:ListServiceQuotas"), one(&p, "*"), NULL);
	}
	put(&p, doc, "Statement", p.list);
	rc = p.failed ? EXIT_PROBLEM : EXIT_OK;
	if (p.failed)
		fputs("slurm-ec2 policy: out of memory\n", stderr);
	else
		puts(json_object_to_json_string_ext(doc, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
								 JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(doc);
	return rc;
}

static int run(int argc, char **argv)
{
	static const struct option options[] = { { "cluster-name", required_argument, NULL, 'n' },
						 { "for", required_argument, NULL, 'f' },
						 { "json", no_argument, NULL, 'j' },
						 { NULL, 0, NULL, 0 } };
	const char *name = NULL, *who = NULL;
	struct cluster *cluster = NULL;
	struct problems p = { 0 };
	int c, status;

	while ((c = command_option(&cmd_policy, argc, argv, ":", options)) != -1) {
		if (c == 'n')
			name = optarg;
		else if (c == 'f')
			who = optarg;
		else if (c != 'j')
			return EXIT_USAGE;
	}
	if (argc - optind > 1)
		return command_usage_error(&cmd_policy, "give at most one FILE");
	if (who && strcmp(who, "daemons") != 0 && strcmp(who, "apply") != 0)
		return command_usage_error(&cmd_policy, "--for takes daemons or apply");
	if (optind < argc) {
		cluster = cluster_load(argv[optind], cluster_getenv_process, NULL, &p);
		if (!cluster)
			problems_print(&p, stderr);
	}
	status = optind < argc && !cluster ? EXIT_PROBLEM : print_policy(who, name, cluster);
	problems_clear(&p);
	cluster_destroy(cluster);
	return status;
}

const struct command cmd_policy = {
	.name = "policy",
	.help = "print the least IAM policy",
	.usage = "usage: slurm-ec2 policy [FILE] [--cluster-name NAME] [--for daemons|apply]\n"
		 "Print the IAM policy, as JSON, that our programs need: made from the list of calls they can send.\n\n"
		 "  FILE                 a cluster.yaml: iam:PassRole for the instance profiles it names\n"
		 "  --cluster-name NAME  narrow it to things tagged with this cluster's name (ClusterName)\n"
		 "  --for daemons        only what resume, suspend and clustermgtd need all the time\n"
		 "  --for apply          only what apply, status, limits and uninstall need in addition\n",
	.run = run,
};
