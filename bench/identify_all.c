/* SPDX-License-Identifier: GPL-2.0-or-later */
/* identify_all.c - many instances that ask at the same moment which node they are, for bench/boot1000:
 *
 *   identify_all CONF NODES
 *
 * NODES has a line for each: node, address, launch. A child for each does what `computemgtd --identify` does, with the launch's
 * list and its place in it. All are forked first; "ready" is printed; a byte on stdin lets them loose. At the end: how many got
 * their own name. They stand for other machines, so all of them together get the CPU time of one process of the lowest
 * priority.
 */
#include "build_config.h"

#include "computemgtd/identify.h"
#include "lib/base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_INSTANCES 2000
#define TIMEOUT_S 60

struct instance_line {
	char node[64], address[48], launch[48];
};

static struct instance_line all[MAX_INSTANCES];
static size_t n_all;

static int read_lines(const char *path)
{
	FILE *f = fopen(path, "r");
	struct instance_line *l = all;

	if (!f)
		return -1;
	while (n_all < MAX_INSTANCES && fscanf(f, "%63s %47s %47s", l->node, l->address, l->launch) == 3)
		l = &all[++n_all];
	fclose(f);
	return n_all ? 0 : -1;
}

/* The nodes of the launch of instance i, in order, and its place among them. Caller frees. */
static char *launch_list(size_t i, size_t *index)
{
	char *text = calloc(n_all, sizeof all[0].node + 1), *end = text;

	for (size_t k = 0; text && k < n_all; k++) {
		if (strcmp(all[k].launch, all[i].launch))
			continue;
		if (k < i)
			++*index;
		end += sprintf(end, "%s%s", end == text ? "" : ",", all[k].node);
	}
	return text;
}

/* The child's whole life. gate: readable (at its end) when all may start. */
static int ask(const char *conf, size_t i, int gate)
{
	struct identify_spec s = {.conf = conf, .self = {all[i].address, all[i].launch}, .timeout_s = TIMEOUT_S};
	char *list = launch_list(i, &s.index), *name, byte;
	struct err e = {""};
	int wrong;

	s.nodes = list;
	if (!list || read(gate, &byte, 1) != 0)
		return 1;
	name = identify(&s, &e);
	if (!name)
		fprintf(stderr, "%s: %s\n", all[i].node, e.text);
	wrong = !name || strcmp(name, all[i].node) != 0;
	free(name);
	free(list);
	return wrong;
}

/* A thousand processes of the lowest priority outweigh one of the usual; a session of them is one to the scheduler. */
static void step_back(void)
{
	FILE *f;

	setsid();
	f = fopen("/proc/self/autogroup", "w");
	if (!f)
		return;
	fputs("19", f);
	fclose(f);
}

static int fork_all(const char *conf, const int gate[2])
{
	for (size_t i = 0; i < n_all; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return -1;
		if (pid == 0) {
			close(gate[1]);
			_exit(ask(conf, i, gate[0]));
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	int gate[2], status;
	size_t right = 0;
	char byte;

	if (argc != 3) {
		fprintf(stderr, "usage: identify_all CONF NODES\n");
		return 2;
	}
	step_back();
	if (read_lines(argv[2]) < 0 || pipe(gate) < 0 || fork_all(argv[1], gate) < 0) {
		perror("identify_all");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	if (read(0, &byte, 1) < 0)
		return 1;
	close(gate[1]);
	while (wait(&status) > 0)
		right += WIFEXITED(status) && WEXITSTATUS(status) == 0;
	printf("%zu\n", right);
	return 0;
}
