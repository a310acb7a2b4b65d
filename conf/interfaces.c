/* SPDX-License-Identifier: GPL-2.0-or-later */
/* interfaces.c - the network interface layout of an instance type.
 *
 * AWS's present advice: the primary interface is an ordinary one (efa-only can never be primary), EFA devices are efa-only,
 * which take no address of the subnet. DescribeInstanceTypes tells of each card only how many interfaces it takes, so two types
 * that break the even rule stand in code by name: the first card of P6-B300 has no EFA, and only the even cards of P6e-GB200
 * take an ordinary interface.
 */
#include "conf/interfaces.h"

#include "lib/base/str.h"

#include <stdlib.h>
#include <string.h>

static int add(struct interfaces *l, int card, int device, const char *type)
{
	if (mem_grow(&l->v, &l->cap, l->n + 1, sizeof(*l->v)))
		return -1;
	l->v[l->n++] = (struct interface){ .card = card, .device = device, .type = type, .public_ip = TRI_UNSET };
	return 0;
}

static bool is_b300(const struct itype *t)
{
	return str_prefix(t->name, "p6-b300");
}

static bool is_gb200(const struct itype *t)
{
	return str_prefix(t->name, "p6e-gb200");
}

static bool card_has_efa(const struct itype *t, int card)
{
	return card > 0 || !is_b300(t);
}

static bool card_used_without_efa(const struct itype *t, int card)
{
	return card % 2 == 0 || !is_gb200(t);
}

/* A card that holds one interface knows device 0 only; device 0 elsewhere would be a second primary. */
static int ordinary_device(const struct network_card *c)
{
	return c->index == 0 || c->max_interfaces == 1 ? 0 : 1;
}

static int layout_plain(const struct itype *t, struct interfaces *l)
{
	int rc = add(l, 0, 0, NULL);

	for (size_t i = 0; i < t->n_cards && rc == 0; i++) {
		const struct network_card *c = &t->cards[i];

		if (c->index > 0 && card_used_without_efa(t, c->index))
			rc = add(l, c->index, ordinary_device(c), NULL);
	}
	return rc;
}

static int efa_limit(const struct itype *t)
{
	return t->max_efa > 0 ? t->max_efa : (int)(t->n_cards > 0 ? t->n_cards : 1);
}

static int layout_efa_only(const struct itype *t, struct interfaces *l)
{
	bool narrow = t->n_cards > 0 && t->cards[0].index == 0 && t->cards[0].max_interfaces == 1;
	int left = efa_limit(t), rc;

	if (narrow && card_has_efa(t, 0)) {
		rc = add(l, 0, 0, "efa");
		left--;
	} else {
		rc = add(l, 0, 0, NULL);
		if (rc == 0 && card_has_efa(t, 0)) {
			rc = add(l, 0, 1, "efa-only");
			left--;
		}
	}
	for (size_t i = 0; i < t->n_cards && rc == 0 && left > 0; i++) {
		if (t->cards[i].index == 0)
			continue;
		rc = add(l, t->cards[i].index, 0, "efa-only");
		left--;
	}
	return rc;
}

static int layout_efa(const struct itype *t, struct interfaces *l)
{
	int left = efa_limit(t), rc;

	rc = add(l, 0, 0, card_has_efa(t, 0) ? "efa" : NULL);
	left -= card_has_efa(t, 0);
	for (size_t i = 0; i < t->n_cards && rc == 0 && left > 0; i++) {
		const struct network_card *c = &t->cards[i];

		if (c->index == 0)
			continue;
		if (is_gb200(t) && c->index % 2)
			rc = add(l, c->index, 0, "efa-only");
		else
			rc = add(l, c->index, ordinary_device(c), "efa");
		left--;
	}
	return rc;
}

enum interfaces_mode interfaces_mode(const struct itype *t, bool efa, enum tri public_ip)
{
	if (!efa)
		return INTERFACES_PLAIN;
	return public_ip == TRI_TRUE && t->n_cards <= 1 ? INTERFACES_EFA : INTERFACES_EFA_ONLY;
}

int interfaces_layout(const struct itype *t, enum interfaces_mode mode, enum tri public_ip, struct interfaces *out)
{
	static int (*const layouts[])(const struct itype *t, struct interfaces *l) = {
		[INTERFACES_PLAIN] = layout_plain,
		[INTERFACES_EFA_ONLY] = layout_efa_only,
		[INTERFACES_EFA] = layout_efa,
	};
	struct interfaces l = { 0 };

	if (layouts[mode](t, &l)) {
		interfaces_clear(&l);
		return -1;
	}
	if (l.n == 1)
		l.v[0].public_ip = public_ip;
	*out = l;
	return 0;
}

void interfaces_clear(struct interfaces *l)
{
	free(l->v);
	memset(l, 0, sizeof(*l));
}
