// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/kernel_attach.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/diag.h"
#include "capture/perf_probes.h"
#include "capture/privilege.h"
#include "capture/tables.h"

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

static struct tables tables_of(const struct kernel *k)
{
	const struct qprof_bpf *s = k->loaded.skel;

	return (struct tables){
		.providers = bpf_map__fd(s->maps.providers),
		.steps = bpf_map__fd(s->maps.steps),
		.wrappers = bpf_map__fd(s->maps.wrappers),
	};
}

static int attach_links(struct kernel *k, const struct attach_set *set, struct links **out)
{
	bool governed = k->governed && set->plan->n_queries;
	int err;

	/* Each link of a batch takes a descriptor, as a perf event does. */
	if (governed)
		raise_file_limit(attach_set__sites(set));
	err = links__new(k->loaded.progs, set, governed, out);
	return err ?: links__attach_fixed(*out);
}

static int attach_perf(struct kernel *k, const struct attach_set *set, bool background,
		       struct perf_probes **out)
{
	raise_file_limit(attach_set__sites(set));
	return perf_probes__attach(k->loaded.progs, set, background, out);
}

static int attach(struct kernel *k, const struct plan *plan, const struct filter *filter,
		  unsigned int n)
{
	bool callers = k->loaded.progs[WIRE_ROLE_REQUEST];
	/* Before counting begins no compiler waits for the probes, only the user does. */
	bool background = !k->loaded.multi && k->recording;
	const struct tables tables = tables_of(k);
	_attach_set_ struct attach_set set;
	int err = attach_set__init(&set, plan, filter, (uint8_t)n, callers);

	if (err)
		return err;
	err = tables_fill(&tables, &set);
	if (err)
		return err;
	err = k->loaded.multi ? attach_links(k, &set, &k->libs[n].links)
			      : attach_perf(k, &set, background, &k->libs[n].perf);
	if (err)
		return err;
	if (background)
		diag_info("attaching %u probes to %s; compilers that use it meanwhile wait for 3 s "
			  "at most, and are late then",
			  attach_set__sites(&set), plan->path);
	else
		diag_verbose("attached %u of %u probes to %s by %s", attach_set__sites(&set),
			     plan->n_sites, plan->path, kernel__attach_name(k));
	return 0;
}

/* The lowest free number from `least` on, or WIRE_MAX_LIBS. */
static unsigned int take_number(struct kernel *k, unsigned int least)
{
	unsigned int n = least;

	while (n < WIRE_MAX_LIBS && __atomic_exchange_n(&k->libs[n].taken, true, __ATOMIC_ACQUIRE))
		n++;
	return n;
}

static void explain(const struct kernel *k, const struct plan *plan, int err)
{
	if (err == -EPERM || err == -EACCES)
		privilege_explain("attach", !k->loaded.multi);
	else if (err == -ESTALE)
		diag_verbose("%s was changed after it was opened", plan->path);
	else if (err == -EINTR)
		diag_error("gave up attaching to %s: interrupted", plan->path);
	else
		diag_error("cannot attach to %s: %s", plan->path, strerror(-err));
}

static void release(struct kernel *k, uint8_t lib);

static int attach_from(struct kernel *k, const struct plan *plan, const struct filter *filter,
		       unsigned int least, uint8_t *lib)
{
	unsigned int n = take_number(k, least);
	int err;

	if (n >= WIRE_MAX_LIBS)
		return diag_error_r(-ENOSPC, "cannot attach to %s: too many toolchains at once",
				    plan->path);
	err = attach(k, plan, filter, n);
	if (err) {
		explain(k, plan, err);
		kernel__begin_detach(k, (uint8_t)n);
		release(k, (uint8_t)n);
		return err;
	}
	*lib = (uint8_t)n;
	return 0;
}

int kernel__attach(struct kernel *k, const struct plan *plan, const struct filter *filter,
		   uint8_t *lib)
{
	return attach_from(k, plan, filter, 0, lib);
}

int kernel__attach_foreign(struct kernel *k, const struct plan *plan, const struct filter *filter,
			   uint8_t *lib)
{
	return attach_from(k, plan, filter, KERNEL_LIBS_KEPT, lib);
}

int kernel__attach_hits(struct kernel *k, uint8_t lib, const struct plan *plan,
			const struct plan_hits *hits)
{
	struct attach_set set = {.plan = plan, .lib = lib};
	int err =
		links__attach_hits(k->libs[lib].links, k->loaded.progs[WIRE_ROLE_HIT], &set, hits);

	if (err == -EPERM || err == -EACCES)
		privilege_explain("attach", false);
	else if (err)
		diag_error("cannot attach to the cache hits of %s: %s", plan->path, strerror(-err));
	else
		diag_verbose("attached %u more, for cache hits", hits->n);
	return err;
}

int kernel__attached(struct kernel *k, uint8_t lib, uint64_t *begun_ns, uint64_t *done_ns)
{
	struct perf_probes *perf = lib < WIRE_MAX_LIBS ? k->libs[lib].perf : NULL;
	struct perf_progress p;

	if (!perf || k->libs[lib].leaving)
		return -ENODATA;
	perf_probes__progress(perf, &p);
	*begun_ns = p.begun_ns;
	*done_ns = p.done_ns;
	return p.err;
}

void kernel__stop_attaching(struct kernel *k)
{
	for (unsigned int i = 0; i < WIRE_MAX_LIBS; i++) {
		struct perf_probes *perf = k->libs[i].perf;
		struct perf_progress p;

		if (!perf)
			continue;
		perf_probes__stop(perf);
		perf_probes__progress(perf, &p);
		if (p.n_attached < p.n_sites && !k->libs[i].leaving)
			diag_warn(
				"only %u of %u probes of a library were attached, those of ends "
				"first: queries are missing; begin to record before its compilers "
				"run, with its rustc in the PATH",
				p.n_attached, p.n_sites);
	}
}

struct links *kernel__links(struct kernel *k, uint8_t lib)
{
	struct links *links = k->libs[lib].leaving ? NULL : k->libs[lib].links;

	return links__are_governed(links) ? links : NULL;
}

uint32_t kernel__sites(const struct kernel *k, uint8_t lib)
{
	return links__sites(k->libs[lib].links);
}

const char *kernel__attach_name(const struct kernel *k)
{
	return k->loaded.multi ? "uprobe_multi" : "perf events";
}

/* ---- Detaching ------------------------------------------------------------------------------- */

void kernel__begin_detach(struct kernel *k, uint8_t lib)
{
	links__begin_free(k->libs[lib].links);
	perf_probes__begin_free(k->libs[lib].perf);
	k->libs[lib].leaving = true;
}

static void take_away(struct attachment *lib)
{
	links__free(take_ptr(lib->links));
	perf_probes__free(take_ptr(lib->perf));
}

/* The number may be taken again as soon as this returns. */
static void give_number_back(struct kernel *k, uint8_t lib)
{
	const struct tables tables = tables_of(k);

	tables_clear(&tables, lib);
	k->libs[lib].leaving = false;
	k->libs[lib].released = false;
	__atomic_store_n(&k->libs[lib].taken, false, __ATOMIC_RELEASE);
}

/* While perf events are still being removed, do not wait: a later call gives the number back. */
static void release(struct kernel *k, uint8_t lib)
{
	struct attachment *l = &k->libs[lib];

	l->released = l->leaving && !perf_probes__are_gone(l->perf);
	if (l->released)
		return;
	take_away(l);
	give_number_back(k, lib);
}

void kernel__release(struct kernel *k, uint8_t lib)
{
	for (unsigned int i = 0; i < WIRE_MAX_LIBS; i++)
		if (k->libs[i].released)
			release(k, (uint8_t)i);
	/* A budget needs links, so no budget knows the numbers of perf events. */
	if (lib >= WIRE_WATCHED_LIBS || !k->loaded.multi)
		release(k, lib);
	else
		take_away(&k->libs[lib]);
}

/* ---- The end --------------------------------------------------------------------------------- */

/* Return once every copy of the pipe's other end is closed: the process that had it is gone. */
static void wait_for_exit(int pipe_end)
{
	char byte;

	while (read(pipe_end, &byte, 1) < 0 && errno == EINTR)
		;
}

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

/*
 * Leave the slow removal of perf events to a child that holds nothing else of ours: no terminal,
 * and no pipe that another process waits for. The last process that closes an event removes it, so
 * the child waits until we have exited. It ends as soon as the kernel is done.
 */
static bool detach_in_background(const struct kernel *k)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), alive[2];
	pid_t pid = null < 0 || pipe2(alive, O_CLOEXEC) ? -1 : fork();

	if (pid == 0) {
		close(alive[1]);
		setsid();
		for (int fd = 0; fd < 3; fd++)
			dup2(null, fd);
		close_inherited();
		wait_for_exit(alive[0]);
		for (unsigned int i = 0; i < WIRE_MAX_LIBS; i++)
			perf_probes__free(k->libs[i].perf);
		_exit(0);
	}
	/* alive[1] stays open for as long as we live. */
	return pid > 0;
}

void kernel__begin_detach_all(struct kernel *k)
{
	for (unsigned int i = 0; i < WIRE_MAX_LIBS; i++)
		links__begin_free(k->libs[i].links);
}

static bool has_perf(const struct kernel *k)
{
	for (unsigned int i = 0; i < WIRE_MAX_LIBS; i++)
		if (k->libs[i].perf)
			return true;
	return false;
}

/* Even disabling a perf event waits for its removal, so all of that is left to the child. */
void kernel__detach_all(struct kernel *k)
{
	bool owned_elsewhere;

	kernel__begin_detach_all(k);
	for (unsigned int i = 0; i < WIRE_MAX_LIBS; i++)
		perf_probes__stop(k->libs[i].perf);
	owned_elsewhere = has_perf(k) && detach_in_background(k);
	for (unsigned int i = 0; i < WIRE_MAX_LIBS; i++) {
		links__free(k->libs[i].links);
		if (owned_elsewhere)
			perf_probes__abandon(k->libs[i].perf);
		else
			perf_probes__free(k->libs[i].perf);
	}
}
