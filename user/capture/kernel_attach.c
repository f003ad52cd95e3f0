// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "capture/kernel_state.h"
#include "capture/privilege.h"
#include "capture/tables.h"

static void raise_limit_by(uint32_t n)
{
	struct rlimit lim, most;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		return;
	most = lim;
	most.rlim_cur = lim.rlim_max;
	lim.rlim_cur += 2ul * n;
	if (lim.rlim_max < lim.rlim_cur)
		lim.rlim_max = lim.rlim_cur;
	/* Only CAP_SYS_RESOURCE goes beyond what was the most. */
	if (setrlimit(RLIMIT_NOFILE, &lim))
		setrlimit(RLIMIT_NOFILE, &most);
}

/* One perf event is one descriptor; the usual limit of 1,024 is less than a plan. */
static void raise_file_limit(uint32_t n)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
	raise_limit_by(n);
	pthread_mutex_unlock(&lock);
}

static int attach(struct kernel *k, const struct plan *plan, const struct filter *filter,
		  unsigned int n)
{
	bool governed = k->governed && plan->n_queries;
	bool callers = k->progs[WIRE_ROLE_REQUEST];
	struct tables tables = {
		.providers = bpf_map__fd(k->skel->maps.providers),
		.steps = bpf_map__fd(k->skel->maps.steps),
		.wrappers = bpf_map__fd(k->skel->maps.wrappers),
	};
	_choice_ struct choice c;
	int err = choice__init(&c, plan, filter, (uint8_t)n, callers);

	if (err)
		return err;
	/* One link of a unit is one as well. */
	if (!k->multi || governed)
		raise_file_limit(choice__sites(&c));
	err = tables_fill(&tables, &c);
	if (!err)
		err = probes__attach(k->progs, &c, k->multi, governed, &k->libs[n]);
	/* They are the budget's to attach. */
	if (!err && governed)
		err = units__new(k->progs, &c, &k->units[n]);
	for (uint32_t i = 0; i < plan->n_sites && governed; i++)
		k->fixed_sites[n] +=
			!units_have(&plan->sites[i]) && choice__wants(&c, &plan->sites[i]);
	if (!err)
		diag_verbose("attached %u of %u probes to %s by %s", choice__sites(&c),
			     plan->n_sites, plan->path, kernel__attach_name(k));
	return err;
}

/* A failure uses the number up: what was filled in for it would speak for the next library. */
int kernel__attach(struct kernel *k, const struct plan *plan, const struct filter *filter,
		   uint8_t *lib)
{
	unsigned int n = __atomic_fetch_add(&k->n_libs, 1, __ATOMIC_RELAXED);
	int err;

	if (n >= WIRE_MAX_LIBS) {
		k->n_libs = WIRE_MAX_LIBS;
		return diag_error_r(-ENOSPC, "cannot attach to %s: too many toolchains at once",
				    plan->path);
	}
	err = attach(k, plan, filter, n);
	/* A deleted library can be reached only as long as its process lives. */
	if ((err == -EPERM || err == -EACCES) && !faccessat(AT_FDCWD, plan->path, R_OK, AT_EACCESS))
		privilege_explain("attach", !k->multi);
	else if (err)
		diag_error("cannot attach to %s: %s", plan->path, strerror(-err));
	if (err) {
		kernel__detach(k, (uint8_t)n);
		return err;
	}
	*lib = (uint8_t)n;
	return 0;
}

int kernel__attach_hits(struct kernel *k, uint8_t lib, const struct plan *plan,
			const struct plan_hits *hits)
{
	struct choice c = {.plan = plan, .lib = lib};
	int err = probes__attach_hits(k->libs[lib], k->progs[WIRE_ROLE_HIT], &c, hits);

	if (err == -EPERM || err == -EACCES)
		privilege_explain("attach", false);
	else if (err)
		diag_error("cannot attach to the cache hits of %s: %s", plan->path, strerror(-err));
	else
		diag_verbose("attached %u more, for cache hits", hits->n);
	return err;
}

void kernel__detach(struct kernel *k, uint8_t lib)
{
	if (!k->multi)
		return;
	probes__free(take_ptr(k->libs[lib]));
	units__free(take_ptr(k->units[lib]));
	k->fixed_sites[lib] = 0;
}

struct units *kernel__units(struct kernel *k, uint8_t lib)
{
	return k->units[lib];
}

uint32_t kernel__sites(const struct kernel *k, uint8_t lib)
{
	return k->fixed_sites[lib] + units__sites(k->units[lib]);
}

void kernel__count_only(struct kernel *k, uint8_t lib, uint32_t query, bool counted)
{
	k->skel->bss->watched[WIRE_WATCHED(lib, query)].counted = counted;
}

/*
 * The clock is read here and not before: a start reads it, then asks whether it is to be counted.
 * One that was not told so yet must have an earlier time, and the fence is for that.
 */
void kernel__lapse(struct kernel *k, uint8_t lib, uint32_t query)
{
	__sync_synchronize();
	k->skel->bss->watched[WIRE_WATCHED(lib, query)].lapsed_ns = clock_ns(CLOCK_MONOTONIC);
}

const char *kernel__attach_name(const struct kernel *k)
{
	return k->multi ? "uprobe_multi" : "perf events";
}

/* Returns once every copy of the pipe's other end is closed: the process that had it is gone. */
static void wait_for_exit(int pipe_end)
{
	char byte;

	while (read(pipe_end, &byte, 1) < 0 && errno == EINTR)
		;
}

/*
 * Somebody may wait for the end of a pipe, or for a lock, that we were started with. What is ours
 * is closed on exec, so the rest is theirs.
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
 * Leave the slow removal of perf events to a child that owns nothing else of ours: no terminal, no
 * pipe that somebody waits on. Whoever closes an event last removes it, so the child waits until
 * we have exited; it ends as soon as the kernel is done.
 */
static void detach_in_background(struct kernel *k)
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
		for (unsigned int i = 0; i < k->n_libs; i++)
			probes__free(k->libs[i]);
		_exit(0);
	}
	/* alive[1] stays open for as long as we live. */
	k->owned_elsewhere = pid > 0;
}

/* All at once: see probes__begin_free(). */
void kernel__begin_free(struct kernel *k)
{
	if (k->skel && k->skel->bss)
		k->skel->bss->enabled = 0;
	for (unsigned int i = 0; i < k->n_libs && k->multi; i++) {
		probes__begin_free(k->libs[i]);
		units__begin_free(k->units[i]);
	}
}

void kernel__free_probes(struct kernel *k)
{
	kernel__begin_free(k);
	if (!k->multi && k->n_libs)
		detach_in_background(k);
	/* Even disabling a perf event waits for its removal: the child's to do, then. */
	for (unsigned int i = 0; i < k->n_libs; i++) {
		if (k->owned_elsewhere)
			probes__abandon(k->libs[i]);
		else
			probes__free(k->libs[i]);
		units__free(k->units[i]);
	}
}
