/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_update.c - node updates against a slurmctld of a few lines, which pairs names and addresses as 22.05.0 to 22.05.7 do: the
 * names in its own order, the addresses as they came. */
#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/slurmctl/slurm_compat.h"
#include "lib/slurmctl/slurmctl.h"
#include "tests/unit/test.h"

static struct kvs addr;           /* node -> address */
static bool sorts;                /* the fault */
static const char *version;
static int updates, loads;

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void set_addr(const char *node, const char *text)
{
	for (size_t i = 0; i < addr.key.n; i++) {
		if (!str_eq(addr.key.v[i], node))
			continue;
		free(addr.val.v[i]);
		addr.val.v[i] = str_dup(text);
		return;
	}
	assert_int_equal(kvs_add(&addr, node, text), 0);
}

int slurm_update_node(update_node_msg_t *m)
{
	struct strs names = {0}, addrs = {0};

	updates++;
	assert_int_equal(strs_split(&names, m->node_names, ','), 0);
	assert_int_equal(strs_split(&addrs, m->node_addr, ','), 0);
	assert_int_equal(names.n, addrs.n);
	if (sorts)
		qsort(names.v, names.n, sizeof *names.v, by_name);
	for (size_t i = 0; i < names.n; i++)
		set_addr(names.v[i], addrs.v[i]);
	strs_clear(&names);
	strs_clear(&addrs);
	return 0;
}

int slurmctl_node(const char *name, struct nodes *out, struct err *e)
{
	struct node *n = nodes_add(out);

	(void)e;
	loads++;
	n->name = str_dup(name);
	n->addr = str_dup(kvs_get(&addr, name));
	return 0;
}

int slurmctl_conf_load(struct slurmctl_conf *out, struct err *e)
{
	(void)e;
	*out = (struct slurmctl_conf){.version = str_dup(version)};
	return 0;
}

void slurmctl_conf_clear(struct slurmctl_conf *c)
{
	free(c->version);
}

static void update(void)
{
	static const char *const names[] = {"t2m-1", "t2s-1", "c5l-1"}, *const addrs[] = {"10.0.0.1", "10.0.0.2", "10.0.0.3"};
	const struct node_update u = {.names = names, .addrs = addrs, .n = 3, .extra = "x"};
	struct err e = {""};

	updates = loads = 0;
	if (slurmctl_update_nodes(&u, &e) < 0)
		fail_msg("%s", e.text);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(kvs_get(&addr, names[i]), addrs[i]);
}

/* Read back and compared; each that went astray is written alone. */
static void test_B37_swapped_addresses_are_put_right(void **state)
{
	(void)state;
	if (!COMPAT_MAY_PAIR_WRONGLY)
		skip();
	version = "22.05.6";
	sorts = true;
	update();
	assert_int_equal(loads, 3);
	assert_int_equal(updates, 1 + 3);
	sorts = false;
	update();
	assert_int_equal(updates, 1);
	kvs_clear(&addr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_B37_swapped_addresses_are_put_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
