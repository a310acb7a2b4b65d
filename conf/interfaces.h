/* interfaces.h - which network interfaces a launch template asks for: a pure function of the type's cards and of EFA. */
#ifndef SE_CONF_INTERFACES_H
#define SE_CONF_INTERFACES_H

#include "lib/cluster/cluster.h"
#include "lib/node/itype.h"

struct interface {
	int card, device;
	const char *type;   /* NULL = an ordinary interface, "efa", "efa-only" */
	enum tri public_ip; /* on the first one only */
};

struct interfaces {
	struct interface *v;
	size_t n;
	size_t cap;
};

/* Without EFA: one interface a card. With EFA: an ordinary interface at card 0 device 0 plus an efa-only one on each card that
 * has EFA, at most max_efa of them; a card with room for one interface only (card 0) gets one "efa". -1 on no memory. */
int interfaces_layout(const struct itype *t, bool efa, enum tri public_ip, struct interfaces *out);
void interfaces_clear(struct interfaces *l);

#endif
