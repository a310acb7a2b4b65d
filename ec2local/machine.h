/* machine.h - start an "instance" of the local cloud: a small machine made of namespaces, with an image and an address.
 *
 * Called by the server when an instance becomes running (at least 2 s after its launch). The server owns the process: it reaps
 * the pid itself (waitpid in its loop), so machine.c must not. When the pid ends without machine_stop, the instance shut itself
 * down. Knows nothing of EC2: user data, name and tags are fetched by the image's init from the metadata service.
 */
#ifndef EC2LOCAL_MACHINE_H
#define EC2LOCAL_MACHINE_H

#include <sys/types.h>

struct err;

struct machine_spec {
	const char *id;	      /* instance id; names the machine's folder and its end of the veth pair (derived, <= 15 bytes) */
	const char *hostname; /* "ip-10-77-0-4" */
	const char *ip;	      /* private address of device 0 */
	int prefix_len;	      /* of the bridge's network, so that machines of all subnets reach each other */
	const char *gateway;  /* the bridge's own address, 10.77.0.1: default route and way to 169.254.169.254 */
	const char *mac;      /* "0a:..." of eth0, as the metadata service tells it */
	const char *bridge;   /* "br0" in the server's own network namespace */
	const char *console;  /* file that receives everything init prints (appended); GetConsoleOutput shows it */
	const char *run_dir;  /* folder of the run for whatever the machine needs outside; exists */
	const char *const *image_args; /* each --image-arg of the server in order, NULL-terminated; meaning is machine.c's */
};

/* Start it. The pid is a direct child of the caller, the only process it gets to know; all of the machine dies with it, and it
 * dies with the caller (PDEATHSIG). Must be quick (no waiting for the boot): the server has one thread. -1 with e on failure,
 * nothing left over. */
pid_t machine_start(const struct machine_spec *spec, struct err *e);

/* End it: immediate, like pulling the plug (SIGKILL reaches everything inside). The caller still reaps the pid. pid <= 0 is a
 * no-op. */
void machine_stop(pid_t pid);

#endif
