/* test_store.h - what the tests of the store share: a folder with a state file, launches made from text. */
#ifndef SE_TESTS_UNIT_TEST_STORE_H
#define SE_TESTS_UNIT_TEST_STORE_H

#include "tests/unit/test.h"

#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/str.h"
#include "lib/state/store.h"

#include <sqlite3.h>

static char *folder, *path; /* of the current test */

static inline int set_up(void **state)
{
	(void)state;
	folder = test_folder();
	path = file_join(folder, "state.db");
	return 0;
}

static inline int tear_down(void **state)
{
	(void)state;
	file_remove_tree(folder, NULL);
	free(path);
	free(folder);
	return 0;
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static inline struct store *open_store(void)
{
	struct err note, e = {""};
	struct store *s = store_open(path, &note, &e);

	if (!s || note.text[0])
		fail_msg("%s%s", e.text, s ? note.text : "");
	return s;
}

/* A launch for the nodes of a comma list; launch_clear() frees it. */
static inline struct launch make_launch(const char *id, const char *nodes)
{
	struct launch l = {
		.id = str_dup(id), .queue = str_dup("q"), .resource = str_dup("r"), .min_count = 1, .created_ms = 1000, .pid = 77};

	assert_int_equal(strs_split(&l.nodes, nodes, ','), 0);
	return l;
}

static inline void launch_clear(struct launch *l)
{
	struct launches list = {.v = malloc(sizeof *l), .n = 1, .cap = 1};

	list.v[0] = *l;
	launches_clear(&list);
}

/* Claim and compare: what was won and what was taken, as comma lists. */
static inline void claim(struct store *s, const char *id, const char *nodes, const char *won, const char *taken)
{
	struct launch l = make_launch(id, nodes);
	struct strs lost = {0};
	struct err e = {""};
	char *a, *b;

	if (store_launch_claim(s, &l, &lost, &e))
		fail_msg("%s: %s", id, e.text);
	a = strs_join(&l.nodes, ",");
	b = strs_join(&lost, ",");
	assert_string_equal(a, won);
	assert_string_equal(b, taken);
	free(a);
	free(b);
	strs_clear(&lost);
	launch_clear(&l);
}

/* "LBF launch instance ip" of a node, "" if there is no row. */
static inline void row_is(struct store *s, const char *node, const char *expect)
{
	struct bindings b = {0};
	char *text;

	assert_int_equal(store_binding(s, node, &b, NULL), 0);
	if (b.n == 0)
		text = str_dup("");
	else
		text = str_fmt("%c %s %s %s", "LBF"[b.v[0].state], b.v[0].launch ? b.v[0].launch : "-",
			       b.v[0].instance ? b.v[0].instance : "-", b.v[0].ip ? b.v[0].ip : "-");
	assert_string_equal(text, expect);
	free(text);
	bindings_clear(&b);
}

static inline int64_t generation_of(struct store *s, const char *node)
{
	struct bindings b = {0};
	int64_t g;

	assert_int_equal(store_binding(s, node, &b, NULL), 0);
	g = b.n ? b.v[0].generation : -1;
	bindings_clear(&b);
	return g;
}

static inline void raw_sql(const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), 0);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), 0);
	sqlite3_close(db);
}

#endif
