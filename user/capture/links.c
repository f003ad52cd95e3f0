// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/links.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "capture/uprobe_multi.h"

/* The sites of one role and part. */
struct link {
	uint8_t role;
	uint8_t part;
	int prog_fd;
	uint32_t first; /* in offsets and cookies */
	uint32_t n;
	int fd; /* -1 while it is detached */
};

struct links {
	struct library_file *file;
	uint64_t *offsets;
	uint64_t *cookies;
	struct link *links; /* of each part from the last role to the first; there is room for the
			     * hits' */
	uint32_t n_links;
	pthread_mutex_t lock;
	pthread_cond_t closed;
	uint32_t n_closing;
};

/*
 * Sites are attached from the last role to the first, and the sites of a plan are sorted by role.
 *
 * So ends come before starts: a start whose end is not attached yet would look like a query that
 * was left. (Nothing counts before the capture is enabled, but a library may be found after that.)
 * For the same reason requests come before all starts: a start without its request would have no
 * caller, while a request without its start does no harm.
 */
static void add_site(struct links *l, const struct attach_set *set, const struct plan_site *site,
		     int prog_fd, enum plan_part part, uint32_t i)
{
	struct link *last = l->n_links ? &l->links[l->n_links - 1] : NULL;

	l->offsets[i] = site->offset;
	l->cookies[i] = attach_set__cookie(set, site);
	if (last && last->prog_fd == prog_fd && last->role == site->role && last->part == part) {
		last->n++;
		return;
	}
	l->links[l->n_links++] = (struct link){
		.role = site->role,
		.part = (uint8_t)part,
		.prog_fd = prog_fd,
		.first = i,
		.n = 1,
		.fd = -1,
	};
}

int links__new(struct bpf_program *const progs[ATTACH_ROLES], const struct attach_set *set,
	       struct links **out)
{
	const struct plan *plan = set->plan;
	struct links *l = calloc(1, sizeof(*l));
	uint32_t n = 0;

	if (!l)
		return -ENOMEM;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->closed, NULL);
	l->offsets = calloc(plan->n_sites + 1UL, sizeof(*l->offsets));
	l->cookies = calloc(plan->n_sites + 1UL, sizeof(*l->cookies));
	l->links = calloc(plan->n_sites + 1UL, sizeof(*l->links));
	if (!l->offsets || !l->cookies || !l->links) {
		links__free(l);
		return -ENOMEM;
	}
	l->file = library_file__ref(plan->file);
	for (enum plan_part part = 0; part < PLAN_PARTS; part++)
		for (uint32_t i = plan->n_sites; i-- > 0;) {
			const struct plan_site *site = &plan->sites[i];

			if (progs[site->role] && attach_set__wants(set, site) &&
			    attach_set__part(set, site) == part)
				add_site(l, set, site, bpf_program__fd(progs[site->role]), part,
					 n++);
		}
	*out = l;
	return 0;
}

/* ---- Attaching ------------------------------------------------------------------------------- */

int links__attach(struct links *l, enum plan_part part)
{
	for (uint32_t i = 0; i < l->n_links; i++) {
		struct link *link = &l->links[i];
		int fd;

		if (link->part != part || link->fd >= 0)
			continue;
		fd = uprobe_multi_link(link->prog_fd, l->file, &l->offsets[link->first],
				       &l->cookies[link->first], link->n);
		if (fd < 0)
			return fd;
		link->fd = fd;
	}
	return 0;
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
		cookies[i] = set->first + i;
	}
	fd = uprobe_multi_link(bpf_program__fd(prog), set->plan->file, offsets, cookies, hits->n);
	if (fd < 0)
		return fd;
	l->links[l->n_links++] = (struct link){.fd = fd};
	return 0;
}

/* ---- Breakpoints ----------------------------------------------------------------------------- */

/* So many sites are enough to measure by: they take a millisecond. */
#define MEASURED_SITES 128

uint32_t links__sites(const struct links *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->n_links; i++)
		n += l->links[i].fd >= 0 ? l->links[i].n : 0;
	return n;
}

uint64_t links__breakpoint_ns(const struct links *l)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from, to, start_ns;
	uint32_t n = links__sites(l), half = MEASURED_SITES / 2;
	_free_ uint64_t *sorted = calloc(n + 1UL, sizeof(*sorted));
	uint64_t *at = sorted;
	void *map;

	if (!sorted || n < MEASURED_SITES)
		return 0;
	for (uint32_t i = 0; i < l->n_links; i++) {
		const struct link *link = &l->links[i];

		if (link->fd < 0)
			continue;
		memcpy(at, &l->offsets[link->first], link->n * sizeof(*at));
		at += link->n;
	}
	qsort(sorted, n, sizeof(*sorted), array__by_u64);
	/* The range may have a few more sites of its last page, which is no matter. */
	from = sorted[n / 2 - half] / page * page;
	to = (sorted[n / 2 + half - 1] / page + 1) * page;
	/*
	 * The kernel writes breakpoints into each mapping that could be executable, and takes them
	 * away.
	 */
	start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	map = mmap(NULL, to - from, PROT_READ, MAP_PRIVATE, library_file__fd(l->file), (off_t)from);
	if (map == MAP_FAILED)
		return 0;
	munmap(map, to - from);
	return (clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns) / MEASURED_SITES;
}

/* ---- Detaching ------------------------------------------------------------------------------- */

struct closing {
	struct links *links;
	int fd;
};

static void end_closing(struct links *l)
{
	_unlock_ pthread_mutex_t *held = locked(&l->lock);

	l->n_closing--;
	pthread_cond_signal(&l->closed);
}

static void *close_link(void *p)
{
	struct closing *c = p;

	close(c->fd);
	end_closing(c->links);
	free(c);
	return NULL;
}

static bool close_in_background(struct links *l, int fd)
{
	struct closing *c = malloc(sizeof(*c));
	pthread_t thread;

	if (!c)
		return false;
	*c = (struct closing){l, fd};
	pthread_mutex_lock(&l->lock);
	l->n_closing++;
	pthread_mutex_unlock(&l->lock);
	if (!pthread_create(&thread, NULL, close_link, c)) {
		pthread_detach(thread);
		return true;
	}
	free(c);
	end_closing(l);
	return false;
}

/* ---- The end --------------------------------------------------------------------------------- */

/*
 * The probes go at once, but close() returns only after the kernel's grace periods, some 40 ms.
 * Links that are closed at the same time wait for the same periods.
 */
void links__begin_free(struct links *l)
{
	for (uint32_t i = 0; l && i < l->n_links; i++) {
		struct link *link = &l->links[i];

		if (link->fd >= 0 && !close_in_background(l, link->fd))
			close(link->fd);
		link->fd = -1;
	}
}

bool links__are_gone(struct links *l)
{
	bool gone;

	if (!l)
		return true;
	pthread_mutex_lock(&l->lock);
	gone = !l->n_closing;
	pthread_mutex_unlock(&l->lock);
	return gone;
}

/* A thread of the parent may have held the lock, and others may have been closing links. */
void links__inherit(struct links *l)
{
	if (!l)
		return;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->closed, NULL);
	l->n_closing = 0;
}

/* The lowest descriptor of a link from `from` on; -1: there is none. */
static int next_fd(const struct links *l, int from)
{
	int next = -1;

	for (uint32_t i = 0; i < l->n_links; i++)
		if (l->links[i].fd >= from && (next < 0 || l->links[i].fd < next))
			next = l->links[i].fd;
	return next;
}

void links__close_others(const struct links *l)
{
	int from = 3, next;

	while ((next = next_fd(l, from)) >= 0) {
		if (next > from)
			syscall(SYS_close_range, from, next - 1, 0);
		from = next + 1;
	}
	syscall(SYS_close_range, from, ~0u, 0);
}

void links__abandon(struct links *l)
{
	for (uint32_t i = 0; l && i < l->n_links; i++)
		if (l->links[i].fd >= 0)
			close(take_fd(l->links[i].fd));
	links__free(l);
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
