// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/perf_probes.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/signals.h"
#include "plan/library/file.h"

/*
 * A lock between recordings: every recording can open this file. Any other process can as well, so
 * no recording waits for it longer than this in all.
 */
#define TURN_FILE      "/sys/kernel/btf/vmlinux"
#define ATTACH_TURN_NS 2000000000
#define REMOVE_TURN_NS 60000000000
/* How often to try the lock. Attaching tries more often than removing, so it goes first. */
#define ATTACH_LOOK_NS 1000000
#define REMOVE_LOOK_NS 20000000
/* Between two removals: longer than the time between two tries. */
#define GAP_NS 5000000

struct perf_site {
	const struct bpf_program *prog;
	uint64_t offset;
	uint64_t cookie;
};

struct perf_probes {
	struct library_file *file;
	struct perf_site *sites;
	struct bpf_link **links; /* of the first n_attached sites, less the first n_removed */
	uint32_t n_sites;
	uint32_t n_attached; /* as done_ns and n_removed: written by the thread, read by all */
	uint32_t n_removed;
	uint64_t begun_ns;
	uint64_t done_ns;
	int err;
	bool stop;
	bool has_thread;
	pthread_t thread;
};

/* ---- Turns ----------------------------------------------------------------------------------- */

static void pause_for(long ns)
{
	nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

/* A descriptor that holds the lock, or -1 if it cannot be had. Takes the wait off *left_ns. */
static int take_turn(uint64_t *left_ns, long broker_ns)
{
	_close_ int fd = open(TURN_FILE, O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK || *left_ns < (uint64_t)broker_ns)
			return -1;
		*left_ns -= (uint64_t)broker_ns;
		pause_for(broker_ns);
	}
	return take_fd(fd);
}

/* ---- Attaching ------------------------------------------------------------------------------- */

static int attach_site(struct perf_probes *p, const struct perf_site *site)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = site->cookie);
	struct bpf_link *link = bpf_program__attach_uprobe_opts(
		site->prog, -1, library_file__fd_path(p->file), site->offset, &opts);

	if (!link)
		return -errno;
	p->links[p->n_attached] = link;
	__atomic_store_n(&p->n_attached, p->n_attached + 1, __ATOMIC_RELEASE);
	return 0;
}

/* In the background, the recording thread takes the signals and stops this thread. */
static bool is_interrupted(const struct perf_probes *p)
{
	return p->has_thread ? __atomic_load_n(&p->stop, __ATOMIC_RELAXED)
			     : signals_end_recording();
}

static int attach_all(struct perf_probes *p)
{
	uint64_t left_ns = ATTACH_TURN_NS;
	_close_ int turn = take_turn(&left_ns, ATTACH_LOOK_NS);
	int err = library_file__is_same(p->file) ? 0 : -ESTALE;

	for (uint32_t i = 0; i < p->n_sites && !err; i++)
		err = is_interrupted(p) ? -EINTR : attach_site(p, &p->sites[i]);
	return err ?: library_file__is_same(p->file) ? 0 : -ESTALE;
}

static void *run(void *probes)
{
	struct perf_probes *p = probes;

	p->err = attach_all(p);
	__atomic_store_n(&p->done_ns, clock_ns(CLOCK_MONOTONIC), __ATOMIC_RELEASE);
	return NULL;
}

static int start_thread(struct perf_probes *p, void *(*fn)(void *))
{
	int err;

	p->has_thread = true; /* the thread reads it */
	err = signals_start_thread(&p->thread, NULL, fn, p);
	p->has_thread = !err;
	return err;
}

/* ---- The sites ------------------------------------------------------------------------------- */

/* Ends and requests before starts, for the reasons in links.c. */
static int fill(struct perf_probes *p, struct bpf_program *const progs[ATTACH_ROLES],
		const struct attach_set *set)
{
	p->file = library_file__ref(set->plan->file);
	p->sites = calloc(set->plan->n_sites + 1UL, sizeof(*p->sites));
	p->links = calloc(set->plan->n_sites + 1UL, sizeof(struct bpf_link *));
	if (!p->sites || !p->links)
		return -ENOMEM;
	for (uint32_t role = ATTACH_ROLES - 1; role > 0; role--)
		for (uint32_t i = 0; progs[role] && i < set->plan->n_sites; i++) {
			const struct plan_site *site = &set->plan->sites[i];

			if (site->role == role && attach_set__wants(set, site))
				p->sites[p->n_sites++] = (struct perf_site){
					progs[role], site->offset, attach_set__cookie(set, site)};
		}
	return 0;
}

int perf_probes__attach(struct bpf_program *const progs[ATTACH_ROLES], const struct attach_set *set,
			bool background, struct perf_probes **out)
{
	struct perf_probes *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->begun_ns = clock_ns(CLOCK_MONOTONIC);
	err = fill(p, progs, set);
	if (!err && background)
		err = start_thread(p, run);
	else if (!err)
		run(p);
	*out = p;
	return err || background ? err : p->err;
}

void perf_probes__progress(struct perf_probes *p, struct perf_progress *out)
{
	*out = (struct perf_progress){
		.n_sites = p->n_sites,
		.begun_ns = p->begun_ns,
		.done_ns = __atomic_load_n(&p->done_ns, __ATOMIC_ACQUIRE),
	};
	out->n_attached = __atomic_load_n(&p->n_attached, __ATOMIC_ACQUIRE);
	out->err = out->done_ns ? p->err : 0;
}

void perf_probes__stop(struct perf_probes *p)
{
	if (!p || !p->has_thread)
		return;
	__atomic_store_n(&p->stop, true, __ATOMIC_RELAXED);
	pthread_join(p->thread, NULL);
	p->has_thread = false;
}

/* ---- The end --------------------------------------------------------------------------------- */

static void clear(struct perf_probes *p)
{
	library_file__free(p->file);
	free(p->sites);
	free(p->links);
	free(p);
}

static void *remove_all(void *probes)
{
	struct perf_probes *p = probes;

	for (uint32_t i = 0; i < p->n_attached && !__atomic_load_n(&p->stop, __ATOMIC_RELAXED);
	     i++) {
		bpf_link__destroy(p->links[i]);
		__atomic_store_n(&p->n_removed, i + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Without a thread the probes stay until perf_probes__free(). */
void perf_probes__begin_free(struct perf_probes *p)
{
	if (!p)
		return;
	perf_probes__stop(p);
	p->stop = false;
	start_thread(p, remove_all);
}

bool perf_probes__are_gone(struct perf_probes *p)
{
	return !p || __atomic_load_n(&p->n_removed, __ATOMIC_ACQUIRE) == p->n_attached;
}

/* Between two removals, a recording that waits for a turn to attach gets it. */
void perf_probes__free(struct perf_probes *p)
{
	uint64_t left_ns = REMOVE_TURN_NS;

	if (!p)
		return;
	perf_probes__stop(p);
	for (uint32_t i = p->n_removed; i < p->n_attached; i++) {
		int turn = take_turn(&left_ns, REMOVE_LOOK_NS);

		bpf_link__destroy(p->links[i]);
		cleanup_close_p(&turn);
		pause_for(GAP_NS);
	}
	clear(p);
}

void perf_probes__abandon(struct perf_probes *p)
{
	if (!p)
		return;
	perf_probes__stop(p);
	for (uint32_t i = p->n_removed; i < p->n_attached; i++) {
		bpf_link__disconnect(p->links[i]);
		bpf_link__destroy(p->links[i]);
	}
	clear(p);
}
