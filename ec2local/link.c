/* SPDX-License-Identifier: GPL-2.0-or-later */
/* link.c - the network of a machine, by running `ip`. Called by ec2local-machine only. */
#include "ec2local/link.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define HEAD_MAC "0a:00:0a:4d:00:01"
#define IP_TIMEOUT_MS 20000 /* the kernel's network lock can be held long while other networks are torn down */

static int run_ip(const char *const argv[], struct err *e)
{
	struct buf out = {0};
	struct proc_result r;
	int rc = proc_run(argv, NULL, IP_TIMEOUT_MS, &out, &r, e);

	if (rc == 0 && (r.timed_out || r.exit_code != 0))
		rc = err_set(e, "ip %s %s %s failed: %s", argv[1], argv[2], argv[3], buf_text(&out));
	buf_free(&out);
	return rc;
}

#define ip(e, ...) run_ip((const char *const[]){"ip", __VA_ARGS__, NULL}, (e))

/* The bridge's hardware address is given: left to itself it follows the ports as they come and go, and machines that know the
 * old one lose the head for a minute. */
int link_head(struct err *e)
{
	if (ip(e, "link", "set", "lo", "up") ||
	    ip(e, "link", "add", "br0", "address", HEAD_MAC, "type", "bridge", "forward_delay", "0") ||
	    ip(e, "addr", "add", "10.77.0.1/16", "dev", "br0") || ip(e, "addr", "add", "169.254.169.254/32", "dev", "br0") ||
	    ip(e, "link", "set", "br0", "up"))
		return -1;
	return 0;
}

int link_attach(const struct link_spec *s, pid_t pid, struct err *e)
{
	char netns[16];

	if (!s->bridge)
		return 0;
	snprintf(netns, sizeof(netns), "%d", (int)pid);
	if (s->mac ? ip(e, "link", "add", s->wire, "type", "veth", "peer", "name", "eth0", "address", s->mac, "netns", netns)
		   : ip(e, "link", "add", s->wire, "type", "veth", "peer", "name", "eth0", "netns", netns))
		return -1;
	return ip(e, "link", "set", s->wire, "master", s->bridge, "up");
}

/* Tell the neighbours who has the address now: a former machine may have had it with another hardware address. Without this
 * they would find out by themselves, later; so a failure does not matter. */
static void announce(void)
{
	int fd = open("/proc/sys/net/ipv4/conf/eth0/arp_notify", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1", 1) != 1) {
		/* see above */
	}
	close(fd);
}

int link_configure(const struct link_spec *s, struct err *e)
{
	if (ip(e, "link", "set", "lo", "up"))
		return -1;
	if (!s->bridge)
		return 0;
	announce();
	if (ip(e, "addr", "add", s->address, "dev", "eth0") || ip(e, "link", "set", "eth0", "up"))
		return -1;
	return s->gateway ? ip(e, "route", "add", "default", "via", s->gateway) : 0;
}
