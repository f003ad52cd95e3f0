// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/session.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/diag.h"
#include "capture/hold.h"
#include "capture/libraries.h"
#include "capture/mappings.h"
#include "capture/processes.h"
#include "plan/find.h"

/* More than the races between a listing and a fork can need. */
#define MAX_PASSES 16

/* A process that has mapped a library which nothing was attached to yet. */
struct arrival {
	pid_t pid;
	char *path;	   /* of the library */
	struct hold *hold; /* NULL: it runs */
	bool loading;	   /* it was held before the library ran any code */
};

static void arrival__clear(struct arrival *a)
{
	hold__free(a->hold);
	free(a->path);
}

struct session {
	struct kernel *kernel;
	struct session_sink sink;
	const struct filter *filter; /* or NULL */
	struct budget *budget;	     /* or NULL */
	struct probe_costs costs;
	pthread_t measurer; /* of the costs: has the kernel half to itself while it runs */
	bool measuring;
	struct libraries *libs;
	struct mappings *mappings; /* NULL: the kernel does not tell */
	struct arrival *arrivals;
	uint32_t n_arrivals;
	uint32_t arrivals_capacity;
	int epoll;	     /* of all that session__drain() takes */
	uint64_t started_ns; /* counting began then; 0 while it is stopped */
	uint32_t late_pid;   /* the last one that was warned of */
};

/* Without it times are what they were measured to be: no reason not to record. */
static void *measure_costs(void *session)
{
	struct session *s = session;
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	int err = probe_costs__measure(s->kernel, &s->costs);

	if (err)
		diag_verbose("cannot measure what a probe costs: %s", strerror(-err));
	else
		diag_verbose("a probe costs %" PRIu64 " ns here, on a stepped instruction %" PRIu64
			     " ns; measured in %" PRIu64 " us",
			     s->costs.emulated.hit_ps / 1000, s->costs.stepped.hit_ps / 1000,
			     (clock_ns(CLOCK_MONOTONIC) - start) / 1000);
	return NULL;
}

/* While a plan is read or made, if one is needed: somebody may wait for its first query. */
static void begin_measuring(struct session *s)
{
	s->measuring = !pthread_create(&s->measurer, NULL, measure_costs, s);
	if (!s->measuring)
		measure_costs(s);
}

/* To be called before anything else is asked of the kernel half. */
static void end_measuring(struct session *s)
{
	if (s->measuring)
		pthread_join(s->measurer, NULL);
	s->measuring = false;
}

static int attach_hits(struct session *s, const struct plan *plan, uint8_t lib)
{
	_plan_hits_ struct plan_hits *hits = NULL;
	int err = plan_hits__find(plan->path, &hits);

	if (err)
		return err;
	if (!hits->n)
		diag_warn("no place was found in %s where a query hits its cache", plan->path);
	if (hits->n_missed)
		diag_warn("%u of the %u places in %s where a query hits its cache cannot be "
			  "probed: hits will be missing",
			  hits->n_missed, hits->n_calls, plan->path);
	return kernel__attach_hits(s->kernel, lib, plan, hits);
}

static int attach(void *session, const struct plan *plan)
{
	struct session *s = session;
	uint8_t lib;
	int err;

	end_measuring(s);
	if (s->budget)
		budget__set_cost(s->budget, s->costs.emulated.hit_ps);
	err = kernel__attach(s->kernel, plan, s->filter, &lib);
	if (!err && s->filter && filter__wants_hits(s->filter))
		err = attach_hits(s, plan, lib);
	if (!err && s->budget)
		err = budget__add_library(s->budget, lib, plan);
	if (err)
		return err;
	return s->sink.library(s->sink.ctx, lib, plan);
}

static int watch_fd(struct session *s, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN};

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

/* Without them a library is looked for beside what is executed, and attached to a little late. */
static int watch_mappings(struct session *s)
{
	int err = mappings__open(&s->mappings);

	if (!err)
		return watch_fd(s, mappings__fd(s->mappings));
	diag_verbose("cannot see what is mapped: %s", strerror(-err));
	return 0;
}

static int watch_all(struct session *s)
{
	int err;

	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	err = s->epoll < 0 ? -errno : watch_fd(s, kernel__ring_fd(s->kernel));
	if (!err)
		err = libraries__new(attach, s, &s->libs);
	if (!err)
		err = watch_fd(s, libraries__fd(s->libs));
	if (!err)
		err = watch_mappings(s);
	return err ? diag_error_r(err, "cannot wait for records: %s", strerror(-err)) : 0;
}

int session__open(const struct kernel_options *opt, const struct session_sink *sink,
		  uint64_t budget_ppm, struct session **out)
{
	_session_ struct session *s = calloc(1, sizeof(*s));
	struct budget_sink told = {sink->ctx, sink->decision, sink->estimated};
	struct kernel_options governed = *opt;
	int err;

	if (!s)
		return diag_error_r(-ENOMEM, "out of memory");
	s->sink = *sink;
	s->filter = opt->filter;
	s->epoll = -1;
	governed.governed = budget_ppm;
	err = kernel__open(&governed, &s->kernel);
	if (!err)
		err = budget__new(s->kernel, budget_ppm, s->filter, &told, &s->budget);
	if (!err)
		err = watch_all(s);
	if (err)
		return err;
	begin_measuring(s);
	*out = take_ptr(s);
	return 0;
}

int session__add_library(struct session *s, const char *path)
{
	return libraries__add(s->libs, path);
}

int session__follow_new(struct session *s, pid_t pid)
{
	int err;

	end_measuring(s);
	err = kernel__follow(s->kernel, pid);
	return err ? diag_error_r(err, "cannot follow process %d: %s", (int)pid, strerror(-err))
		   : 0;
}

static int tell_cwd(struct session *s, pid_t pid)
{
	_free_ char *cwd = s->sink.cwd ? process_cwd(pid) : NULL;

	return cwd ? s->sink.cwd(s->sink.ctx, pid, cwd) : 0;
}

/*
 * Followed first, looked at then: if it executes something meanwhile, the kernel half tells. One
 * that is gone would leave its number behind, for another process to get.
 */
static int adopt(struct session *s, pid_t pid)
{
	char args[WIRE_ARGS_MAX];
	size_t len;
	int err;

	end_measuring(s);
	err = kernel__follow(s->kernel, pid);
	if (err)
		return diag_error_r(err, "cannot follow process %d: %s", (int)pid, strerror(-err));
	if (!process_is_running(pid)) {
		kernel__unfollow(s->kernel, pid);
		return -ESRCH;
	}
	len = process_arguments(pid, args, sizeof(args));
	err = s->sink.running(s->sink.ctx, pid, process_parent(pid), clock_ns(CLOCK_MONOTONIC),
			      args, len);
	return err ? err : tell_cwd(s, pid);
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool starts_with(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

/* Programs that run queries themselves. */
static bool is_compiler(const char *exe)
{
	const char *name = file_name(exe);

	return starts_with(name, "rustc") || starts_with(name, "rustdoc") ||
	       starts_with(name, "clippy-driver") || starts_with(name, "miri");
}

bool is_toolchain_program(const char *exe)
{
	return is_compiler(exe) || starts_with(file_name(exe), "cargo");
}

/*
 * The library beside an executable of a toolchain. Others live in /usr/bin too, next to a
 * librustc_driver that is none of their business.
 */
static int library_beside(const char *exe, char **path)
{
	if (!is_toolchain_program(exe))
		return -ENOENT;
	return plan_find__of_exe(exe, path);
}

/* The library a process uses or, for cargo and the like, the one beside its executable. */
static int library_of(pid_t pid, char **path, bool *compiler)
{
	_free_ char *exe = NULL;
	int err = plan_find__of_pid(pid, path);

	*compiler = !err;
	if (err != -ENOENT)
		return err;
	exe = process_executable(pid);
	return exe ? library_beside(exe, path) : -ENOENT;
}

/*
 * Only what was asked for by its number must be attached to. One that runs among others is told
 * of, and the others are recorded.
 */
static int follow_one(struct session *s, pid_t pid, bool asked_for, bool *compiler)
{
	_free_ char *path = NULL;
	int err = library_of(pid, &path, compiler);

	if (err == -EACCES)
		return diag_error_r(err,
				    "cannot look into process %d: it belongs to somebody else; "
				    "run with sudo",
				    (int)pid);
	if (err == -EPERM)
		return diag_error_r(err,
				    "the compiler of process %d was deleted meanwhile, and to read "
				    "it still takes CAP_CHECKPOINT_RESTORE; run with sudo",
				    (int)pid);
	if (err == -ESRCH)
		return err;
	err = path ? session__add_library(s, path) : 0;
	if (err && asked_for && *compiler)
		return err;
	if (err)
		diag_warn("going on without the compiler of process %d", (int)pid);
	return adopt(s, pid);
}

/*
 * One pass over the tree; what is followed already is passed over. A compiler's own running
 * children (a linker) run no queries.
 */
static int follow_tree(struct session *s, pid_t root, unsigned int *compilers, bool *more)
{
	struct process_list list;
	bool compiler = false;
	int err = process_list__descendants(root, &list);

	*more = false;
	for (size_t i = 0; i < list.n && !err; i++) {
		pid_t pid = list.pids[i];

		/* The shell we were started from may be what is followed: we are not, nor who
		 * measures. */
		if (pid == getpid() || kernel__follows(s->kernel, pid) ||
		    (s->measuring && pid != root && process_parent(pid) == getpid()))
			continue;
		err = follow_one(s, pid, pid == root, &compiler);
		if (err == -ESRCH && pid != root) {
			/* Gone, or exited and not waited for: it stays in every list. */
			err = 0;
			continue;
		}
		if (err)
			break;
		*compilers += compiler;
		if (pid == root && compiler)
			break;
		*more = true;
	}
	process_list__clear(&list);
	return err;
}

/*
 * A child forked after the list was made and before its parent was followed is in the next list;
 * one forked later is followed by the kernel half.
 */
int session__follow_running(struct session *s, pid_t pid, unsigned int *compilers)
{
	bool more = true;
	int err = 0;

	for (int pass = 0; pass < MAX_PASSES && more && !err; pass++)
		err = follow_tree(s, pid, compilers, &more);
	return err;
}

const struct probe_costs *session__costs(struct session *s)
{
	end_measuring(s);
	return &s->costs;
}

unsigned int session__libraries(const struct session *s)
{
	return libraries__attached(s->libs);
}

/*
 * A compiler is only caught while its loader works if we run at once, and on a busy machine we
 * would not. Without CAP_SYS_NICE it stays as it is.
 */
static void hurry(void)
{
	setpriority(PRIO_PROCESS, 0, -10);
}

void session__start(struct session *s)
{
	end_measuring(s);
	hurry();
	kernel__enable(s->kernel, true);
	s->started_ns = clock_ns(CLOCK_MONOTONIC);
}

static int tell_late(struct session *s, pid_t pid, const char *path)
{
	/* rustup's rustc executes the toolchain's: one compiler to a person, two execs here. */
	if (s->late_pid != (uint32_t)pid)
		diag_warn("process %d had begun before the probes of %s were there; its first "
			  "queries may be missing",
			  (int)pid, path);
	s->late_pid = (uint32_t)pid;
	return s->sink.late(s->sink.ctx, pid);
}

/* Where mappings are not told, a compiler may reach its first query before its library is attached
 * to. */
static int attach_beside(struct session *s, const struct wire_exec *e, const char *exe,
			 const char *path)
{
	struct library_state lib;

	if (libraries__add(s->libs, path) || libraries__look(s->libs, path, &lib) ||
	    !is_compiler(exe))
		return 0;
	if (e->time_ns > lib.attached_ns && e->time_ns > s->started_ns)
		return 0;
	return tell_late(s, (pid_t)e->pid, path);
}

/* A toolchain is planned as soon as cargo or rustup's stand-in runs: they start a compiler later.
 */
static int on_exec(struct session *s, const struct wire_exec *e)
{
	_free_ char *exe = process_executable((pid_t)e->pid);
	_free_ char *path = NULL;

	if (!exe || library_beside(exe, &path))
		return 0;
	if (!s->mappings)
		return attach_beside(s, e, exe, path);
	if (!is_compiler(exe))
		libraries__expect(s->libs, path);
	return 0;
}

static bool has_arrived(const struct session *s, pid_t pid)
{
	for (uint32_t i = 0; i < s->n_arrivals; i++)
		if (s->arrivals[i].pid == pid)
			return true;
	return false;
}

/*
 * A process has mapped a library. One that nothing was attached to by then waits until something
 * is, before it has run any of the library's code. Quick: the next one may be about to run.
 */
static int on_mapping(void *session, pid_t pid, uint64_t time_ns)
{
	struct session *s = session;
	struct arrival a = {.pid = pid};
	struct library_state lib;

	if (!kernel__follows(s->kernel, pid) || has_arrived(s, pid) ||
	    plan_find__of_pid(pid, &a.path))
		return 0;
	if (!libraries__look(s->libs, a.path, &lib) && lib.planned &&
	    (lib.err || (lib.attached_ns < time_ns && s->started_ns < time_ns))) {
		arrival__clear(&a);
		return 0;
	}
	if (array__reserve_one(&s->arrivals, s->n_arrivals, &s->arrivals_capacity, sizeof(a))) {
		arrival__clear(&a);
		return -ENOMEM;
	}
	if (!hold__begin(pid, &a.hold))
		a.loading = hold__is_loading(a.hold);
	s->arrivals[s->n_arrivals++] = a;
	return 0;
}

/* Let those run on whose library is attached to by now, or never will be. */
static int release_arrivals(struct session *s)
{
	uint32_t kept = 0;
	int err = 0;

	for (uint32_t i = 0; i < s->n_arrivals; i++) {
		struct arrival *a = &s->arrivals[i];
		struct library_state lib = {.planned = true, .err = -ENOENT};

		libraries__expect(s->libs, a->path);
		libraries__look(s->libs, a->path, &lib);
		if (!lib.planned) {
			s->arrivals[kept++] = *a;
			continue;
		}
		if (!err && !lib.err && !a->loading)
			err = tell_late(s, a->pid, a->path);
		arrival__clear(a);
	}
	s->n_arrivals = kept;
	return err;
}

/* What is not asked for costs its probe from now on, but no record. */
static int hide_label(struct session *s, const struct wire_label *r)
{
	if (!s->filter || filter__passes_told(s->filter, &r->key))
		return 0;
	return kernel__hide_label(s->kernel, r);
}

/* The record first: what is found out about it refers to it. */
static int on_record(void *ctx, const void *record, size_t size)
{
	struct session *s = ctx;
	const struct wire_exec *e = record;
	const struct wire_label *label = record;
	int err = s->sink.record(s->sink.ctx, record, size);

	if (!err && s->budget)
		err = budget__record(s->budget, record, size);
	if (err || !size)
		return err;
	if (size == sizeof(*label) && label->type == WIRE_LABEL)
		return hide_label(s, label);
	if (size != sizeof(*e) || e->type != WIRE_EXEC)
		return 0;
	err = tell_cwd(s, (pid_t)e->pid);
	return err ? err : on_exec(s, e);
}

/*
 * Mappings first: what is told of such a process refers to the record of its exec, which is in the
 * ring by then.
 */
int session__drain(struct session *s)
{
	int err = s->mappings ? mappings__read(s->mappings, on_mapping, s) : 0;

	if (!err)
		err = kernel__drain(s->kernel, on_record, s);
	libraries__settle(s->libs);
	return err ?: release_arrivals(s);
}

int session__tick(struct session *s)
{
	return s->budget ? budget__tick(s->budget, clock_ns(CLOCK_MONOTONIC)) : 0;
}

int session__stop(struct session *s)
{
	int err;

	if (!s->started_ns)
		return session__drain(s);
	kernel__enable(s->kernel, false);
	s->started_ns = 0;
	err = kernel__flush_open(s->kernel);
	if (err)
		diag_warn("cannot tell which queries still run: %s", strerror(-err));
	err = session__drain(s);
	return !err && s->budget ? budget__finish(s->budget) : err;
}

int session__fd(const struct session *s)
{
	return s->epoll;
}

int session__counters(const struct session *s, uint64_t counters[WIRE_COUNTER_MAX])
{
	return kernel__counters(s->kernel, counters);
}

bool session__follows(const struct session *s, pid_t pid)
{
	return kernel__follows(s->kernel, pid);
}

bool session__follows_any(const struct session *s)
{
	return kernel__follows_any(s->kernel);
}

const char *session__attach_name(const struct session *s)
{
	return kernel__attach_name(s->kernel);
}

void session__free(struct session *s)
{
	if (!s)
		return;
	end_measuring(s);
	for (uint32_t i = 0; i < s->n_arrivals; i++)
		arrival__clear(&s->arrivals[i]);
	free(s->arrivals);
	mappings__free(s->mappings);
	budget__free(s->budget);
	kernel__free(s->kernel);
	libraries__free(s->libs);
	cleanup_close_p(&s->epoll);
	free(s);
}
