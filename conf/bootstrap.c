/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bootstrap.c - fill the boot script's places. Pure: the template is part of the program. Called by apply (render) and resume
 * (launch).
 *
 * Every place stands between single quotes in the template, and no quote, blank, backslash or control character is let into
 * one, so a value can never become shell code. */
#include "conf/bootstrap.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/cluster/generation.h"
#include "lib/node/nodeset.h"

#include <stdlib.h>
#include <string.h>

static const char template[] =
#include "conf/bootstrap_text.h"
    ;

#define LAUNCH_PLACE "#@LAUNCH@\n"

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/@-"

static bool is_made_of(const char *value, const char *allowed)
{
	return value[strspn(value, allowed)] == '\0';
}

struct slot {
	const char *name; /* with its @ signs */
	const char *what; /* for messages */
	const char *value;
	bool may_be_empty;
};

static int check_slot(const struct slot *p, struct err *e)
{
	if (!p->value || !*p->value)
		return p->may_be_empty ? 0 : err_set(e, "the boot script needs %s and there is none", p->what);
	if (!is_made_of(p->value, PLAIN))
		return err_set(e, "%s \"%s\" cannot stand in the boot script: only letters, digits and . _ : / @ - can",
			       p->what, p->value);
	return 0;
}

static const struct slot *find_slot(const struct slot *slots, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(text, slots[i].name, strlen(slots[i].name)) == 0)
			return &slots[i];
	return NULL;
}

static void fill(struct buf *out, const struct slot *slots, size_t n)
{
	const char *rest = template;

	for (const char *at; (at = strchr(rest, '@'));) {
		const struct slot *p = find_slot(slots, n, at);
		if (!p) {
			buf_add(out, rest, (size_t)(at - rest) + 1);
			rest = at + 1;
			continue;
		}
		buf_add(out, rest, (size_t)(at - rest));
		buf_str(out, p->value);
		rest = at + strlen(p->name);
	}
	buf_str(out, rest);
}

/* The finished script, or NULL: out of memory or too large. */
static char *finish(struct buf *b, struct err *e)
{
	if (buf_failed(b)) {
		err_nomem(e);
		buf_free(b);
		return NULL;
	}
	if (b->n > USER_DATA_MAX) {
		err_set(e, "the boot script has %zu bytes; EC2 takes %d: launch fewer nodes in one call", b->n, USER_DATA_MAX);
		buf_free(b);
		return NULL;
	}
	return buf_take(b);
}

char *bootstrap_render(const struct generation *g, struct err *e)
{
	struct buf port = {0}, limit = {0}, out = {0};
	char *script = NULL;

	buf_fmt(&port, "%d", g->slurmctld_port);
	buf_fmt(&limit, "%lld", (long long)g->resume_timeout_s);
	const struct slot slots[] = {
	    {"@HEAD@", "the head node's address", g->head_address, false},
	    {"@PORT@", "slurmctld's port", buf_text(&port), false},
	    {"@CLUSTER@", "the cluster's name", g->cluster_name, false},
	    {"@CLUSTER_ID@", "the cluster's id", g->uuid, false},
	    {"@MUNGE_SOCKET@", "munge's socket", g->munge_socket, true},
	    {"@TIMEOUT@", "ResumeTimeout", buf_text(&limit), false},
	    {"@COMPUTEMGTD@", "the path of computemgtd", SBINDIR "/computemgtd", false},
	};
	const size_t n = sizeof(slots) / sizeof(*slots);

	if (buf_failed(&port) || buf_failed(&limit)) {
		err_nomem(e);
		goto out;
	}
	for (size_t i = 0; i < n; i++)
		if (check_slot(&slots[i], e) < 0)
			goto out;
	fill(&out, slots, n);
	script = finish(&out, e);
out:
	buf_free(&port);
	buf_free(&limit);
	return script;
}

char *bootstrap_resource(const char *base, bool no_smt, struct err *e)
{
	const char *place = strstr(base, LAUNCH_PLACE);
	struct buf out = {0};

	buf_add(&out, base, no_smt && place ? (size_t)(place - base) : 0);
	buf_str(&out, no_smt && place ? "NO_SMT=1\n" : "");
	buf_str(&out, no_smt && place ? place : base);
	return finish(&out, e);
}

char *bootstrap_launch(const char *base, const char *launch, const char *const *nodes, size_t n, struct err *e)
{
	const char *place = strstr(base, LAUNCH_PLACE);
	struct buf out = {0};
	char *list, *script = NULL;

	if (!place) {
		err_set(e, "the applied boot script has no place for a launch: run slurm-ec2 apply again");
		return NULL;
	}
	list = nodeset_text_of(nodes, n);
	if (!list) {
		err_nomem(e);
		return NULL;
	}
	if (!*launch || !is_made_of(launch, PLAIN) || !is_made_of(list, PLAIN "[],")) {
		err_set(e, "launch \"%s\" or its node list has characters that cannot stand in the boot script", launch);
	} else {
		buf_add(&out, base, (size_t)(place - base));
		buf_fmt(&out, "LAUNCH='%s'\nNODES='%s'\n", launch, list);
		buf_str(&out, place + strlen(LAUNCH_PLACE));
		script = finish(&out, e);
	}
	free(list);
	return script;
}
