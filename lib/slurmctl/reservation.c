/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reservation.c - reservations of slurmctld: all of them as plain values, and those with which nodes are held. */
#include "lib/slurmctl/slurmctl.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/slurmctl/slurm_compat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int append(struct slurmctl_reservations *out, const reserve_info_t *r)
{
	struct slurmctl_reservation *o;

	if (mem_grow(&out->v, &out->cap, out->n + 1, sizeof *out->v) < 0)
		return -1;
	o = &out->v[out->n++];
	*o = (struct slurmctl_reservation){
	    .name = str_dup(r->name),
	    .nodes = str_dup(r->node_list),
	    .maint = r->flags & RESERVE_FLAG_MAINT,
	    .start_s = r->start_time,
	    .end_s = r->end_time,
	};
	return o->name && (o->nodes || !r->node_list) ? 0 : -1;
}

int slurmctl_reservations(struct slurmctl_reservations *out, struct err *e)
{
	reserve_info_msg_t *m = NULL;
	int rc = 0;

	slurmctl_asked("reservations");
	if (slurm_load_reservations((time_t)0, &m) != 0)
		return slurmctl_fail(e, "cannot read the reservations from slurmctld");
	for (uint32_t i = 0; i < m->record_count && rc == 0; i++) {
		if (m->reservation_array[i].name)
			rc = append(out, &m->reservation_array[i]);
	}
	slurm_free_reservation_info_msg(m);
	return rc < 0 ? err_nomem(e) : 0;
}

void slurmctl_reservations_clear(struct slurmctl_reservations *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].name);
		free(l->v[i].nodes);
	}
	free(l->v);
	memset(l, 0, sizeof *l);
}

static char *join(const char *const *v, size_t n)
{
	struct buf b = {0};

	for (size_t i = 0; i < n; i++)
		buf_fmt(&b, "%s%s", i ? "," : "", v[i]);
	return buf_take(&b);
}

static int refused(struct err *e, const char *what, const char *name)
{
	int num = errno;

	if (num == ESLURM_ACCESS_DENIED || num == ESLURM_USER_ID_MISSING)
		return err_set(e, "slurmctld does not let this user %s reservations: run it as SlurmUser or root", what);
	return err_set(e, "cannot %s reservation %s: %s", what, name, slurm_strerror(num));
}

/* IGN_JOBS: jobs that run there may end in peace; without it slurmctld refuses nodes that are busy. */
static int create(resv_desc_msg_t *m, const char *user, int64_t end_s, struct err *e)
{
	char *name;

	m->users = str_dup(user);
	if (!m->users)
		return err_nomem(e);
	m->flags = RESERVE_FLAG_MAINT | RESERVE_FLAG_IGN_JOBS;
	m->start_time = time(NULL);
	if (end_s)
		m->end_time = end_s;
	else
		m->duration = INFINITE;
	slurmctl_asked("create reservation");
	name = slurm_create_reservation(m);
	free(m->users);
	if (!name)
		return refused(e, "make", m->name);
	free(name);
	return 0;
}

static int user_of(char **user, struct err *e)
{
	struct slurmctl_conf c;

	if (slurmctl_conf_load(&c, e) < 0)
		return -1;
	*user = str_dup(c.slurm_user);
	slurmctl_conf_clear(&c);
	return *user ? 0 : err_nomem(e);
}

static int exists(const char *name, bool *found, struct err *e)
{
	struct slurmctl_reservations l = {0};
	int rc = slurmctl_reservations(&l, e);

	*found = false;
	for (size_t i = 0; i < l.n && rc == 0; i++)
		*found = *found || str_eq(l.v[i].name, name);
	slurmctl_reservations_clear(&l);
	return rc;
}

int slurmctl_reservation_hold(const char *name, const char *const *nodes, size_t n, int64_t end_s, struct err *e)
{
	resv_desc_msg_t m;
	char *user = NULL;
	bool found;
	int rc;

	if (exists(name, &found, e) < 0 || user_of(&user, e) < 0)
		return -1;
	if (found)
		slurmctl_asked("update reservation");
	slurm_init_resv_desc_msg(&m);
	m.name = str_dup(name);
	m.node_list = join(nodes, n);
	if (!m.name || !m.node_list)
		rc = err_nomem(e);
	else if (!found)
		rc = create(&m, user, end_s, e);
	else if (slurm_update_reservation(&m) != 0)
		rc = refused(e, "change", name);
	else
		rc = 0;
	free(m.name);
	free(m.node_list);
	free(user);
	return rc;
}

int slurmctl_reservation_delete(const char *name, struct err *e)
{
	reservation_name_msg_t m = {.name = str_dup(name)};
	int rc = 0;

	if (!m.name)
		return err_nomem(e);
	slurmctl_asked("delete reservation");
	if (slurm_delete_reservation(&m) != 0 && errno != ESLURM_RESERVATION_INVALID)
		rc = refused(e, "delete", name);
	free(m.name);
	return rc;
}
