/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load.c - cluster.yaml and settings.yaml from disk: the only file opener of this room. */
#include "lib/cluster/load.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/problem.h"
#include "lib/cluster/document.h"
#include "lib/cluster/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int read_file(const char *path, struct buf *out, struct problems *p)
{
	struct err e;

	if (file_read(path, DOCUMENT_MAX_BYTES, out, &e) == 0)
		return 0;
	problems_add(p, PROBLEM_ERROR, NULL, 0, 0, NULL, "%s", e.text);
	return -1;
}

struct cluster *cluster_load(const char *path, cluster_getenv_fn get, void *arg, struct problems *p)
{
	struct cluster *c = NULL;
	struct buf text = {0};

	if (read_file(path, &text, p) == 0)
		c = cluster_parse(path, buf_text(&text), text.n, get, arg, p);
	buf_free(&text);
	return c;
}

const char *cluster_getenv_process(void *arg, const char *name)
{
	(void)arg;
	return getenv(name);
}

struct settings *settings_load(const char *path, struct problems *p)
{
	struct settings *s = NULL;
	struct buf text = {0};

	/* Only absence means defaults: a file that cannot be read must not be passed over. */
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return settings_parse(path, "", 0, p);
	if (read_file(path, &text, p) == 0)
		s = settings_parse(path, buf_text(&text), text.n, p);
	buf_free(&text);
	return s;
}
