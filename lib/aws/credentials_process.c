/* SPDX-License-Identifier: GPL-2.0-or-later */
/* credentials_process.c - keys from a program that a profile names. Called by credentials_role.c. The command is split as a
 * shell would, but no shell ever sees it; what it prints is wiped, and its messages are not repeated: they may hold secrets. */
#include "lib/aws/credentials_chain.h"

#include "lib/aws/secret.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/proc.h"
#include "lib/base/str.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_MS 20000

extern char **environ;

/* One character of a word at *p, quotes and backslashes understood; *quote = the open quote or 0. Moves *p. */
static void take_char(const char **p, char *quote, struct buf *word)
{
	char c = *(*p)++;

	if (!*quote && (c == '\'' || c == '"')) {
		*quote = c;
	} else if (c == *quote) {
		*quote = 0;
	} else if (c == '\\' && **p && (!*quote || (*quote == '"' && (**p == '"' || **p == '\\')))) {
		buf_char(word, *(*p)++);
	} else {
		buf_char(word, c);
	}
}

/* The next word; NULL at the end, or with *bad when it has none. Caller frees. */
static char *next_word(const char **p, bool *bad)
{
	struct buf word = {0};
	char quote = 0, *text;

	*p += strspn(*p, " \t\r\n");
	if (!**p)
		return NULL;
	buf_str(&word, "");
	while (**p && (quote || !strchr(" \t\r\n", **p)))
		take_char(p, &quote, &word);
	text = buf_take(&word);
	*bad = quote || !text;
	if (*bad)
		secret_free(&text);
	return text;
}

/* argv, NULL at its end: one more than n. -1 = a quote is left open. */
static int split(const char *command, struct strs *argv)
{
	bool bad = false;
	char *word;

	while ((word = next_word(&command, &bad)))
		if (strs_take(argv, word))
			return -1;
	return bad || !argv->n || mem_grow(&argv->v, &argv->cap, argv->n + 1, sizeof *argv->v) ? -1 : 0;
}

struct process {
	const struct chain *c;
	const char *command;
};

static int run(const struct process *p, const struct strs *argv, struct buf *out, struct err *e)
{
	const char *const *env = p->c->s->environment ? (const char *const *)(void *)environ : NULL;
	struct proc_result r = {0};

	if (proc_read((const char *const *)(void *)argv->v, env, LIMIT_MS, out, &r, e))
		return -1;
	if (r.timed_out)
		return err_set(e, "%s took longer than %d s and was ended", argv->v[0], LIMIT_MS / 1000);
	if (r.signal)
		return err_set(e, "%s was ended by signal %d", argv->v[0], r.signal);
	if (r.exit_code)
		return err_set(e, "%s ended with exit code %d; run it by hand as %s to see why", argv->v[0], r.exit_code,
			       p->c->s->environment ? "yourself" : "SlurmUser");
	return 0;
}

static int fetch(void *arg, struct credentials *out, struct err *e)
{
	static const struct key_words words = {"what it prints", "SessionToken", 1};
	const struct process *p = arg;
	struct strs argv = {0};
	struct buf text = {0};
	int rc;

	secret_reserve(&text);
	if (split(p->command, &argv))
		rc = err_set(e, "the command is empty or has a quote without its end");
	else
		rc = run(p, &argv, &text, e) ? -1 : keys_from_json(buf_text(&text), text.n, &words, out, e);
	secret_strs_clear(&argv);
	secret_buf_free(&text);
	return rc;
}

int keys_from_process(const struct chain *c, const char *profile, const char *command, struct credentials *out, struct err *e)
{
	const char *const parts[] = {command, profile, c->s->credentials_file, c->s->config_file};
	struct process p = {c, command};

	if (keys_shared(c, "process", parts, sizeof parts / sizeof *parts, fetch, &p, out, e))
		return err_prefix(e, "credential_process of profile %s", profile);
	return 0;
}
