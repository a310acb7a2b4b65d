/* SPDX-License-Identifier: GPL-2.0-or-later */
/* interfaces.c - the network interface layout of an instance type.
 *
 * AWS's present advice: the primary interface is an ordinary one (efa-only can never be primary), EFA devices are efa-only,
 * which take no address of the subnet. Two types break the even rule and stand in code by name: the first card of P6-B300 has
 * no EFA, and only the even cards of P6e-GB200 take an interface without EFA.
 */
#include "conf/interfaces.h"

#include "lib/base/str.h"

#include <stdlib.h>
#include <string.h>

static int add(struct interfaces *l, int card, int device, const char *type, enum tri public_ip)
{
	if (mem_grow(&l->v, &l->cap, l->n + 1, sizeof(*l->v)))
		return -1;
	l->v[l->n++] = (struct interface){ .card = card, .device = device, .type = type, .public_ip = public_ip };
	return 0;
}

static bool card_has_efa(const struct itype *t, int card)
{
	return !(card == 0 && str_prefix(t->name, "p6-b300"));
}

static bool card_used_without_efa(const struct itype *t, int card)
{
	return !(card % 2 == 1 && str_prefix(t->name, "p6e-gb200"));
}

static int layout_plain(const struct itype *t, enum tri public_ip, struct interfaces *l)
{
	int rc = add(l, 0, 0, NULL, public_ip);

	for (size_t i = 0; i < t->n_cards && rc == 0; i++) {
		const struct network_card *c = &t->cards[i];

		/* A card that holds one interface knows device 0 only; device 0 elsewhere would be a second primary. */
		if (c->index > 0 && card_used_without_efa(t, c->index))
			rc = add(l, c->index, c->max_interfaces == 1 ? 0 : 1, NULL, TRI_UNSET);
	}
	return rc;
}

static int layout_efa(const struct itype *t, enum tri public_ip, struct interfaces *l)
{
	int left = t->max_efa > 0 ? t->max_efa : (int)(t->n_cards > 0 ? t->n_cards : 1);
	bool narrow = t->n_cards > 0 && t->cards[0].index == 0 && t->cards[0].max_interfaces == 1;
	int rc;

	if (narrow && card_has_efa(t, 0)) {
		rc = add(l, 0, 0, "efa", public_ip);
		left--;
	} else {
		rc = add(l, 0, 0, NULL, public_ip);
		if (rc == 0 && card_has_efa(t, 0)) {
			rc = add(l, 0, 1, "efa-only", TRI_UNSET);
			left--;
		}
	}
	for (size_t i = 0; i < t->n_cards && rc == 0 && left > 0; i++) {
		if (t->cards[i].index == 0)
			continue;
		rc = add(l, t->cards[i].index, 0, "efa-only", TRI_UNSET);
		left--;
	}
	return rc;
}

int interfaces_layout(const struct itype *t, bool efa, enum tri public_ip, struct interfaces *out)
{
	struct interfaces l = { 0 };

	if (efa ? layout_efa(t, public_ip, &l) : layout_plain(t, public_ip, &l)) {
		interfaces_clear(&l);
		return -1;
	}
	*out = l;
	return 0;
}

void interfaces_clear(struct interfaces *l)
{
	free(l->v);
	memset(l, 0, sizeof(*l));
}
