// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/kernel_attach.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "capture/perf_probes.h"
#include "capture/privilege.h"
#include "capture/tables.h"
#include "plan/library/file.h"

/* The kernel takes 40 ms; a recording that has ended waits no longer than a compiler is held. */
#define DETACH_MOST_NS 3000000000ull

/* One number of a library. */
struct attachment {
	struct links *links;
	struct perf_probes *perf; /* in place of links */
	struct library_file *file;
	struct site_range sites, hits; /* in the table of sites */
	bool served;		       /* by a FUSE server, which may not answer a read */
	pid_t heir;		       /* the child that detaches; 0: none */
	bool taken;		       /* two threads may try to take it */
	bool leaving;		       /* being detached; see attachments__begin_detach() */
	bool released;		       /* likewise, and given back when that is over */
};

struct attachments {
	const struct loaded *loaded;
	bool recording;
	bool owned_elsewhere;  /* a background child detaches */
	pid_t heir;	       /* that child, if its end is waited for; 0: none */
	pthread_mutex_t rooms; /* protects the ranges of all libraries */
	struct attachment libs[WIRE_MAX_LIBS];
};

int attachments__new(const struct loaded *l, struct attachments **out)
{
	struct attachments *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->loaded = l;
	pthread_mutex_init(&a->rooms, NULL);
	*out = a;
	return 0;
}

/* ---- Attaching ------------------------------------------------------------------------------- */

/* Each perf event takes a descriptor, and a plan has more sites than the usual limit of 1,024. */
static void raise_file_limit(uint32_t n)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	_unlock_ pthread_mutex_t *held = locked(&lock);
	struct rlimit lim, most;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		return;
	most = lim;
	most.rlim_cur = lim.rlim_max;
	lim.rlim_cur += 2ul * n;
	if (lim.rlim_max < lim.rlim_cur)
		lim.rlim_max = lim.rlim_cur;
	/* Raising the hard limit takes CAP_SYS_RESOURCE. */
	if (setrlimit(RLIMIT_NOFILE, &lim))
		setrlimit(RLIMIT_NOFILE, &most);
}

static struct tables tables_of(const struct attachments *a)
{
	const struct qprof_bpf *s = a->loaded->skel;

	return (struct tables){
		.sites = s->rodata->knobs.roles ? bpf_map__fd(s->maps.sites) : -1,
		.providers = bpf_map__fd(s->maps.providers),
		.steps = bpf_map__fd(s->maps.steps),
		.wrappers = bpf_map__fd(s->maps.wrappers),
		.memory_keys = bpf_map__fd(s->maps.memory_keys),
		.tables = bpf_map__fd(s->maps.tables),
		.query_tables = bpf_map__fd(s->maps.query_tables),
		.layouts = bpf_map__fd(s->maps.layouts),
		.sources = bpf_map__fd(s->maps.sources),
		.expansions = bpf_map__fd(s->maps.expansions),
		.jobs = s->rodata->knobs.sampled ? bpf_map__fd(s->maps.job_tables) : -1,
	};
}

static bool overlaps(const struct site_range *x, const struct site_range *y)
{
	return x->first < y->first + y->n && y->first < x->first + x->n;
}

/* A range that is in the way of another; NULL: none is. */
static const struct site_range *find_overlap(const struct attachments *a,
					     const struct site_range *range)
{
	for (unsigned int i = 0; i < WIRE_MAX_LIBS; i++) {
		if (overlaps(&a->libs[i].sites, range))
			return &a->libs[i].sites;
		if (overlaps(&a->libs[i].hits, range))
			return &a->libs[i].hits;
	}
	return NULL;
}

/* Room for `n` sites behind one of the other ranges. -ENOSPC: other libraries have taken it. */
static int take_room(struct attachments *a, uint32_t n, struct site_range *out)
{
	uint32_t most = bpf_map__max_entries(a->loaded->skel->maps.sites);
	_unlock_ pthread_mutex_t *held = locked(&a->rooms);
	struct site_range range = {.n = n};
	const struct site_range *other;

	while ((other = find_overlap(a, &range)))
		range.first = other->first + other->n;
	if (n > most || range.first > most - n)
		return -ENOSPC;
	*out = range;
	return 0;
}

static int attach(struct attachments *a, const struct plan *plan, const struct filter *filter,
		  unsigned int n)
{
	bool callers = a->loaded->progs[WIRE_ROLE_REQUEST];
	/* Before counting begins no compiler waits for the probes, only the user does. */
	bool background = !a->loaded->multi && a->recording;
	const struct tables tables = tables_of(a);
	_attach_set_ struct attach_set set;
	struct file_mount mount;
	int err = attach_set__init(&set, plan, filter, (uint8_t)n, callers);

	if (err)
		return err;
	if (tables.sites >= 0)
		err = take_room(a, set.n_sites, &a->libs[n].sites);
	set.first = a->libs[n].sites.first;
	/* Else there is no room in the tables. */
	if (!err && (tables.sites >= 0 || a->loaded->skel->rodata->knobs.keys))
		err = tables_fill(&tables, &set);
	if (err)
		return err;
	if (a->loaded->multi) {
		err = links__new(a->loaded->progs, &set, &a->libs[n].links)
			      ?: links__attach(a->libs[n].links, PLAN_PART_ALWAYS);
	} else {
		raise_file_limit(set.n_sites);
		err = perf_probes__attach(a->loaded->progs, &set, background, &a->libs[n].perf);
	}
	if (err)
		return err;
	a->libs[n].file = library_file__ref(plan->file);
	/* It has answered until now: the library was planned and proven. */
	a->libs[n].served = file_mount__of(library_file__fd(plan->file), &mount) ||
			    (mount.fuse && (mount.has_server || !mount.ours));
	if (background)
		diag_info("attaching %u probes to %s; compilers that use it meanwhile wait for 3 s "
			  "at most, and are late then",
			  set.n_sites, plan->path);
	else
		diag_verbose("attached %u of %u probes to %s by %s",
			     a->loaded->multi ? links__sites(a->libs[n].links) : set.n_sites,
			     plan->n_sites, plan->path, attachments__kind(a));
	return 0;
}

static void explain(const struct attachments *a, const struct plan *plan, int err)
{
	if (err == -EPERM || err == -EACCES)
		privilege_explain("attach", !a->loaded->multi);
	else if (err == -ESTALE)
		diag_verbose("%s was changed after it was opened", plan->path);
	else if (err == -EINTR)
		diag_error("gave up attaching to %s: interrupted", plan->path);
	else
		diag_error("cannot attach to %s: %s%s", plan->path, strerror(-err),
			   diag_step(err, ""));
}

void attachments__begin_recording(struct attachments *a)
{
	a->recording = true;
}

static void release(struct attachments *a, uint8_t lib);

int attachments__attach(struct attachments *a, const struct plan *plan, const struct filter *filter,
			unsigned int least, uint8_t *lib)
{
	unsigned int n = least;
	int err;

	/* The lowest free number. */
	while (n < WIRE_MAX_LIBS && __atomic_exchange_n(&a->libs[n].taken, true, __ATOMIC_ACQUIRE))
		n++;
	if (n >= WIRE_MAX_LIBS)
		return diag_error_r(-ENOSPC, "cannot attach to %s: too many toolchains at once",
				    plan->path);
	err = attach(a, plan, filter, n);
	if (err) {
		explain(a, plan, err);
		attachments__begin_detach(a, (uint8_t)n);
		release(a, (uint8_t)n);
		return err;
	}
	*lib = (uint8_t)n;
	return 0;
}

int attachments__attach_part(struct attachments *a, uint8_t lib, const struct plan *plan,
			     enum plan_part part)
{
	struct links *links = a->libs[lib].links;
	uint32_t before = links ? links__sites(links) : 0;
	int err = links ? links__attach(links, part) : 0;

	if (err)
		explain(a, plan, err);
	else if (links && links__sites(links) > before)
		diag_verbose("attached %u more probes to %s", links__sites(links) - before,
			     plan->path);
	return err;
}

int attachments__attach_hits(struct attachments *a, uint8_t lib, const struct plan *plan,
			     const struct plan_hits *hits)
{
	struct attach_set set = {.plan = plan, .lib = lib};
	const struct tables tables = tables_of(a);
	int err = take_room(a, hits->n, &a->libs[lib].hits);

	set.first = a->libs[lib].hits.first;
	err = err ?: tables_fill_hits(&tables, &set, hits)
		  ?: links__attach_hits(a->libs[lib].links, a->loaded->progs[WIRE_ROLE_HIT], &set,
					hits);
	if (err == -EPERM || err == -EACCES)
		privilege_explain("attach", false);
	else if (err)
		diag_error("cannot attach to the cache hits of %s: %s%s", plan->path,
			   strerror(-err), diag_step(err, ""));
	else
		diag_verbose("attached %u more, for cache hits", hits->n);
	return err;
}

int attachments__progress(struct attachments *a, uint8_t lib, uint64_t *begun_ns, uint64_t *done_ns)
{
	struct perf_probes *perf = a->libs[lib].perf;
	struct perf_progress p;

	if (!perf || a->libs[lib].leaving)
		return -ENODATA;
	perf_probes__progress(perf, &p);
	*begun_ns = p.begun_ns;
	*done_ns = p.done_ns;
	return p.err;
}

void attachments__stop(struct attachments *a)
{
	for (unsigned int i = 0; i < WIRE_MAX_LIBS; i++) {
		struct perf_probes *perf = a->libs[i].perf;
		struct perf_progress p;

		if (!perf)
			continue;
		perf_probes__stop(perf);
		perf_probes__progress(perf, &p);
		if (p.n_attached < p.n_sites && !a->libs[i].leaving)
			diag_warn(
				"only %u of %u probes of a library were attached, those of ends "
				"first: queries are missing; begin to record before its compilers "
				"run, with its rustc in the PATH",
				p.n_attached, p.n_sites);
	}
}

void attachments__breakpoints(const struct attachments *a, uint32_t *n, uint64_t *each_ns)
{
	*n = 0;
	if (each_ns)
		*each_ns = 0;
	for (unsigned int i = 0; i < WIRE_MAX_LIBS; i++) {
		const struct links *links = a->libs[i].leaving ? NULL : a->libs[i].links;

		if (!links || links__sites(links) <= *n)
			continue;
		*n = links__sites(links);
		if (each_ns)
			*each_ns = links__breakpoint_ns(links);
	}
}

int attachments__fd(const struct attachments *a, uint32_t lib)
{
	const struct attachment *l = lib < WIRE_MAX_LIBS ? &a->libs[lib] : NULL;

	return l && l->file && !l->served ? library_file__fd(l->file) : -1;
}

bool attachments__has_parts(const struct attachments *a)
{
	return a->loaded->multi;
}

const char *attachments__kind(const struct attachments *a)
{
	return a->loaded->multi ? "uprobe_multi" : "perf events";
}

/* ---- Detaching ------------------------------------------------------------------------------- */

static pid_t start_heir(struct attachments *a, struct links *links, int *ours);

void attachments__begin_detach(struct attachments *a, uint8_t lib)
{
	struct attachment *l = &a->libs[lib];
	int ours;

	if (l->links)
		l->heir = start_heir(a, l->links, &ours);
	if (l->heir) {
		links__abandon(take_ptr(l->links));
		close(ours);
	}
	links__begin_free(l->links);
	perf_probes__begin_free(l->perf);
	l->leaving = true;
}

/* While probes are still being removed, their programs may run. */
static bool is_detached(struct attachment *l)
{
	if (l->heir && waitpid(l->heir, NULL, WNOHANG))
		l->heir = 0;
	return !l->heir && links__are_gone(l->links) && perf_probes__are_gone(l->perf);
}

/* While probes are still being removed, do not wait: a later call gives the number back. */
static void release(struct attachments *a, uint8_t lib)
{
	const struct tables tables = tables_of(a);
	struct attachment *l = &a->libs[lib];

	l->released = l->leaving && !is_detached(l);
	if (l->released)
		return;
	library_file__free(take_ptr(l->file));
	links__free(take_ptr(l->links));
	perf_probes__free(take_ptr(l->perf));
	tables_clear(&tables, lib, l->sites);
	pthread_mutex_lock(&a->rooms);
	l->sites = l->hits = (struct site_range){0};
	pthread_mutex_unlock(&a->rooms);
	l->leaving = l->released = false;
	/* The number may be taken again from now on. */
	__atomic_store_n(&l->taken, false, __ATOMIC_RELEASE);
}

void attachments__release(struct attachments *a, uint8_t lib)
{
	for (unsigned int i = 0; i < WIRE_MAX_LIBS; i++)
		if (a->libs[i].released)
			release(a, (uint8_t)i);
	release(a, lib);
}

/* ---- The end --------------------------------------------------------------------------------- */

/*
 * Another process may wait for the end of a pipe, or for a lock, that we inherited. Descriptors of
 * our own are closed on exec, so all others are inherited.
 */
static void close_inherited(void)
{
	_closedir_ DIR *dir = opendir("/proc/self/fd");
	struct dirent *ent;

	while (dir && (ent = readdir(dir))) {
		int fd = atoi(ent->d_name), flags = fd > 2 ? fcntl(fd, F_GETFD) : -1;

		if (flags >= 0 && !(flags & FD_CLOEXEC))
			close(fd);
	}
}

/* Links of all libraries at once, which wait for the same grace periods. */
static _Noreturn void detach_as_heir(struct attachments *a)
{
	for (unsigned int i = 0; i < WIRE_MAX_LIBS; i++) {
		links__inherit(a->libs[i].links);
		links__begin_free(a->libs[i].links);
	}
	for (unsigned int i = 0; i < WIRE_MAX_LIBS; i++) {
		links__free(a->libs[i].links);
		perf_probes__free(a->libs[i].perf);
	}
	_exit(0);
}

/* All else goes on without this process, however long it waits. */
static _Noreturn void detach_one_as_heir(struct links *links)
{
	links__close_others(links);
	links__inherit(links);
	links__free(links);
	_exit(0);
}

static bool has_perf(const struct attachments *a)
{
	for (unsigned int i = 0; i < WIRE_MAX_LIBS; i++)
		if (a->libs[i].perf)
			return true;
	return false;
}

/* The child has no terminal of ours, and no directory that somebody may want to unmount. */
static void leave_surroundings(int null)
{
	setsid();
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	close_inherited();
	/* A child that stays where it is detaches all the same. */
	(void)!chdir("/");
}

/*
 * Leave detaching to a child: of these links, or of all libraries if that is NULL. The last process
 * that closes a link or an event waits for the kernel, which SIGKILL does not end. So the child
 * waits until we have closed our links, and *ours; events are ours until we have exited. If it is
 * killed, the kernel detaches all the same. 0: there is no child.
 */
static pid_t start_heir(struct attachments *a, struct links *links, int *ours)
{
	_close_ int null = open("/dev/null", O_RDWR | O_CLOEXEC), theirs = -1;
	int pair[2];
	char byte;
	pid_t pid;

	if (null < 0 || pipe2(pair, O_CLOEXEC))
		return 0;
	theirs = pair[0];
	*ours = pair[1];
	pid = fork();
	if (!pid) {
		close(*ours);
		leave_surroundings(null);
		/* Until every copy of the pipe's other end is closed. */
		while (read(theirs, &byte, 1) < 0 && errno == EINTR)
			;
		if (links)
			detach_one_as_heir(links);
		detach_as_heir(a);
	}
	if (pid < 0)
		close(*ours);
	return pid < 0 ? 0 : pid;
}

void attachments__leave(struct attachments *a, bool wait)
{
	int ours;

	for (unsigned int i = 0; i < WIRE_MAX_LIBS; i++)
		perf_probes__stop(a->libs[i].perf);
	if (!a->owned_elsewhere) {
		a->heir = start_heir(a, NULL, &ours);
		a->owned_elsewhere = a->heir;
		for (unsigned int i = 0; i < WIRE_MAX_LIBS && a->heir; i++)
			links__abandon(take_ptr(a->libs[i].links));
		if (a->heir && !has_perf(a))
			close(ours);
	}
	for (unsigned int i = 0; i < WIRE_MAX_LIBS && !a->owned_elsewhere; i++)
		links__begin_free(a->libs[i].links);
	/* A child with perf events waits for our end, and takes minutes. */
	if (!wait || has_perf(a))
		a->heir = 0;
}

/*
 * A program that waits for a page, of whatever recorder or tool, keeps the kernel from removing any
 * probe, and may do so for ever.
 */
static void await_heir(pid_t heir)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + DETACH_MOST_NS;
	pid_t left = 0;

	while (heir && (left = waitpid(heir, NULL, WNOHANG)) == 0 &&
	       clock_ns(CLOCK_MONOTONIC) < end_ns)
		nanosleep(&pause, NULL);
	if (heir && !left)
		diag_warn("the kernel has not removed the probes within 3 s: a BPF program on this "
			  "machine waits for a page; they stay until it goes on");
}

/* Even disabling a perf event waits for its removal, so all of that is left to the child. */
void attachments__free(struct attachments *a)
{
	if (!a)
		return;
	if (!a->owned_elsewhere)
		attachments__leave(a, true);
	for (unsigned int i = 0; i < WIRE_MAX_LIBS; i++) {
		struct attachment *l = &a->libs[i];

		library_file__free(l->file);
		if (a->owned_elsewhere) {
			links__abandon(l->links);
			perf_probes__abandon(l->perf);
		} else {
			links__free(l->links);
			perf_probes__free(l->perf);
		}
	}
	await_heir(a->heir);
	free(a);
}
