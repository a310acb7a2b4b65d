/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine_main.c - program ec2local-machine: one small machine made of namespaces, for tests and demonstrations.
 *
 * Run by ec2local for each instance and by scripts for the head machine. This process stays outside and waits; its child is
 * process 1 of the machine. Whichever way this process ends, the machine ends with it and leaves nothing. It isolates what
 * programs see; it is no wall against root inside. */
#include "build_config.h"

#include "ec2local/init.h"
#include "ec2local/link.h"
#include "ec2local/rootfs.h"

#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/options.h"
#include "lib/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXIT_SETUP 125	   /* the machine could not be made */
#define KILL_AFTER_MS 5000 /* process 1 gets this long to shut down once asked */

struct options {
	struct rootfs_spec root;
	struct link_spec link;
	const char *hostname;
	const char *pid_file;
	bool head;
	bool stay;
	bool fresh_clock;
	bool die_with_parent;
	char **program;
};

static const char usage[] = "usage: ec2local-machine [OPTION]... [-- PROGRAM [ARGUMENT]...]\n"
			    "Run PROGRAM in a small machine of its own (network, mounts, host name, processes).\n"
			    "\n"
			    "  --image DIR          copy DIR/root to /, DIR/local to /usr/local, bind what DIR/binds lists\n"
			    "  --bind SRC:DST[:rw]  show SRC at DST, read-only unless rw\n"
			    "  --copy SRC:DST       copy a file or folder\n"
			    "  --root-size SIZE     size of the machine's tmpfs (default 256m)\n"
			    "  --hostname NAME      host name (default: machine)\n"
			    "  --head               give it bridge br0 with 10.77.0.1/16 and 169.254.169.254\n"
			    "  --bridge NAME        wire it to this bridge of the present network ...\n"
			    "  --wire NAME          ... through a veth of this name (default: vm)\n"
			    "  --mac MAC            ... with this hardware address\n"
			    "  --address IP/LEN     ... with this address on eth0\n"
			    "  --gateway IP         ... and this default route\n"
			    "  --fresh-clock        uptime starts at zero (time namespace)\n"
			    "  --stay               go on after PROGRAM ended, until shut down\n"
			    "  --pid-file FILE      write the process id of the machine's process 1 there\n"
			    "  --die-with-parent    end when the starting process ends\n"
			    "  --help, --version\n"
			    "\n"
			    "SIGTERM shuts the machine down. Needs root and Linux 5.6 or newer.\n";

enum {
	OPT_IMAGE = 256,
	OPT_BIND,
	OPT_COPY,
	OPT_SIZE,
	OPT_HOSTNAME,
	OPT_HEAD,
	OPT_BRIDGE,
	OPT_WIRE,
	OPT_MAC,
	OPT_ADDRESS,
	OPT_GATEWAY,
	OPT_CLOCK,
	OPT_STAY,
	OPT_PID_FILE,
	OPT_PARENT,
	OPT_HELP,
	OPT_VERSION
};

static const struct option long_options[] = {
    {"image", 1, NULL, OPT_IMAGE},     {"bind", 1, NULL, OPT_BIND},	    {"copy", 1, NULL, OPT_COPY},
    {"root-size", 1, NULL, OPT_SIZE},  {"hostname", 1, NULL, OPT_HOSTNAME}, {"head", 0, NULL, OPT_HEAD},
    {"bridge", 1, NULL, OPT_BRIDGE},   {"wire", 1, NULL, OPT_WIRE},	    {"mac", 1, NULL, OPT_MAC},
    {"address", 1, NULL, OPT_ADDRESS}, {"gateway", 1, NULL, OPT_GATEWAY},   {"fresh-clock", 0, NULL, OPT_CLOCK},
    {"stay", 0, NULL, OPT_STAY},       {"pid-file", 1, NULL, OPT_PID_FILE}, {"die-with-parent", 0, NULL, OPT_PARENT},
    {"help", 0, NULL, OPT_HELP},       {"version", 0, NULL, OPT_VERSION},   {NULL, 0, NULL, 0},
};

static int add_text(struct strs *l, const char *text, struct err *e)
{
	return strs_add(l, text) < 0 ? err_nomem(e) : 0;
}

static void take_flag(struct options *o, int opt)
{
	switch (opt) {
	case OPT_HEAD:
		o->head = true;
		break;
	case OPT_CLOCK:
		o->fresh_clock = true;
		break;
	case OPT_STAY:
		o->stay = true;
		break;
	case OPT_PARENT:
		o->die_with_parent = true;
		break;
	case 'h':
	case OPT_HELP:
		fputs(usage, stdout);
		exit(0);
	case OPT_VERSION:
		exit(options_version("ec2local-machine"));
	}
}

static int take_option(struct options *o, int opt, const char *arg, struct err *e)
{
	switch (opt) {
	case OPT_IMAGE:
		return add_text(&o->root.images, arg, e);
	case OPT_BIND:
		return add_text(&o->root.binds, arg, e);
	case OPT_COPY:
		return add_text(&o->root.copies, arg, e);
	case OPT_SIZE:
		o->root.size = arg;
		return 0;
	case OPT_HOSTNAME:
		o->hostname = arg;
		return 0;
	case OPT_BRIDGE:
		o->link.bridge = arg;
		return 0;
	case OPT_WIRE:
		o->link.wire = arg;
		return 0;
	case OPT_MAC:
		o->link.mac = arg;
		return 0;
	case OPT_ADDRESS:
		o->link.address = arg;
		return 0;
	case OPT_GATEWAY:
		o->link.gateway = arg;
		return 0;
	case OPT_PID_FILE:
		o->pid_file = arg;
		return 0;
	default:
		take_flag(o, opt);
		return 0;
	}
}

/* 0, or the exit status of a wrong command line. */
static int parse(struct options *o, int argc, char **argv)
{
	struct err e = {""};
	int opt;

	while ((opt = options_next("ec2local-machine", argc, argv, "+:h", long_options)) != -1)
		if (opt == '?')
			return OPTIONS_WRONG;
		else if (take_option(o, opt, optarg, &e) < 0)
			return options_refuse("ec2local-machine", "%s", e.text);
	o->program = argv + optind;
	if (o->link.bridge && !o->link.address)
		return options_refuse("ec2local-machine", "--bridge needs --address");
	if (o->link.bridge && o->head)
		return options_refuse("ec2local-machine", "--bridge and --head exclude each other");
	if (!*o->program && !o->stay)
		return options_refuse("ec2local-machine", "no PROGRAM and no --stay: nothing to do");
	return 0;
}

/* The next child's boot-time clock starts at zero. */
static int reset_clock(struct err *e)
{
	struct timespec up;
	FILE *f;

	if (unshare(CLONE_NEWTIME) < 0)
		return err_errno(e, errno, "this kernel has no time namespaces (Linux 5.6 has)");
	clock_gettime(CLOCK_BOOTTIME, &up);
	f = fopen("/proc/self/timens_offsets", "we");
	if (!f)
		return err_errno(e, errno, "cannot open /proc/self/timens_offsets");
	fprintf(f, "boottime -%lld 0\n", (long long)up.tv_sec);
	return fclose(f) != 0 ? err_errno(e, errno, "cannot set the machine's clock") : 0;
}

static int enter(const struct options *o, struct err *e)
{
	if (sethostname(o->hostname, strlen(o->hostname)) < 0)
		return err_errno(e, errno, "cannot set host name %s", o->hostname);
	/* The wires first: `ip` is run from the caller's tree. */
	if (o->head ? link_head(e) : link_configure(&o->link, e))
		return -1;
	return rootfs_enter(&o->root, e);
}

/* Process 1. gate: readable once the outside has done its part; closed without a byte if it gave up. */
static int inside(const struct options *o, int gate)
{
	struct err e;
	char go;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(gate, &go, 1) != 1)
		return EXIT_SETUP;
	close(gate);
	if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0 || enter(o, &e) < 0) {
		fprintf(stderr, "ec2local-machine: %s\n", e.text);
		return EXIT_SETUP;
	}
	clearenv();
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setenv("HOME", "/root", 1);
	setenv("LANG", "C.UTF-8", 1);
	setenv("TERM", "dumb", 1);
	return init_run(o->program, o->stay);
}

static int write_pid(const char *path, pid_t pid, struct err *e)
{
	FILE *f;

	if (!path)
		return 0;
	f = fopen(path, "we");
	if (!f)
		return err_errno(e, errno, "cannot write %s", path);
	fprintf(f, "%d\n", (int)pid);
	return fclose(f) != 0 ? err_errno(e, errno, "cannot write %s", path) : 0;
}

static int read_signal(int fd)
{
	struct signalfd_siginfo si;

	return read(fd, &si, sizeof(si)) == (ssize_t)sizeof(si) ? (int)si.ssi_signo : 0;
}

/* Wait for process 1, passing on a request to shut down and insisting after a while. Returns the exit status for us. */
static int watch(pid_t pid, int sigfd)
{
	int64_t kill_at = -1;
	int status;

	for (;;) {
		struct pollfd p = {.fd = sigfd, .events = POLLIN};
		int wait_ms = -1;
		if (kill_at >= 0)
			wait_ms = kill_at > clock_mono_ms() ? (int)(kill_at - clock_mono_ms()) : 0;
		poll(&p, 1, wait_ms);
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		if (kill_at >= 0 && clock_mono_ms() >= kill_at)
			kill(pid, SIGKILL);
		if (p.revents && read_signal(sigfd) != SIGCHLD && kill_at < 0) {
			kill(pid, SIGTERM);
			kill_at = clock_mono_ms() + KILL_AFTER_MS;
		}
	}
}

static int signals_open(void)
{
	static const int wanted[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		sigaddset(&set, wanted[i]);
	sigprocmask(SIG_SETMASK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static pid_t make(const struct options *o, int *gate, struct err *e)
{
	const unsigned long flags = CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWPID | CLONE_NEWIPC | SIGCHLD;
	int pipe_fd[2];
	pid_t pid;

	if (o->fresh_clock && reset_clock(e) < 0)
		return -1;
	if (pipe2(pipe_fd, O_CLOEXEC) < 0)
		return err_errno(e, errno, "cannot make a pipe");
	pid = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
	if (pid == 0) {
		close(pipe_fd[1]);
		_exit(inside(o, pipe_fd[0]));
	}
	close(pipe_fd[0]);
	if (pid < 0) {
		close(pipe_fd[1]);
		return err_errno(e, errno, "cannot make namespaces");
	}
	*gate = pipe_fd[1];
	return pid;
}

static int run(const struct options *o, struct err *e)
{
	int sigfd = signals_open();
	int gate = -1;
	pid_t pid;

	if (sigfd < 0)
		return err_errno(e, errno, "cannot watch signals");
	pid = make(o, &gate, e);
	if (pid < 0)
		return -1;
	if (link_attach(&o->link, pid, e) < 0 || write_pid(o->pid_file, pid, e) < 0 || write(gate, "g", 1) != 1) {
		kill(pid, SIGKILL);
		return -1;
	}
	close(gate);
	return watch(pid, sigfd);
}

int main(int argc, char **argv)
{
	struct options o = {.root.size = "256m", .hostname = "machine", .link.wire = "vm"};
	struct err e = {""};
	pid_t parent = getppid();
	int rc = parse(&o, argc, argv);

	if (rc)
		return rc;
	if (geteuid() != 0) {
		fputs("ec2local-machine: needs root to make namespaces\n", stderr);
		return EXIT_SETUP;
	}
	if (o.die_with_parent && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent))
		return EXIT_SETUP;
	rc = run(&o, &e);
	if (rc < 0)
		fprintf(stderr, "ec2local-machine: %s\n", e.text);
	strs_clear(&o.root.images);
	strs_clear(&o.root.binds);
	strs_clear(&o.root.copies);
	return rc < 0 ? EXIT_SETUP : rc;
}
