/* SPDX-License-Identifier: GPL-2.0-or-later */
/* extra.c - the launch id in a node's `extra`, both ways. Text that is not ours gives NULL, never an error: a site may
 * keep its own there. */
#include "lib/node/extra.h"

#include "lib/base/jview.h"
#include "lib/base/str.h"

#include <string.h>

#define KEY "slurm-ec2"

char *extra_format(const char *launch)
{
	struct json_object *o = json_object_new_object();
	char *text = NULL;

	if (o && !jview_put_str(o, KEY, launch))
		text = str_dup(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
	return text;
}

/* Text exactly as extra_format writes it, nothing to unescape: ten thousand nodes are read in each loop. Else NULL. */
static char *plain_launch(const char *extra)
{
	static const char begin[] = "{\"" KEY "\":\"";
	const char *launch = str_prefix(extra, begin) ? extra + strlen(begin) : "";
	size_t n = strcspn(launch, "\"\\");

	return n && !strcmp(launch + n, "\"}") ? str_fmt("%.*s", (int)n, launch) : NULL;
}

char *extra_launch(const char *extra)
{
	struct json_object *o;
	const char *launch = NULL;
	char *copy;

	if (!extra || *extra != '{')
		return NULL;
	copy = plain_launch(extra);
	if (copy)
		return copy;
	o = jview_parse(extra, strlen(extra), "extra", NULL);
	if (o && json_object_is_type(o, json_type_object) && !jview_str(o, KEY, &launch, NULL) && launch && *launch)
		copy = str_dup(launch);
	json_object_put(o);
	return copy;
}
