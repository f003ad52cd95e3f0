// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/links.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "budget/guard_groups.h"
#include "budget/query_sets.h"
#include "capture/uprobe_multi.h"

/* The batch of cache hits, which are attached after all others. */
#define HITS (PLAN_NONE - 1)

/* The sites of one batch that have the same program. */
struct link {
	uint32_t batch;
	int prog_fd;
	uint32_t first; /* in offsets and cookies */
	uint32_t n;
	int fd;	      /* -1 while it is detached */
	bool closing; /* it may still fire; under the lock */
};

struct links {
	struct library_file *file;
	bool governed;
	/* Batches are numbered: queries, sets, groups of guards, and roles. */
	uint32_t n_queries;
	uint32_t n_sets;
	uint32_t n_groups;
	uint64_t *offsets;
	uint64_t *cookies;
	struct link *links; /* by batch, from the last to the first; there is room for the hits' */
	uint32_t n_links;
	pthread_mutex_t lock;
	pthread_cond_t closed;
	uint32_t n_closing;
};

/* ---- Batches --------------------------------------------------------------------------------- */

static bool is_guard(const struct plan_site *site)
{
	return site->role == WIRE_ROLE_GUARD || site->role == WIRE_ROLE_GUARD_QUERY ||
	       site->role == WIRE_ROLE_GUARD_CALLED || site->role == WIRE_ROLE_GUARD_END;
}

bool links_govern(const struct plan_site *site)
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

static uint32_t first_role_batch(const struct links *l)
{
	return l->n_queries + l->n_sets + l->n_groups;
}

/* `set_of` is by query, `group_of` by guard. PLAN_NONE: the site is not attached at all. */
static uint32_t batch_of(const struct links *l, const struct plan *plan, const uint32_t *set_of,
			 const uint32_t *group_of, const struct plan_site *site)
{
	uint32_t query;

	if (!l->governed || !links_govern(site))
		return first_role_batch(l) + site->role;
	if (is_guard(site))
		return l->n_queries + l->n_sets + group_of[site->guard];
	query = site->role == WIRE_ROLE_END ? query_of_body(plan, site->body) : site->query;
	if (query == PLAN_NONE)
		return PLAN_NONE;
	if (site->role == WIRE_ROLE_END || site->role == WIRE_ROLE_REQUEST)
		return l->n_queries + set_of[query];
	return query;
}

/* A site to be attached, and its program. */
struct member {
	uint32_t batch;
	int prog_fd;
	uint32_t site;
};

/*
 * The order in which sites are attached: from the last batch to the first, and, as sites are sorted
 * by role, from the last role to the first.
 *
 * So ends come before starts: a start whose end is not attached yet would look like a query that
 * was left. (Nothing counts before the capture is enabled, but a library may be found after that.)
 * For the same reason requests come before all starts: a start without its request would have no
 * caller, while a request without its start does no harm.
 */
static int compare(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->batch != y->batch)
		return x->batch > y->batch ? -1 : 1;
	return x->site > y->site ? -1 : x->site < y->site;
}

static void add_member(struct links *l, const struct attach_set *set, const struct member *m,
		       uint32_t i)
{
	struct link *last = l->n_links ? &l->links[l->n_links - 1] : NULL;
	const struct plan_site *site = &set->plan->sites[m->site];

	l->offsets[i] = site->offset;
	l->cookies[i] = attach_set__cookie(set, site);
	if (last && last->batch == m->batch && last->prog_fd == m->prog_fd) {
		last->n++;
		return;
	}
	l->links[l->n_links++] = (struct link){
		.batch = m->batch,
		.prog_fd = m->prog_fd,
		.first = i,
		.n = 1,
		.fd = -1,
	};
}

static int allocate(struct links *l, const struct plan *plan)
{
	size_t most = plan->n_sites + 1UL;

	l->offsets = calloc(most, sizeof(*l->offsets));
	l->cookies = calloc(most, sizeof(*l->cookies));
	l->links = calloc(most, sizeof(*l->links));
	if (!l->offsets || !l->cookies || !l->links)
		return -ENOMEM;
	l->file = library_file__ref(plan->file);
	return 0;
}

static int find_batches(struct links *l, const struct plan *plan, uint32_t *set_of,
			uint32_t *group_of)
{
	int n_sets = l->governed ? query_sets_find(plan, set_of) : 0;

	if (n_sets < 0 || !l->governed)
		return n_sets;
	l->n_queries = plan->n_queries;
	l->n_sets = (uint32_t)n_sets;
	l->n_groups = guard_groups_find(plan, group_of);
	return 0;
}

static int fill(struct links *l, struct bpf_program *const progs[ATTACH_ROLES],
		const struct attach_set *set)
{
	const struct plan *plan = set->plan;
	_free_ struct member *members = calloc(plan->n_sites + 1UL, sizeof(*members));
	_free_ uint32_t *set_of = calloc(plan->n_queries + 1UL, sizeof(*set_of));
	_free_ uint32_t *group_of = calloc(plan->n_guards + 1UL, sizeof(*group_of));
	int err = members && set_of && group_of ? allocate(l, plan) : -ENOMEM;
	uint32_t n = 0;

	err = err ?: find_batches(l, plan, set_of, group_of);
	if (err)
		return err;
	for (uint32_t i = 0; i < plan->n_sites; i++) {
		const struct plan_site *site = &plan->sites[i];
		uint32_t batch;

		if (!progs[site->role] || !attach_set__wants(set, site))
			continue;
		batch = batch_of(l, plan, set_of, group_of, site);
		if (batch != PLAN_NONE)
			members[n++] =
				(struct member){batch, bpf_program__fd(progs[site->role]), i};
	}
	qsort(members, n, sizeof(*members), compare);
	for (uint32_t i = 0; i < n; i++)
		add_member(l, set, &members[i], i);
	return 0;
}

int links__new(struct bpf_program *const progs[ATTACH_ROLES], const struct attach_set *set,
	       bool governed, struct links **out)
{
	struct links *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->closed, NULL);
	l->governed = governed;
	err = fill(l, progs, set);
	if (err)
		links__free(l);
	else
		*out = l;
	return err;
}

bool links__are_governed(const struct links *l)
{
	return l && l->governed;
}

/* ---- Attaching ------------------------------------------------------------------------------- */

static bool is_closing(struct links *l, const struct link *link)
{
	_unlock_ pthread_mutex_t *held = locked(&l->lock);

	return link->closing;
}

/* If the old link is still closing, both would fire, and executions would be counted twice. */
static int attach(struct links *l, struct link *link)
{
	int fd;

	if (is_closing(l, link))
		return -EAGAIN;
	if (link->fd >= 0)
		return 0;
	fd = uprobe_multi_link(link->prog_fd, l->file, &l->offsets[link->first],
			       &l->cookies[link->first], link->n);
	if (fd < 0)
		return fd;
	link->fd = fd;
	return 0;
}

int links__attach_fixed(struct links *l)
{
	int err = 0;

	for (uint32_t i = 0; i < l->n_links && !err; i++)
		if (l->links[i].batch >= first_role_batch(l))
			err = attach(l, &l->links[i]);
	return err;
}

/* The sites are not kept, as cache hits are attached once and never again. */
int links__attach_hits(struct links *l, const struct bpf_program *prog,
		       const struct attach_set *set, const struct plan_hits *hits)
{
	_free_ uint64_t *offsets = calloc(hits->n + 1UL, sizeof(*offsets));
	_free_ uint64_t *cookies = calloc(hits->n + 1UL, sizeof(*cookies));
	int fd;

	if (!offsets || !cookies)
		return -ENOMEM;
	if (!hits->n)
		return 0;
	for (uint32_t i = 0; i < hits->n; i++) {
		offsets[i] = hits->items[i].offset;
		cookies[i] = attach_set__hit_cookie(set, &hits->items[i]);
	}
	fd = uprobe_multi_link(bpf_program__fd(prog), set->plan->file, offsets, cookies, hits->n);
	if (fd < 0)
		return fd;
	l->links[l->n_links++] = (struct link){.batch = HITS, .fd = fd};
	return 0;
}

static bool is_wanted(const struct links *l, uint32_t batch, const bool *starts, const bool *ends,
		      const bool *groups)
{
	if (batch < l->n_queries)
		return !starts || starts[batch];
	batch -= l->n_queries;
	if (batch < l->n_sets)
		return !ends || ends[batch];
	batch -= l->n_sets;
	return batch < l->n_groups && (!groups || groups[batch]);
}

int links__attach(struct links *l, const bool *starts, const bool *ends, const bool *groups)
{
	int err = 0;

	for (uint32_t i = 0; l && i < l->n_links && !err; i++)
		if (is_wanted(l, l->links[i].batch, starts, ends, groups))
			err = attach(l, &l->links[i]);
	return err;
}

/* ---- Detaching ------------------------------------------------------------------------------- */

struct closing {
	struct links *links;
	struct link *link;
	int fd;
};

static void end_closing(struct links *l, struct link *link)
{
	_unlock_ pthread_mutex_t *held = locked(&l->lock);

	link->closing = false;
	l->n_closing--;
	pthread_cond_signal(&l->closed);
}

static void *close_link(void *p)
{
	struct closing *c = p;

	close(c->fd);
	end_closing(c->links, c->link);
	free(c);
	return NULL;
}

static bool close_in_background(struct links *l, struct link *link)
{
	struct closing *c = malloc(sizeof(*c));
	pthread_t thread;

	if (!c)
		return false;
	*c = (struct closing){l, link, link->fd};
	pthread_mutex_lock(&l->lock);
	link->closing = true;
	l->n_closing++;
	pthread_mutex_unlock(&l->lock);
	if (!pthread_create(&thread, NULL, close_link, c)) {
		pthread_detach(thread);
		return true;
	}
	free(c);
	end_closing(l, link);
	return false;
}

/*
 * The probes go at once, but close() returns only after the kernel's grace periods, some 40 ms.
 * Links that are closed at the same time wait for the same periods.
 */
static void detach(struct links *l, struct link *link)
{
	if (link->fd >= 0 && !close_in_background(l, link))
		close(link->fd);
	link->fd = -1;
}

/* ---- Switching batches ----------------------------------------------------------------------- */

static int set_batch(struct links *l, uint32_t batch, bool attached)
{
	int n = 0;

	for (uint32_t i = 0; i < l->n_links; i++) {
		struct link *link = &l->links[i];
		int err = 0;

		if (link->batch != batch || (link->fd >= 0) == attached)
			continue;
		if (attached)
			err = attach(l, link);
		else
			detach(l, link);
		/* A library that is being written to is detached soon. */
		if (err)
			return err == -ESTALE ? -EAGAIN : err;
		n += (int)link->n;
	}
	return n;
}

int links__set_starts(struct links *l, uint32_t query, bool attached)
{
	return l ? set_batch(l, query, attached) : 0;
}

int links__set_ends(struct links *l, uint32_t set, bool attached)
{
	return l ? set_batch(l, l->n_queries + set, attached) : 0;
}

int links__add_group(struct links *l, uint32_t group)
{
	return l ? set_batch(l, l->n_queries + l->n_sets + group, true) : 0;
}

bool links__has_starts(const struct links *l, uint32_t query)
{
	for (uint32_t i = 0; l && i < l->n_links; i++)
		if (l->links[i].batch == query)
			return true;
	return false;
}

uint32_t links__sites(const struct links *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; l && i < l->n_links; i++)
		n += l->links[i].fd >= 0 ? l->links[i].n : 0;
	return n;
}

/* ---- The end --------------------------------------------------------------------------------- */

void links__begin_free(struct links *l)
{
	for (uint32_t i = 0; l && i < l->n_links; i++)
		detach(l, &l->links[i]);
}

void links__free(struct links *l)
{
	if (!l)
		return;
	links__begin_free(l);
	pthread_mutex_lock(&l->lock);
	while (l->n_closing)
		pthread_cond_wait(&l->closed, &l->lock);
	pthread_mutex_unlock(&l->lock);
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->closed);
	library_file__free(l->file);
	free(l->offsets);
	free(l->cookies);
	free(l->links);
	free(l);
}
