/* SPDX-License-Identifier: GPL-2.0-or-later */
/* measure.c - run a program once and say what it cost: `measure PROGRAM ARGS...`, called by bench/resume.
 *
 * One line on stdout: wall_us, user_us, system_us, wait_us (ready to run, but the CPUs were busy with others), rss_kb
 * (highest), anon_kb (highest resident minus what is file-backed at the end), minor and major faults, exit status. The program
 * is stopped by ptrace at its exit, when its memory can still be read; it is not slowed before. It gets an empty environment
 * but for SLURM_CONF and SLURM_RESUME_FILE, and /dev/null as descriptors 0 to 2, as from slurmctld.
 */
#include "build_config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static void child(char **argv)
{
	static char conf[4200], file[4200];
	char *env[3] = {NULL, NULL, NULL};
	int n = 0, null = open("/dev/null", O_RDWR);

	if (getenv("SLURM_CONF")) {
		snprintf(conf, sizeof conf, "SLURM_CONF=%s", getenv("SLURM_CONF"));
		env[n++] = conf;
	}
	if (getenv("SLURM_RESUME_FILE")) {
		snprintf(file, sizeof file, "SLURM_RESUME_FILE=%s", getenv("SLURM_RESUME_FILE"));
		env[n++] = file;
	}
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	execve(argv[0], argv, env);
	_exit(127);
}

/* A value in kB of /proc/<pid>/status, 0 if absent. */
static long status_kb(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtol(at + strlen(key), NULL, 10) : 0;
}

struct memory {
	long rss, anon, wait_us;
};

static void read_memory(pid_t pid, struct memory *m)
{
	char path[64], text[8192];
	FILE *f;
	size_t n;

	snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
	f = fopen(path, "r");
	if (!f)
		return;
	n = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[n] = 0;
	m->rss = status_kb(text, "VmHWM:");
	m->anon = m->rss - status_kb(text, "RssFile:") - status_kb(text, "RssShmem:");
}

/* Second number of /proc/<pid>/schedstat: nanoseconds on a run queue. */
static void read_wait(pid_t pid, struct memory *m)
{
	char path[64];
	unsigned long long ran, waited;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%ld/schedstat", (long)pid);
	f = fopen(path, "r");
	if (!f)
		return;
	if (fscanf(f, "%llu %llu", &ran, &waited) == 2)
		m->wait_us = (long)(waited / 1000);
	fclose(f);
}

/* Let it run; stop only at its end. Signals go through. Returns its wait status. */
static int follow(pid_t pid, struct memory *m, struct rusage *use)
{
	int status = 0, sig = 0;

	while (ptrace(PTRACE_CONT, pid, NULL, (void *)(long)sig) == 0 && wait4(pid, &status, __WALL, use) == pid) {
		sig = 0;
		if (WIFEXITED(status) || WIFSIGNALED(status))
			return status;
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8)) {
			read_memory(pid, m);
			read_wait(pid, m);
		} else if (WSTOPSIG(status) != SIGTRAP) {
			sig = WSTOPSIG(status);
		}
	}
	return -1;
}

static long long us(struct timeval t)
{
	return t.tv_sec * 1000000LL + t.tv_usec;
}

int main(int argc, char **argv)
{
	struct memory m = {0, 0, 0};
	struct rusage use;
	long long start;
	int status;
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "usage: measure PROGRAM ARGS...\n");
		return 2;
	}
	pid = fork();
	if (pid == 0)
		child(argv + 1);
	if (pid < 0 || waitpid(pid, &status, 0) != pid ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_TRACEEXIT) < 0) {
		perror("measure");
		return 1;
	}
	start = now_us();
	status = follow(pid, &m, &use);
	printf("wall_us=%lld user_us=%lld system_us=%lld wait_us=%ld rss_kb=%ld anon_kb=%ld minflt=%ld majflt=%ld exit=%d\n",
	       now_us() - start, us(use.ru_utime), us(use.ru_stime), m.wait_us, m.rss, m.anon, use.ru_minflt, use.ru_majflt,
	       WIFEXITED(status) ? WEXITSTATUS(status) : 128);
	return 0;
}
