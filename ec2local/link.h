/* link.h - the network of a machine: the head's bridge, an instance's wire into it. Runs iproute2's `ip` by argument vector. */
#ifndef SE_EC2LOCAL_LINK_H
#define SE_EC2LOCAL_LINK_H

#include <sys/types.h>

struct err;

struct link_spec {
	const char *bridge;  /* NULL = no network but loopback */
	const char *wire;    /* name of the bridge's end of the veth pair, at most 15 bytes */
	const char *mac;     /* of eth0; NULL = any */
	const char *address; /* "10.77.0.5/16" */
	const char *gateway; /* NULL = no default route */
};

/* Inside a head machine: br0 with 10.77.0.1/16 and the metadata address 169.254.169.254/32. */
int link_head(struct err *e);
/* From the network that holds the bridge: a veth pair, one end on the bridge, the other as eth0 of process pid's network. */
int link_attach(const struct link_spec *s, pid_t pid, struct err *e);
/* Inside the machine: loopback, eth0's address and route. */
int link_configure(const struct link_spec *s, struct err *e);

#endif
