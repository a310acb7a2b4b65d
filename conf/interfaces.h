/* interfaces.h - which network interfaces a launch template asks for: a pure function of the type's cards and of EFA. GdrSupport
 * changes nothing here. */
#ifndef SE_CONF_INTERFACES_H
#define SE_CONF_INTERFACES_H

#include "lib/cluster/cluster.h"
#include "lib/node/itype.h"

struct interface {
	int card, device;
	const char *type;   /* NULL = an ordinary interface, "efa", "efa-only" */
	enum tri public_ip; /* of a machine with one interface */
};

struct interfaces {
	struct interface *v;
	size_t n;
	size_t cap;
};

enum interfaces_mode {
	INTERFACES_PLAIN,   /* one ordinary interface a card */
	/* An ordinary one at card 0 device 0, and an efa-only one on each card that has EFA: device 1 of card 0, device 0 of the
	 * others. A first card with room for one interface only gets an "efa" there. Takes one address of the subnet. */
	INTERFACES_EFA_ONLY,
	/* An "efa" a card, an address each. GB200: "efa" on even cards, "efa-only" on odd ones. */
	INTERFACES_EFA
};

/* AWS's advice is efa-only. A machine of one card that is to have a public address gets one "efa": with two interfaces EC2 gives
 * none. */
enum interfaces_mode interfaces_mode(const struct itype *t, bool efa, enum tri public_ip);
/* At most max_efa interfaces have EFA. public_ip goes to the first interface if it is the only one: EC2 takes it for no other
 * machine. -1 on no memory. */
int interfaces_layout(const struct itype *t, enum interfaces_mode mode, enum tri public_ip, struct interfaces *out);
void interfaces_clear(struct interfaces *l);

#endif
