// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/units.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/guard_groups.h"

/* Sites of one unit that have the same program. */
struct unit_link {
	uint32_t unit;
	int prog_fd;
	uint32_t first; /* in offsets and cookies */
	uint32_t n;
	int fd;	      /* -1 while it is detached */
	bool closing; /* it still may fire; under the lock */
};

struct units {
	int file;
	char path[32]; /* of `file` */
	uint32_t n_queries;
	uint32_t n_sets;
	uint64_t *offsets;
	uint64_t *cookies;
	struct unit_link *links; /* by unit: of groups of guards, of sets, then of queries */
	uint32_t n_links;
	pthread_mutex_t lock;
	pthread_cond_t closed;
	uint32_t n_closing;
};

/* ---- Sets ------------------------------------------------------------------------------------ */

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i)
		i = parent[i] = parent[parent[i]];
	return i;
}

static void join(uint32_t *parent, const struct plan *plan, uint32_t query, uint32_t body)
{
	if (body != PLAN_NONE)
		parent[root_of(parent, query)] =
			root_of(parent, plan->n_queries + plan->bodies[body].group);
}

static uint32_t most_groups(const struct plan *plan)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < plan->n_bodies; i++)
		if (plan->bodies[i].group > most)
			most = plan->bodies[i].group;
	return most + 1;
}

int units_find_sets(const struct plan *plan, uint32_t *set_of)
{
	uint32_t n = plan->n_queries + most_groups(plan), n_sets = 0;
	_free_ uint32_t *parent = calloc(n, sizeof(*parent));
	_free_ uint32_t *number = calloc(n, sizeof(*number)); /* of a root's set, from 1 */

	if (!parent || !number)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		parent[i] = i;
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		join(parent, plan, i, plan->queries[i].body_incr);
		join(parent, plan, i, plan->queries[i].body_non_incr);
	}
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		uint32_t root = root_of(parent, i);

		if (!number[root])
			number[root] = ++n_sets;
		set_of[i] = number[root] - 1;
	}
	return (int)n_sets;
}

/* ---- Units ----------------------------------------------------------------------------------- */

static bool is_guard(const struct plan_site *site)
{
	return site->role == WIRE_ROLE_GUARD || site->role == WIRE_ROLE_GUARD_QUERY ||
	       site->role == WIRE_ROLE_GUARD_CALLED || site->role == WIRE_ROLE_GUARD_END;
}

bool units_have(const struct plan_site *site)
{
	switch (site->role) {
	case WIRE_ROLE_START:
	case WIRE_ROLE_START_BODY:
	case WIRE_ROLE_WRAPPER:
	case WIRE_ROLE_REQUEST:
		return site->query != PLAN_NONE;
	case WIRE_ROLE_END:
		return site->body != PLAN_NONE;
	default:
		return is_guard(site);
	}
}

/* A query of the body, or PLAN_NONE. */
static uint32_t query_of_body(const struct plan *plan, uint32_t body)
{
	for (uint32_t i = 0; i < plan->n_queries; i++)
		if (plan->queries[i].body_incr == body || plan->queries[i].body_non_incr == body)
			return i;
	return PLAN_NONE;
}

/* What a plan is divided into. */
struct division {
	uint32_t *set_of;   /* by query */
	uint32_t *group_of; /* by guard */
	uint32_t n_sets;
};

static uint32_t unit_of(const struct choice *c, const struct division *d,
			const struct plan_site *site)
{
	uint32_t query =
		site->role == WIRE_ROLE_END ? query_of_body(c->plan, site->body) : site->query;

	if (is_guard(site))
		return c->plan->n_queries + d->n_sets + d->group_of[site->guard];
	if (query == PLAN_NONE)
		return PLAN_NONE;
	if (site->role == WIRE_ROLE_END || site->role == WIRE_ROLE_REQUEST)
		return c->plan->n_queries + d->set_of[query];
	return query;
}

/* A site to be attached, and where to. */
struct member {
	uint32_t unit;
	int prog_fd;
	uint32_t site;
};

/*
 * In the order in which they are attached, of a link's sites as well: guards and ends before the
 * starts of queries, and, as sites are sorted by role, the ends of guards before their starts.
 */
static int compare(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->unit != y->unit)
		return x->unit > y->unit ? -1 : 1;
	return x->site > y->site ? -1 : x->site < y->site;
}

static uint32_t find_members(struct bpf_program *const progs[PROBES_ROLES], const struct choice *c,
			     const struct division *d, struct member *members)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->plan->n_sites; i++) {
		const struct plan_site *site = &c->plan->sites[i];
		uint32_t unit;

		if (!units_have(site) || !progs[site->role] || !choice__wants(c, site))
			continue;
		unit = unit_of(c, d, site);
		if (unit != PLAN_NONE)
			members[n++] = (struct member){unit, bpf_program__fd(progs[site->role]), i};
	}
	qsort(members, n, sizeof(*members), compare);
	return n;
}

static void add_member(struct units *u, const struct choice *c, const struct member *m, uint32_t i)
{
	struct unit_link *last = u->n_links ? &u->links[u->n_links - 1] : NULL;
	const struct plan_site *site = &c->plan->sites[m->site];

	u->offsets[i] = site->offset;
	u->cookies[i] = choice__cookie(c, site);
	if (last && last->unit == m->unit && last->prog_fd == m->prog_fd) {
		last->n++;
		return;
	}
	u->links[u->n_links++] = (struct unit_link){
		.unit = m->unit,
		.prog_fd = m->prog_fd,
		.first = i,
		.n = 1,
		.fd = -1,
	};
}

/* Its path may lead through a process that is gone when the next link is attached. */
static int hold_file(struct units *u, const char *path)
{
	u->file = open(path, O_PATH | O_CLOEXEC);
	if (u->file < 0)
		return -errno;
	snprintf(u->path, sizeof(u->path), "/proc/self/fd/%d", u->file);
	return 0;
}

static int allocate(struct units *u, const struct plan *plan)
{
	size_t most = plan->n_sites + 1UL;

	u->n_queries = plan->n_queries;
	u->offsets = calloc(most, sizeof(*u->offsets));
	u->cookies = calloc(most, sizeof(*u->cookies));
	u->links = calloc(most, sizeof(*u->links));
	if (!u->offsets || !u->cookies || !u->links)
		return -ENOMEM;
	return hold_file(u, plan->path);
}

static int fill(struct units *u, struct bpf_program *const progs[PROBES_ROLES],
		const struct choice *c)
{
	const struct plan *plan = c->plan;
	_free_ struct member *members = calloc(plan->n_sites + 1UL, sizeof(*members));
	_free_ uint32_t *set_of = calloc(plan->n_queries + 1UL, sizeof(*set_of));
	_free_ uint32_t *group_of = calloc(plan->n_guards + 1UL, sizeof(*group_of));
	struct division d = {set_of, group_of, 0};
	uint32_t n;
	int err = members && set_of && group_of ? allocate(u, plan) : -ENOMEM, n_sets;

	if (err)
		return err;
	n_sets = units_find_sets(plan, set_of);
	if (n_sets < 0)
		return n_sets;
	guard_groups_find(plan, group_of);
	d.n_sets = u->n_sets = (uint32_t)n_sets;
	n = find_members(progs, c, &d, members);
	for (uint32_t i = 0; i < n; i++)
		add_member(u, c, &members[i], i);
	return 0;
}

static bool is_closing(struct units *u, const struct unit_link *l)
{
	bool closing;

	pthread_mutex_lock(&u->lock);
	closing = l->closing;
	pthread_mutex_unlock(&u->lock);
	return closing;
}

/* One that is still there would fire beside the new one, and each execution would be seen twice. */
static int attach_link(struct units *u, struct unit_link *l)
{
	int fd = is_closing(u, l) ? -EAGAIN
		 : l->fd >= 0	  ? l->fd
				  : probes_link(l->prog_fd, u->path, &u->offsets[l->first],
						&u->cookies[l->first], l->n);

	if (fd < 0)
		return fd;
	l->fd = fd;
	return 0;
}

/* ---- Taking them away ------------------------------------------------------------------------ */

struct closing {
	struct units *units;
	struct unit_link *link;
	int fd;
};

static void *close_link(void *p)
{
	struct closing *c = p;
	struct units *u = c->units;

	close(c->fd);
	pthread_mutex_lock(&u->lock);
	c->link->closing = false;
	u->n_closing--;
	pthread_cond_signal(&u->closed);
	pthread_mutex_unlock(&u->lock);
	free(c);
	return NULL;
}

static bool close_in_background(struct units *u, struct unit_link *l)
{
	struct closing *c = malloc(sizeof(*c));
	pthread_t thread;

	if (!c)
		return false;
	*c = (struct closing){u, l, l->fd};
	pthread_mutex_lock(&u->lock);
	l->closing = true;
	u->n_closing++;
	pthread_mutex_unlock(&u->lock);
	if (!pthread_create(&thread, NULL, close_link, c)) {
		pthread_detach(thread);
		return true;
	}
	free(c);
	pthread_mutex_lock(&u->lock);
	l->closing = false;
	u->n_closing--;
	pthread_mutex_unlock(&u->lock);
	return false;
}

/*
 * The probes go at once, but the call returns only after the kernel's grace periods, some 40 ms.
 * All links wait for the same ones if they are closed at once.
 */
static void detach_link(struct units *u, struct unit_link *l)
{
	if (l->fd >= 0 && !close_in_background(u, l))
		close(l->fd);
	l->fd = -1;
}

/* ---- What is asked of them ------------------------------------------------------------------- */

int units__new(struct bpf_program *const progs[PROBES_ROLES], const struct choice *c,
	       struct units **out)
{
	struct units *u = calloc(1, sizeof(*u));
	int err;

	if (!u)
		return -ENOMEM;
	u->file = -1;
	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->closed, NULL);
	err = fill(u, progs, c);
	if (err)
		units__free(u);
	else
		*out = u;
	return err;
}

/* NULL: all are. */
static bool is_wanted(const struct units *u, uint32_t unit, const bool *starts, const bool *ends,
		      const bool *groups)
{
	if (unit < u->n_queries)
		return !starts || starts[unit];
	unit -= u->n_queries;
	if (unit < u->n_sets)
		return !ends || ends[unit];
	return !groups || groups[unit - u->n_sets];
}

int units__attach(struct units *u, const bool *starts, const bool *ends, const bool *groups)
{
	int err = 0;

	for (uint32_t i = 0; u && i < u->n_links && !err; i++)
		if (is_wanted(u, u->links[i].unit, starts, ends, groups))
			err = attach_link(u, &u->links[i]);
	return err;
}

uint32_t units__sites(const struct units *u)
{
	uint32_t n = 0;

	for (uint32_t i = 0; u && i < u->n_links; i++)
		n += u->links[i].fd >= 0 ? u->links[i].n : 0;
	return n;
}

static int set_unit(struct units *u, uint32_t unit, bool attached)
{
	int err = 0, n = 0;

	for (uint32_t i = 0; i < u->n_links && !err; i++) {
		struct unit_link *l = &u->links[i];

		if (l->unit != unit || (l->fd >= 0) == attached)
			continue;
		if (attached)
			err = attach_link(u, l);
		else
			detach_link(u, l);
		n += err ? 0 : (int)l->n;
	}
	return err ?: n;
}

int units__set_starts(struct units *u, uint32_t query, bool attached)
{
	return u ? set_unit(u, query, attached) : 0;
}

int units__set_ends(struct units *u, uint32_t set, bool attached)
{
	return u ? set_unit(u, u->n_queries + set, attached) : 0;
}

int units__add_group(struct units *u, uint32_t group)
{
	return u ? set_unit(u, u->n_queries + u->n_sets + group, true) : 0;
}

bool units__has_starts(const struct units *u, uint32_t query)
{
	for (uint32_t i = 0; i < u->n_links; i++)
		if (u->links[i].unit == query)
			return true;
	return false;
}

void units__begin_free(struct units *u)
{
	for (uint32_t i = 0; u && i < u->n_links; i++)
		detach_link(u, &u->links[i]);
}

void units__free(struct units *u)
{
	if (!u)
		return;
	units__begin_free(u);
	pthread_mutex_lock(&u->lock);
	while (u->n_closing)
		pthread_cond_wait(&u->closed, &u->lock);
	pthread_mutex_unlock(&u->lock);
	pthread_mutex_destroy(&u->lock);
	pthread_cond_destroy(&u->closed);
	cleanup_close_p(&u->file);
	free(u->offsets);
	free(u->cookies);
	free(u->links);
	free(u);
}
