/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_limits.c - `slurm-ec2 limits`: what stands between a compute resource and its MaxCount: vCPU quotas, addresses of its
 * subnets, reservations, EC2's launch rate, and what EC2 was short of lately. Shows what limits_read.c and limits_judge.c
 * found.
 */
#include "build_config.h"

#include "cli/command.h"
#include "cli/limits.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/jview.h"
#include "lib/cluster/generation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- as text */

static const char *const titles[] = {"QUEUE",  "RESOURCE", "TYPE",	"MARKET",   "MAX",    "VCPUS", "QUOTA",
				     "OTHERS", "RUNNING",  "ADDRESSES", "RESERVED", "LAUNCH", "CLOSED"};
#define N_COLUMNS (sizeof(titles) / sizeof(titles[0]))
#define N_WORDS 4 /* the first are words, to the left; the others numbers, to the right */

static char *number(int64_t n)
{
	return n < 0 ? str_dup("?") : str_fmt("%" PRId64, n);
}

static const char *short_market(const char *market)
{
	return str_prefix(market, MARKET_RESERVED) ? "reserved" : market;
}

static char *reserved_cell(const struct limits_row *row)
{
	bool wanted = row->r->reserved || str_eq(row->market, MARKET_BLOCK);

	if (row->reserved_total >= 0)
		return str_fmt("%" PRId64 " of %" PRId64, row->reserved_free, row->reserved_total);
	return str_dup(row->reserved_gone ? "none" : wanted ? "?" : "-");
}

static char *cell(const struct limits *l, const struct limits_row *row, size_t column)
{
	const struct limits_quota *q = row->quota == SIZE_MAX ? NULL : &l->quotas[row->quota];
	bool first = row->stage == row->r->stages;

	switch (column) {
	case 0:
		return str_dup(first ? row->r->queue : "");
	case 1:
		return str_dup(first ? row->r->name : " else");
	case 2:
		return row->stage->instance_types.n == 1 ? str_dup(row->stage->instance_types.v[0])
							 : str_fmt("%zu types", row->stage->instance_types.n);
	case 3:
		return str_dup(short_market(row->market));
	case 4:
		return number(row->r->max_count);
	case 5:
		return number(row->vcpus);
	case 6:
		return q ? number(q->value) : str_dup("-");
	case 7:
		return q ? number(q->others) : str_dup("-");
	case 8:
		return number(row->running);
	case 9:
		return number(row->addresses);
	case 10:
		return reserved_cell(row);
	case 11:
		return row->seconds ? str_fmt("%" PRId64 " s", row->seconds) : str_dup("at once");
	default:
		return row->closed < 0 ? str_dup("?") : str_fmt("%" PRId64 " of %" PRId64, row->closed, row->offerings);
	}
}

static void print_line(const char *const *cells, const size_t *width)
{
	struct buf b = {0};

	for (size_t i = 0; i < N_COLUMNS; i++)
		buf_fmt(&b, "%s%*s", i ? "  " : "", i < N_WORDS ? -(int)width[i] : (int)width[i], cells[i]);
	puts(buf_text(&b));
	buf_free(&b);
}

/* All cells first, for their widths. */
static int print_table(const struct limits *l)
{
	size_t width[N_COLUMNS];
	struct strs cells = {0};
	int rc = 0;

	for (size_t c = 0; c < N_COLUMNS; c++)
		width[c] = strlen(titles[c]);
	for (size_t i = 0; i < l->n_rows * N_COLUMNS && rc == 0; i++) {
		char *text = cell(l, &l->rows[i / N_COLUMNS], i % N_COLUMNS);
		size_t n = text ? strlen(text) : 0;

		width[i % N_COLUMNS] = n > width[i % N_COLUMNS] ? n : width[i % N_COLUMNS];
		rc = text ? strs_take(&cells, text) : -1;
	}
	if (rc == 0)
		print_line(titles, width);
	for (size_t i = 0; i < l->n_rows && rc == 0; i++)
		print_line((const char *const *)&cells.v[i * N_COLUMNS], width);
	strs_clear(&cells);
	return rc;
}

static void print_quotas(const struct limits *l)
{
	for (size_t i = 0; i < l->n_quotas; i++) {
		const struct limits_quota *q = &l->quotas[i];
		char *value = number(q->value), *ours = number(q->ours), *others = number(q->others), *need = number(q->need);

		printf("quota %s  %s%s%s vCPUs; %s run here, %s are in use by others, %s are needed at MaxCount\n", q->code,
		       q->name ? q->name : "", q->name ? ": " : "", value ? value : "?", ours ? ours : "?",
		       others ? others : "?", need ? need : "?");
		free(need);
		free(value);
		free(ours);
		free(others);
	}
}

static void print_away(const struct limits *l)
{
	for (size_t i = 0; i < l->n_away; i++) {
		const struct limits_away *a = &l->away[i];

		printf("%s%s%s: ", limits_source_title(a->source), a->region ? " in " : "", a->region ? a->region : "");
		if (a->denied && limits_source_action(a->source))
			printf("not allowed; %s is needed, see slurm-ec2 policy --for apply: ",
			       limits_source_action(a->source));
		else
			printf("not known: ");
		puts(a->why);
	}
}

static int print_text(const struct limits *l)
{
	if (print_table(l))
		return -1;
	putchar('\n');
	print_quotas(l);
	if (l->n_quotas)
		putchar('\n');
	for (size_t i = 0; i < l->warnings.n; i++)
		puts(l->warnings.v[i]);
	if (!l->warnings.n)
		puts(l->n_away ? "no limit below MaxCount is known, as far as could be read"
			       : "no limit below MaxCount is known");
	print_away(l);
	return 0;
}

/* --- as JSON; what is not known is left out */

static int put_known(struct json_object *o, const char *key, int64_t n)
{
	return n < 0 ? 0 : jview_put_i64(o, key, n);
}

static int put_row(struct json_object *list, const struct limits *l, const struct limits_row *row)
{
	struct json_object *o = jview_add_object(list);

	return !o || jview_put_str(o, "queue", row->r->queue) || jview_put_str(o, "resource", row->r->name) ||
		       jview_put_i64(o, "stage", row->stage - row->r->stages) || jview_put_str(o, "market", row->market) ||
		       jview_put_strs(o, "instance_types", &row->stage->instance_types) ||
		       jview_put_i64(o, "max_count", row->r->max_count) || put_known(o, "running", row->running) ||
		       put_known(o, "vcpus", row->vcpus) ||
		       jview_put_str(o, "quota", row->quota == SIZE_MAX ? NULL : l->quotas[row->quota].code) ||
		       put_known(o, "quota_machines", row->quota_room) || put_known(o, "free_addresses", row->addresses) ||
		       jview_put_str(o, "reservation_state", row->reserved) || put_known(o, "reserved", row->reserved_total) ||
		       put_known(o, "reserved_free", row->reserved_free) || jview_put_i64(o, "launch_s", row->seconds) ||
		       jview_put_i64(o, "offerings", row->offerings) || put_known(o, "closed", row->closed)
		   ? -1
		   : 0;
}

static int put_quota(struct json_object *list, const struct limits *l, const struct limits_quota *q)
{
	struct json_object *o = jview_add_object(list);

	return !o || jview_put_str(o, "code", q->code) || jview_put_str(o, "name", q->name) ||
		       jview_put_str(o, "region", l->clouds[q->cloud].region) || put_known(o, "vcpus", q->value) ||
		       put_known(o, "ours", q->ours) || put_known(o, "others", q->others) || put_known(o, "needed", q->need)
		   ? -1
		   : 0;
}

static int put_away(struct json_object *list, const struct limits_away *a)
{
	struct json_object *o = jview_add_object(list);

	return !o || jview_put_str(o, "source", limits_source_key(a->source)) || jview_put_str(o, "region", a->region) ||
		       jview_put_bool(o, "denied", a->denied) || jview_put_str(o, "action", limits_source_action(a->source)) ||
		       jview_put_str(o, "error", a->why)
		   ? -1
		   : 0;
}

/* A fresh list under `key`, borrowed; NULL on no memory. */
static struct json_object *new_list(struct json_object *o, const char *key)
{
	struct json_object *list = json_object_new_array();

	return list && jview_put_obj(o, key, list) == 0 ? list : NULL;
}

static int put_all(struct json_object *o, const struct limits *l)
{
	struct json_object *rows = new_list(o, "resources"), *quotas = new_list(o, "quotas"), *away = new_list(o, "away");
	int rc = !rows || !quotas || !away || jview_put_str(o, "cluster_name", l->gen->cluster_name) ||
		 jview_put_i64(o, "now_ms", l->now_ms) || jview_put_strs(o, "warnings", &l->warnings);

	for (size_t i = 0; i < l->n_rows && !rc; i++)
		rc = put_row(rows, l, &l->rows[i]);
	for (size_t i = 0; i < l->n_quotas && !rc; i++)
		rc = put_quota(quotas, l, &l->quotas[i]);
	for (size_t i = 0; i < l->n_away && !rc; i++)
		rc = put_away(away, &l->away[i]);
	return rc ? -1 : 0;
}

static int print_json(const struct limits *l)
{
	struct json_object *o = json_object_new_object();
	int rc = o ? put_all(o, l) : -1;

	if (rc == 0)
		puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
							   JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
	return rc;
}

static int run(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {NULL, 0, NULL, 0}};
	struct limits l = {0};
	struct err e = {""};
	bool json = false;
	int c, rc, status;

	while ((c = command_option(&cmd_limits, argc, argv, ":", options)) != -1) {
		if (c != 'j')
			return EXIT_USAGE;
		json = true;
	}
	if (argc != optind)
		return command_usage_error(&cmd_limits, "\"%s\": no argument is expected", argv[optind]);
	rc = limits_read(&l, &e);
	if (rc == 0 && (limits_judge(&l) || (json ? print_json(&l) : print_text(&l))))
		rc = err_nomem(&e);
	if (rc)
		fprintf(stderr, "slurm-ec2 limits: %s\n", e.text);
	status = rc || l.n_away ? EXIT_PROBLEM : EXIT_OK;
	limits_clear(&l);
	return status;
}

const struct command cmd_limits = {
    .name = "limits",
    .help = "what is below MaxCount: quotas, addresses, reservations",
    .usage = "usage: slurm-ec2 limits [--json]\n"
	     "Show for each compute resource, and for each stage of its Fallback, what stands between it and MaxCount: the\n"
	     "vCPUs it needs, the vCPU quota and what others use of it, free addresses of its subnets, its reservation (free\n"
	     "of all), how long EC2 takes to launch all, and how many of its offerings (type and zone) EC2 was short of\n"
	     "lately. Then a sentence for each limit below MaxCount. What may not be read or does not answer is said and\n"
	     "shown as \"?\".\n\n"
	     "  --json  one JSON object: resources, quotas, warnings, away\n\n"
	     "Exit status: 0 all sources answered, 1 one did not, or nothing is applied, 2 wrong usage.\n",
    .run = run,
};
