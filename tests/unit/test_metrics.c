/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_metrics.c - what Prometheus reads: every line by the rules of its text format, the numbers, the port; and that the dashboard
 * and the alert rules speak of metrics that are there. */
#include "clustermgtd/exporter.h"
#include "clustermgtd/metrics.h"
#include "clustermgtd/observe.h"
#include "lib/apply/event.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/jview.h"
#include "lib/base/str.h"
#include "lib/cluster/generation.h"
#include "lib/state/store.h"
#include "tests/unit/fake_world.h"
#include "tests/unit/test.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <sys/socket.h>
#include <yaml.h>

/* ---- a strict reader of the text format */

static bool name_char(char c, bool first)
{
	return isalpha((unsigned char)c) || c == '_' || (!first && isdigit((unsigned char)c));
}

static const char *skip_name(const char *p)
{
	if (!name_char(*p, true))
		fail_msg("no name: %s", p);
	while (name_char(*p, false))
		p++;
	return p;
}

/* After the opening brace; gives what follows the closing one. */
static const char *skip_labels(const char *p)
{
	for (;;) {
		p = skip_name(p);
		if (p[0] != '=' || p[1] != '"')
			fail_msg("no label value: %s", p);
		for (p += 2; *p != '"'; p++) {
			if (!*p || (*p == '\\' && !strchr("\\\"n", *++p)))
				fail_msg("a label value does not end well: %s", p);
		}
		p++;
		if (*p == '}')
			return p + 1;
		if (*p++ != ',')
			fail_msg("between labels: %s", p);
	}
}

static void check_value(const char *p)
{
	char *end;

	strtod(p, &end);
	if (end == p || *end || isspace((unsigned char)*p))
		fail_msg("no number: %s", p);
}

struct text {
	struct strs families; /* in order */
	struct strs series;   /* name and labels */
};

static void read_sample(struct text *t, const char *line, const char *type)
{
	const char *end = skip_name(line), *family = t->families.n ? t->families.v[t->families.n - 1] : "";
	char *series;

	if (strncmp(line, family, (size_t)(end - line)) || strlen(family) != (size_t)(end - line))
		fail_msg("outside of its family %s: %s", family, line);
	if (*end == '{')
		end = skip_labels(end + 1);
	if (*end != ' ')
		fail_msg("no blank before the value: %s", line);
	check_value(end + 1);
	if (str_eq(type, "counter") && end[1] == '-')
		fail_msg("a counter below 0: %s", line);
	series = str_fmt("%.*s", (int)(end - line), line);
	if (strs_has(&t->series, series))
		fail_msg("twice: %s", series);
	strs_take(&t->series, series);
}

/* HELP, TYPE, samples; each family once. */
static void parse(const char *text, struct text *t)
{
	struct strs lines = {0};
	char name[128] = "", type[16] = "";

	assert_true(*text && text[strlen(text) - 1] == '\n');
	assert_int_equal(strs_split(&lines, text, '\n'), 0);
	for (size_t i = 0; i < lines.n; i++) {
		const char *line = lines.v[i];

		if (str_prefix(line, "# HELP ")) {
			assert_int_equal(sscanf(line, "# HELP %127s %*s", name), 1);
			assert_true(str_prefix(name, "slurm_ec2_") && !strs_has(&t->families, name));
			assert_true(i + 1 < lines.n && str_prefix(lines.v[i + 1], "# TYPE "));
			strs_add(&t->families, name);
		} else if (str_prefix(line, "# TYPE ")) {
			char again[128];

			assert_int_equal(sscanf(line, "# TYPE %127s %15s", again, type), 2);
			assert_string_equal(again, name);
			assert_true(str_eq(type, "gauge") || str_eq(type, "counter"));
			assert_int_equal(str_eq(type, "counter"), strlen(name) > 6 && str_eq(name + strlen(name) - 6, "_total"));
		} else {
			read_sample(t, line, type);
		}
	}
	strs_clear(&lines);
}

static void text_clear(struct text *t)
{
	strs_clear(&t->families);
	strs_clear(&t->series);
}

/* ---- a cluster in which much is going on */

static struct world w;
static struct observed seen;
static struct kept kept;
static struct protection protection[3];

static void put_node(const char *name, uint32_t node_state)
{
	struct node *n = nodes_add(&seen.nodes);

	n->name = str_dup(name);
	n->state = node_state;
}

static void put_machine(const char *id, enum instance_state is, const char *queue, const char *resource)
{
	struct instance *m = instances_add(&seen.merged);

	m->id = str_dup(id);
	m->state = is;
	m->queue = str_dup(queue);
	m->resource = str_dup(resource);
}

static void put_bound(const char *node, const char *id)
{
	struct binding *b = bindings_add(&seen.bindings);

	b->node = str_dup(node);
	b->instance = str_dup(id);
	b->state = id ? BINDING_BOUND : BINDING_LAUNCHING;
}

static void put_violation(const char *code)
{
	assert_int_equal(mem_grow(&seen.violations.v, &seen.violations.cap, seen.violations.n + 1, sizeof *seen.violations.v), 0);
	seen.violations.v[seen.violations.n++] = (struct violation){.code = code};
}

static int set_up(void **state)
{
	struct shortage *s;

	(void)state;
	fake_open(&w, false);
	memset(&seen, 0, sizeof seen);
	memset(&kept, 0, sizeof kept);
	seen.slurm = seen.ec2 = seen.rows = true;
	put_node("q-dy-a-1", NS_IDLE | NS_CLOUD | NS_POWERED_DOWN);
	put_node("q-dy-a-2", NS_ALLOCATED | NS_CLOUD);
	put_node("q-dy-a-3", NS_MIXED | NS_CLOUD | NS_DRAIN);
	put_node("q-dy-f-1", NS_DOWN | NS_CLOUD | NS_POWERED_DOWN);
	put_node("login1", NS_IDLE);
	put_machine("i-1", INSTANCE_RUNNING, "q", "a");
	put_machine("i-2", INSTANCE_PENDING, "q", "f");
	put_machine("i-3", INSTANCE_TERMINATED, "q", "f");
	put_machine("i-4", INSTANCE_RUNNING, "gone \"q\"\n", "x\\");
	seen.instances = &seen.merged;
	put_bound("q-dy-a-2", "i-1");
	put_bound("q-dy-f-2", NULL);
	s = shortages_add(&seen.shortages, "m", "za \"\\\n", "spot");
	s->until_ms = clock_wall_ms() + 60000;
	s->failures = 3;
	put_violation("machine-without-row");
	put_violation("machine-without-row");
	protection[0] = (struct protection){.on = true, .count = 10};
	seen.protection = protection;
	seen.fleet.status = FLEET_STOPPING;
	source_report(&kept.sources, SOURCE_SLURM, NULL);
	source_report(&kept.sources, SOURCE_EC2, &(struct err){"EC2 says no"});
	assert_int_equal(store_counter_add(w.store, EVENT_TOTAL_PREFIX "launched", 12, NULL, NULL), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	seen.protection = NULL;
	instances_clear(&seen.merged);
	observed_clear(&seen);
	kept_clear(&kept);
	fake_close(&w);
	return 0;
}

static void expect_line(const char *text, const char *line)
{
	char *whole = str_fmt("\n%s\n", line);

	if (!strstr(text, whole))
		fail_msg("no line \"%s\" in:\n%s", line, text);
	free(whole);
}

static char *one_loop(void)
{
	struct plan p = {0};
	char *text;

	plan_add(&p, ACT_TERMINATE, "orphan");
	kept.metrics.wanted = true;
	metrics_loop(&w, &seen, &kept, &p, 1, 1500250);
	plan_clear(&p);
	text = kept.metrics.text;
	kept.metrics.text = NULL;
	return text;
}

static void numbers(void **state)
{
	static const char *const lines[] = {
	    "slurm_ec2_nodes{queue=\"q\",resource=\"a\",state=\"off\"} 1",
	    "slurm_ec2_nodes{queue=\"q\",resource=\"a\",state=\"allocated\"} 1",
	    "slurm_ec2_nodes{queue=\"q\",resource=\"a\",state=\"draining\"} 1",
	    "slurm_ec2_nodes{queue=\"q\",resource=\"a\",state=\"idle\"} 0",
	    "slurm_ec2_nodes{queue=\"q\",resource=\"f\",state=\"down\"} 1",
	    "slurm_ec2_machines{queue=\"q\",resource=\"a\",state=\"running\"} 1",
	    "slurm_ec2_machines{queue=\"q\",resource=\"f\",state=\"pending\"} 1",
	    "slurm_ec2_machines{queue=\"\",resource=\"\",state=\"running\"} 1",
	    "slurm_ec2_machines_without_node 2",
	    "slurm_ec2_nodes_with_row{state=\"launching\"} 1",
	    "slurm_ec2_nodes_with_row{state=\"bound\"} 1",
	    "slurm_ec2_machines_launched_total 12",
	    "slurm_ec2_machines_bound_total 0",
	    "slurm_ec2_capacity_closed{type=\"m\",zone=\"za \\\"\\\\\\n\",market=\"spot\"} 1",
	    "slurm_ec2_capacity_refusals{type=\"m\",zone=\"za \\\"\\\\\\n\",market=\"spot\"} 3",
	    "slurm_ec2_protected{queue=\"q\",resource=\"a\"} 1",
	    "slurm_ec2_boot_failures{queue=\"q\",resource=\"a\"} 10",
	    "slurm_ec2_protected{queue=\"q\",resource=\"f\"} 0",
	    "slurm_ec2_invariant_violations{code=\"machine-without-row\"} 2",
	    "slurm_ec2_invariant_violated_loops_total{code=\"machine-without-row\"} 1",
	    "slurm_ec2_invariant_violations{code=\"machine-with-two-nodes\"} 0",
	    "slurm_ec2_fleet_status{status=\"STOPPING\"} 1",
	    "slurm_ec2_fleet_status{status=\"RUNNING\"} 0",
	    "slurm_ec2_source_degraded{source=\"ec2\"} 1",
	    "slurm_ec2_source_degraded{source=\"slurm\"} 0",
	    "slurm_ec2_loops_total 1",
	    "slurm_ec2_loop_duration_seconds 1.500250",
	    "slurm_ec2_actions_total{kind=\"terminate\"} 1",
	    "slurm_ec2_actions_failed_total 1",
	    "slurm_ec2_frozen 0",
	    "slurm_ec2_slurm_requests_total{request=\"update nodes\"} 1",
	};
	struct text t = {.families = {0}};
	char *text = one_loop();

	(void)state;
	parse(text, &t);
	for (size_t i = 0; i < COUNT(lines); i++)
		expect_line(text, lines[i]);
	assert_null(strstr(text, "q-dy-a-"));
	assert_null(strstr(text, "source_last_success_timestamp_seconds{source=\"ec2\"}"));
	assert_non_null(strstr(text, "source_last_success_timestamp_seconds{source=\"slurm\"} 1"));
	text_clear(&t);
	free(text);
	text = one_loop();
	expect_line(text, "slurm_ec2_loops_total 2");
	expect_line(text, "slurm_ec2_loop_seconds_total 3.000500");
	free(text);
}

/* What was not read is not told as nothing. */
static void unread(void **state)
{
	struct text t = {.families = {0}};
	char *text;

	(void)state;
	seen.slurm = seen.rows = false;
	seen.instances = NULL;
	text = one_loop();
	parse(text, &t);
	assert_null(strstr(text, "\nslurm_ec2_nodes{"));
	assert_null(strstr(text, "\nslurm_ec2_machines{"));
	assert_null(strstr(text, "\nslurm_ec2_machines_without_node "));
	assert_null(strstr(text, "\nslurm_ec2_launches_open "));
	text_clear(&t);
	free(text);
}

static void status_line(void **state)
{
	char *text = metrics_status(&w, &seen, &kept);
	char when[25], *want;

	(void)state;
	clock_iso(metrics_degraded_since(&kept, SOURCE_EC2), when);
	want = str_fmt("STOPPING, 4 nodes, 3 machines, ec2 degraded since %.5s UTC", when + 11);
	assert_string_equal(text, want);
	free(text);
	free(want);
}

/* What passed the brake is not held, though the brake remembers it until a look asks for less. */
static void tells_what_the_brake_holds(void **state)
{
	static const struct {
		size_t held;
		const char *metric, *status;
	} c[] = {{2, "\nslurm_ec2_brake_held_machines 2\n", ", 2 terminations held back"},
		 {0, "\nslurm_ec2_brake_held_machines 0\n", NULL}};

	(void)state;
	assert_int_equal(strs_add(&kept.brake.instances, "i-1") || strs_add(&kept.brake.instances, "i-2"), 0);
	for (size_t i = 0; i < COUNT(c); i++) {
		char *text, *status;

		kept.brake.held = c[i].held;
		text = metrics_text(&w, &seen, &kept);
		status = metrics_status(&w, &seen, &kept);
		assert_non_null(strstr(text, c[i].metric));
		assert_true(c[i].status ? strstr(status, c[i].status) != NULL : !strstr(status, "held back"));
		free(text);
		free(status);
	}
	brake_clear(&kept.brake);
}

static void words(void **state)
{
	static const struct {
		uint32_t is;
		const char *word;
	} c[] = {
	    {NS_IDLE | NS_POWERED_DOWN, "off"},
	    {NS_IDLE | NS_POWERED_DOWN | NS_DRAIN, "off"},
	    {NS_DOWN | NS_POWERED_DOWN, "down"},
	    {NS_ALLOCATED | NS_POWERING_UP, "powering-up"},
	    {NS_DOWN | NS_POWERING_DOWN, "powering-down"},
	    {NS_IDLE | NS_POWERING_UP | NS_NO_RESPOND, "powering-up"},
	    {NS_IDLE | NS_COMPLETING, "allocated"},
	    {NS_IDLE | NS_DRAIN, "drained"},
	    {NS_IDLE | NS_DRAIN | NS_COMPLETING, "draining"},
	    {NS_IDLE | NS_FAIL, "down"},
	    {NS_MIXED, "mixed"},
	    {NS_UNKNOWN, "other"},
	    {NS_FUTURE | (1u << 31), "other"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(c); i++)
		assert_string_equal(node_word_text(node_word_of(c[i].is)), c[i].word);
}

/* ---- the port */

static int listener(int64_t *port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof at;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, n), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
	*port = ntohs(at.sin_port);
	return fd;
}

/* The whole answer to one request; "" if nobody listens. */
static char *ask(int64_t port, const char *method, const char *url)
{
	struct sockaddr_in at = {
	    .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	char *rq = str_fmt("%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", method, url);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct buf b = {0};
	char part[4096];
	ssize_t n;

	if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0) {
		assert_int_equal(send(fd, rq, strlen(rq), MSG_NOSIGNAL), (ssize_t)strlen(rq));
		while ((n = recv(fd, part, sizeof part, 0)) > 0)
			buf_add(&b, part, (size_t)n);
	}
	close(fd);
	free(rq);
	buf_str(&b, "");
	return buf_take(&b);
}

static void expect_answer(int64_t port, const char *method, const char *url, const char *status, const char *part)
{
	char *got = ask(port, method, url);

	if (!str_prefix(got, status) || !strstr(got, part))
		fail_msg("%s %s: not \"%s\" with \"%s\": %s", method, url, status, part, got);
	free(got);
}

static void serves_one_page(void **state)
{
	struct exporter *x = exporter_create(NULL);
	struct err e = {""};
	int64_t port;
	int fd = listener(&port);
	char *got;

	(void)state;
	assert_int_equal(exporter_listen(x, port, &e), -1);
	assert_non_null(strstr(e.text, "MetricsPort"));
	close(fd);
	assert_int_equal(exporter_listen(x, port, &e), 0);
	assert_int_equal(exporter_listen(x, port, &e), 0);
	expect_answer(port, "GET", "/metrics", "HTTP/1.1 503", "no loop has ended");
	exporter_publish(x, str_dup("slurm_ec2_loops_total 1\n"));
	expect_answer(port, "GET", "/metrics", "HTTP/1.1 200", "\r\n\r\nslurm_ec2_loops_total 1\n");
	expect_answer(port, "GET", "/metrics?x=1", "HTTP/1.1 200", "text/plain; version=0.0.4");
	exporter_publish(x, NULL);
	exporter_publish(x, str_dup("slurm_ec2_loops_total 2\n"));
	expect_answer(port, "GET", "/metrics", "HTTP/1.1 200", "total 2");
	expect_answer(port, "GET", "/", "HTTP/1.1 404", "");
	expect_answer(port, "GET", "/metrics/", "HTTP/1.1 404", "");
	expect_answer(port, "POST", "/metrics", "HTTP/1.1 405", "Allow: GET");
	expect_answer(port, "HEAD", "/metrics", "HTTP/1.1 405", "Allow: GET");
	assert_int_equal(exporter_listen(x, 0, &e), 0);
	got = ask(port, "GET", "/metrics");
	assert_string_equal(got, "");
	free(got);
	exporter_destroy(x);
}

/* ---- who reads them */

/* Names of ours in a query, each once. */
static void find_names(const char *text, struct strs *out)
{
	const char *p = text;

	while ((p = strstr(p, "slurm_ec2_"))) {
		const char *end = skip_name(p);
		char *name = str_fmt("%.*s", (int)(end - p), p);

		if (!strs_has(out, name))
			strs_add(out, name);
		free(name);
		p = end;
	}
}

static void expect_names(const char *file, const struct strs *names, size_t least)
{
	struct text t = {.families = {0}};
	char *text = one_loop();

	parse(text, &t);
	if (names->n < least)
		fail_msg("%s speaks of %zu metrics only", file, names->n);
	for (size_t i = 0; i < names->n; i++) {
		if (!strs_has(&t.families, names->v[i]))
			fail_msg("%s: clustermgtd has no metric %s", file, names->v[i]);
	}
	text_clear(&t);
	free(text);
}

static void dashboard(void **state)
{
	static const char file[] = SRCDIR "/conf/grafana/slurm-ec2.json";
	struct json_object *o, *panels = NULL;
	struct strs names = {0};
	struct buf b = {0};
	struct err e = {""};

	(void)state;
	assert_int_equal(file_read(file, 1 << 20, &b, &e), 0);
	o = jview_parse(buf_text(&b), b.n, file, &e);
	if (!o || jview_array(o, "panels", &panels, &e) < 0 || !panels)
		fail_msg("%s: %s", file, e.text);
	for (size_t i = 0; i < json_object_array_length(panels); i++) {
		struct json_object *targets = NULL, *p = json_object_array_get_idx(panels, i);
		const char *expr;

		assert_int_equal(jview_array(p, "targets", &targets, &e), 0);
		assert_true(json_object_array_length(targets) > 0);
		for (size_t k = 0; k < json_object_array_length(targets); k++) {
			assert_int_equal(jview_str(json_object_array_get_idx(targets, k), "expr", &expr, &e), 0);
			find_names(expr, &names);
		}
	}
	json_object_put(o);
	find_names(buf_text(&b), &names); /* also of the variables */
	expect_names(file, &names, 20);
	strs_clear(&names);
	buf_free(&b);
}

/* Every value whose key is expr; each alert has one. */
static void alert_rules(void **state)
{
	static const char file[] = SRCDIR "/conf/prometheus/slurm-ec2.rules.yml";
	FILE *f = fopen(file, "r");
	struct strs names = {0};
	yaml_parser_t parser;
	yaml_event_t event;
	bool expr = false, end = false;
	size_t alerts = 0, exprs = 0;

	(void)state;
	assert_non_null(f);
	assert_true(yaml_parser_initialize(&parser));
	yaml_parser_set_input_file(&parser, f);
	while (!end) {
		if (!yaml_parser_parse(&parser, &event))
			fail_msg("%s:%zu: %s", file, parser.problem_mark.line + 1, parser.problem);
		if (event.type == YAML_SCALAR_EVENT) {
			const char *text = (const char *)event.data.scalar.value;

			if (expr)
				find_names(text, &names);
			expr = str_eq(text, "expr");
			exprs += expr;
			alerts += str_eq(text, "alert");
		}
		end = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	fclose(f);
	assert_true(alerts >= 7);
	assert_int_equal(alerts, exprs);
	expect_names(file, &names, 7);
	strs_clear(&names);
}

#define EACH(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(numbers), EACH(unread), EACH(status_line), EACH(tells_what_the_brake_holds), cmocka_unit_test(words), cmocka_unit_test(serves_one_page),
	    EACH(dashboard), EACH(alert_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
