// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/session.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/epoll.h"
#include "base/invoker.h"
#include "capture/kernel_attach.h"
#include "capture/outside.h"
#include "capture/perf_refusal.h"
#include "capture/running.h"
#include "capture/running_names.h"
#include "capture/sampling.h"
#include "capture/tick_cost.h"

struct session {
	struct outside *outside; /* in place of all of the kernel's; or NULL */
	struct kernel *kernel;
	struct session_sink sink;
	const struct filter *filter; /* or NULL */
	struct probe_costs costs;
	pthread_t measurer; /* measures `costs`; meanwhile other threads may only attach */
	bool measuring;
	struct libraries *libs;
	struct mappings *mappings; /* NULL: the kernel reports no mappings, ... */
	int no_mappings;	   /* ... for this reason, a negative errno */
	struct arrivals *arrivals;
	struct broker *broker;	     /* reads processes, as a read may block */
	struct running_names *names; /* NULL: without keys */
	struct sampling *sampling;   /* NULL: without samples */
	int wake_fd;		     /* an eventfd that ptrace stops write to */
	bool samples_are_implied;    /* nobody asked for them */
	bool following;		     /* a process; older mapping records are dropped */
	bool warned_no_hide;	     /* a line has reported that a label cannot be hidden */
	struct scope *scope;	     /* compilers of it are followed as they start; or NULL */
	int epoll;		     /* of all descriptors that session__drain() reads */
	int nice;		     /* ours, before session__open() changes it */
	uint64_t started_ns;	     /* counting began then; 0 while it is stopped */
	uint64_t begun_ns;	     /* no record is older */
	uint64_t exec_ns;	     /* the last of a followed process */
	uint32_t breakpoints;	     /* in each compiler; ... */
	uint64_t breakpoint_ns;	     /* ... 0 until it is measured */
	uint64_t tick_ns;	     /* likewise */
};

/* On failure the times stay uncorrected, which is no reason not to record. */
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

/* To be called before any call of the kernel half other than kernel__attach(). */
static void end_measuring(struct session *s)
{
	if (s->measuring)
		pthread_join(s->measurer, NULL);
	s->measuring = false;
}

static int attach_hits(struct session *s, const struct plan *plan, uint8_t lib)
{
	const struct plan_hits *hits = plan->hits;

	if (!hits->n)
		diag_warn("no place was found in %s where a query hits its cache", plan->path);
	if (hits->n_missed)
		diag_warn("%u of the %u places in %s where a query hits its cache cannot be "
			  "probed: hits will be missing",
			  hits->n_missed, hits->n_calls, plan->path);
	if (hits->n_unproven)
		diag_warn(
			"%u of the %u places in %s where a query hits its cache are not proven to "
			"be instructions: hits will be missing",
			hits->n_unproven, hits->n + hits->n_unproven, plan->path);
	return attachments__attach_hits(kernel__attachments(s->kernel), lib, plan, hits);
}

/* Why the kernel refuses perf events. Returns how to change that, or NULL. */
static const char *find_refusal(int err, char why[PERF_REFUSAL_MAX])
{
	struct perf_refusal r;

	perf_refusal__find(err, &r);
	perf_refusal__why(&r, why, PERF_REFUSAL_MAX);
	return perf_refusal__fix(&r);
}

/* A line for a session that takes samples by default, where it cannot. */
static const char *without_samples(const struct session *s)
{
	return filter__passes_all_queries(s->filter)
		       ? "it is not known which functions LLVM compiles"
		       : "queries have counts, but no times; --exact records each execution";
}

/*
 * The costs of a breakpoint and of a tick are measured at the end, as a command and its compilers
 * would wait for it. But builds of all processes end before the recording does.
 */
static bool measures_early(const struct session *s)
{
	return s->scope;
}

static void measure_breakpoints(struct session *s)
{
	uint64_t ns;

	attachments__breakpoints(kernel__attachments(s->kernel), &s->breakpoints, &ns);
	s->breakpoint_ns = ns ?: s->breakpoint_ns;
}

/* Else measuring would take longer than they did: overhead.c has a usual cost. */
#define MANY_TICKS 150

/* For unwind tables of a toolchain that is met for the first time; later ones are stored. */
#define TABLES_NS 2000000000

static bool has_many_ticks(const struct session *s)
{
	uint64_t counters[WIRE_COUNTER_MAX];

	return !kernel__counters(s->kernel, counters) && counters[WIRE_COUNT_TICKS] >= MANY_TICKS;
}

static void measure_tick(struct session *s)
{
	s->tick_ns = s->tick_ns ?: tick_cost_ns();
}

/*
 * The measuring thread goes on meanwhile: both wait for the same grace period of the kernel when
 * they write the first breakpoints. No process of this library is followed while costs are
 * measured.
 */
static int attach(void *session, const struct plan *plan, bool foreign, uint8_t *number)
{
	struct session *s = session;
	_free_ bool *queries = calloc(plan->n_queries + 1UL, sizeof(*queries));
	_free_ bool *guards = calloc(plan->n_guards + 1UL, sizeof(*guards));
	struct attach_set set = {.plan = plan, .filter = s->filter, .guards = guards};
	uint8_t lib;
	int err = kernel__attach_always(s->kernel, plan, s->filter, foreign, &lib);

	if (err)
		return err;
	*number = lib;
	if (s->names)
		running_names__set_library(s->names, lib, plan);
	if (plan->hits)
		err = attach_hits(s, plan, lib);
	sampling__library(s->sampling, lib, plan->file);
	if (!err && (!queries || !guards))
		err = -ENOMEM;
	for (uint32_t i = 0; i < plan->n_queries && !err; i++)
		queries[i] = filter__passes(s->filter, FILTER_QUERY, plan->queries[i].name);
	if (!err) {
		attach_set__find_guards(&set);
		err = session_sink__take(&s->sink,
					 &(struct record){.kind = RECORD_LIBRARY,
							  .lib = lib,
							  .pid = RECORD_NO_PID,
							  .library = {plan, queries, guards}});
	}
	if (!err && measures_early(s) && !s->breakpoint_ns)
		measure_breakpoints(s);
	return err;
}

static int attach_part(void *session, uint8_t lib, const struct plan *plan, enum plan_part part)
{
	struct session *s = session;

	return attachments__attach_part(kernel__attachments(s->kernel), lib, plan, part);
}

static void detach(void *session, uint8_t lib)
{
	struct session *s = session;

	attachments__begin_detach(kernel__attachments(s->kernel), lib);
}

static void release(void *session, uint8_t lib)
{
	struct session *s = session;

	sampling__library(s->sampling, lib, NULL);
	attachments__release(kernel__attachments(s->kernel), lib);
}

static bool follows(void *session, pid_t pid)
{
	struct session *s = session;

	return kernel__follows(s->kernel, pid);
}

static uint64_t inode(void *session, int fd)
{
	struct session *s = session;

	return kernel__inode_of(s->kernel, fd);
}

static void on_code_mapped(void *session, pid_t pid)
{
	struct session *s = session;

	sampling__mapped(s->sampling, pid);
}

/*
 * Without mapping records, a library is only searched for beside an executable with a compiler's
 * name, and is attached to a little late.
 */
static int watch_mappings(struct session *s)
{
	int err = mappings__open(s->broker, &s->mappings), refused;
	char why[PERF_REFUSAL_MAX];
	const char *fix;

	if (err) {
		s->no_mappings = err;
		diag_warn("cannot see which programs start: %s; a compiler that is not called "
			  "rustc, rustdoc, clippy-driver or miri will be missing",
			  strerror(-err));
		return 0;
	}
	if (s->sampling)
		mappings__set_other(s->mappings, on_code_mapped, s);
	refused = mappings__refused(s->mappings);
	if (refused) {
		fix = find_refusal(refused, why);
		diag_info("%s. New programs are looked at in /proc instead: the first queries of a "
			  "compiler may be missing%s%s",
			  why, fix ? ". To change that: " : "", fix ?: "");
	}
	return epoll_watch(s->epoll, mappings__fd(s->mappings));
}

static int each_user(void *session, libraries_user_fn fn, void *arg)
{
	struct session *s = session;

	return arrivals__each_user(s->arrivals, fn, arg);
}

static int drain_ring(void *session);

static int watch_all(struct session *s, uint32_t parts_expected)
{
	const struct libraries_ops ops = {
		.attach = attach,
		.attach_part = attach_part,
		.detach = detach,
		.release = release,
		.each_user = each_user,
		.follows = follows,
		.inode = inode,
		.hits = filter__wants_hits(s->filter),
		.parts = attachments__has_parts(kernel__attachments(s->kernel))
				 ? parts_expected
				 : PLAN_PARTS_OPTIONAL,
	};
	struct arrivals_parts parts = {
		.kernel = s->kernel,
		.broker = s->broker,
		.wake_fd = s->wake_fd,
		.drain = drain_ring,
		.drain_ctx = s,
	};
	int err;

	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	err = s->epoll < 0 ? -errno : libraries__new(&ops, s, s->nice, &s->libs);
	if (err)
		return err;
	err = epoll_watch(s->epoll, kernel__ring_fd(s->kernel))
		      ?: epoll_watch(s->epoll, libraries__fd(s->libs))
		      ?: epoll_watch(s->epoll, s->wake_fd) ?: watch_mappings(s);
	if (!err && s->sampling)
		err = epoll_watch(s->epoll, sampling__fd(s->sampling));
	if (err)
		return err;
	parts.libs = s->libs;
	parts.mappings = s->mappings;
	parts.sampling = s->sampling;
	return arrivals__new(&parts, &s->sink, &s->arrivals);
}

#define HURRIED_NICE (-10)

static int open_sampling(struct session *s, const struct kernel_options *opt)
{
	int err = kernel__unsampled(s->kernel);
	struct kernel_samples k;
	/* In these ways the kernel refuses a program that it cannot run; others are limits. */
	bool is_kernel = err == -EACCES || err == -EINVAL || err == -ENOENT || err == -ESRCH ||
			 err == -EOPNOTSUPP || err == -ENOTSUP;

	if (is_kernel)
		diag_info("this kernel cannot run the programs that take samples: %s",
			  without_samples(s));
	else if (err)
		diag_info("the programs that take samples cannot be loaded: %s%s. Without "
			  "samples, %s",
			  strerror(-err), diag_step(err, ""), without_samples(s));
	if (!kernel__samples(s->kernel, &k))
		return 0;
	return sampling__open(&opt->sampling, &k, s->broker, &s->sink, s->nice, &s->sampling);
}

int session__open(const struct kernel_options *opt, const struct session_sink *sink,
		  struct session **out)
{
	_session_ struct session *s = calloc(1, sizeof(*s));
	struct rlimit lim;
	int err;

	if (!s)
		return diag_error_r(-ENOMEM, "out of memory");
	s->sink = *sink;
	s->filter = opt->filter;
	s->samples_are_implied = opt->sampling.implied;
	s->nice = getpriority(PRIO_PROCESS, 0);
	s->epoll = -1;
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = s->wake_fd < 0 ? -errno : 0;
	/*
	 * A compiler must be stopped while its loader works, so we must run at once, also on a busy
	 * machine. Without CAP_SYS_NICE the niceness stays as it is.
	 */
	if (getpriority(PRIO_PROCESS, 0) > HURRIED_NICE)
		setpriority(PRIO_PROCESS, 0, HURRIED_NICE);
	/* Each process that waits takes descriptors, and each library; usual are 1,024. */
	if (!getrlimit(RLIMIT_NOFILE, &lim)) {
		lim.rlim_cur = lim.rlim_max;
		setrlimit(RLIMIT_NOFILE, &lim);
	}
	err = err ?: broker__new(&s->broker);
	if (err)
		return diag_error_r(err, "cannot look at processes: %s%s", strerror(-err),
				    diag_step(err, ""));
	if (opt->outside) {
		err = outside__new(s->broker, sink, s->nice, &s->outside);
		if (err)
			return diag_error_r(err, "cannot look at processes: %s%s", strerror(-err),
					    err == -EPERM
						    ? "; compilers are read from outside without "
						      "root's rights: run it without sudo"
						    : "");
		*out = take_ptr(s);
		return 0;
	}
	err = kernel__open(opt, &s->kernel) ?: open_sampling(s, opt);
	if (err)
		return err;
	/* Without a probe, a context that was dropped looks as before. */
	if (opt->keys && !opt->only_open && !filter__is_empty(opt->filter))
		err = running_names__new(s->kernel, s->broker, &s->names);
	err = err ?: watch_all(s, opt->parts);
	if (err)
		return diag_error_r(err, "cannot wait for records: %s%s", strerror(-err),
				    diag_step(err, ""));
	/* Activities alone have few hits: the time to measure would be more than theirs. */
	if (!opt->only_open && filter__may_probe_queries(opt->filter)) {
		/* In a thread, as a plan may be made meanwhile, and a command waits for both. */
		s->measuring = !pthread_create(&s->measurer, NULL, measure_costs, s);
		if (!s->measuring)
			measure_costs(s);
	}
	*out = take_ptr(s);
	return 0;
}

int session__add_library(struct session *s, const char *path)
{
	_library_file_ struct library_file *file = NULL;
	_toolchain_files_ struct toolchain_files foreseen = {0};
	_invoker_ struct invoker inv = {0};
	int err = invoker__get(&inv) ?: invoker__take_file_rights(&inv);

	if (err)
		return diag_error_r(err, "cannot open %s: %s%s", path, strerror(-err),
				    diag_step(err, ""));
	err = library_file__open(path, &file);
	if (!err && s->sampling) {
		toolchain_files__add_own(&foreseen);
		toolchain_files__add_toolchain(&foreseen, path);
	}
	invoker__return_file_rights(&inv);
	if (s->outside)
		return err ?: outside__add_library(s->outside, file);
	/* Tables of a new toolchain are made while its plan is. */
	err = err ?: sampling__foresee(s->sampling, &foreseen) ?: libraries__add(s->libs, file, 0);
	if (!err)
		sampling__await_foreseen(s->sampling, TABLES_NS);
	return err;
}

/* Mappings from before the first followed process are of no use. */
static void begin_following(struct session *s)
{
	if (s->mappings && !s->following)
		mappings__forget(s->mappings);
	s->following = true;
}

int session__follow_new(struct session *s, pid_t pid)
{
	if (s->outside)
		return outside__follow(s->outside, pid, false, &(unsigned int){0});
	int err;

	begin_following(s);
	end_measuring(s);
	err = kernel__follow(s->kernel, pid);
	return err ? diag_error_r(err, "cannot follow process %d: %s", (int)pid, strerror(-err))
		   : 0;
}

static void before_follow(void *session)
{
	end_measuring(session);
}

static struct running running_of(struct session *s)
{
	return (struct running){s->kernel,   s->libs,	  s->broker,	 &s->sink,
				s->arrivals, s->sampling, before_follow, s};
}

int session__follow_running(struct session *s, pid_t pid, unsigned int *compilers)
{
	if (s->outside)
		return outside__follow(s->outside, pid, true, compilers);
	const struct running r = running_of(s);

	begin_following(s);
	return running__follow(&r, pid, compilers);
}

int session__follow_all(struct session *s, const char *cgroup, unsigned int *compilers)
{
	struct running r = running_of(s);
	int err = scope__new(cgroup, &s->scope);

	*compilers = 0;
	if (err == -EINVAL)
		return diag_error_r(err,
				    "%s is no control group of version 2; see those below "
				    "/sys/fs/cgroup",
				    cgroup);
	if (err)
		return diag_error_r(err, "cannot look at %s: %s", cgroup ? cgroup : "processes",
				    strerror(-err));
	if (!s->mappings)
		return diag_error_r(s->no_mappings,
				    "cannot see which programs start: %s; see \"qprof-bpf doctor\"",
				    strerror(-s->no_mappings));
	arrivals__set_scope(s->arrivals, s->scope);
	begin_following(s);
	return running__follow_all(&r, s->scope, compilers);
}

const struct probe_costs *session__costs(struct session *s)
{
	end_measuring(s);
	return &s->costs;
}

unsigned int session__libraries(const struct session *s)
{
	if (s->outside)
		return outside__libraries(s->outside);
	return libraries__attached(s->libs);
}

static int explain_no_samples(const struct session *s, int err)
{
	char why[PERF_REFUSAL_MAX];
	const char *fix;

	/* An earlier line says that the kernel does not report waits. */
	if (err == -ENODATA && !filter__is_empty(s->filter))
		return 0;
	if (err == -ENODATA)
		return diag_error_r(err, "nothing is left to record: leave out -e none");
	fix = find_refusal(err, why);
	if (filter__is_empty(s->filter))
		return diag_error_r(err, "no samples can be taken, and there are no probes: %s%s%s",
				    why, fix ? ". To change that: " : "; leave out -e none",
				    fix ?: "");
	if (s->samples_are_implied)
		diag_info("%s. Without samples, %s%s%s", why, without_samples(s),
			  fix ? ". To change that: " : "", fix ?: "");
	else
		diag_warn("no samples are taken: %s%s%s", why, fix ? ". To change that: " : "",
			  fix ?: "");
	return 0;
}

int session__start(struct session *s)
{
	if (s->outside) {
		s->begun_ns = clock_ns(CLOCK_MONOTONIC);
		return outside__start(s->outside);
	}
	int err;

	end_measuring(s);
	if (s->sampling && measures_early(s))
		measure_tick(s);
	err = s->sampling ? sampling__start(s->sampling) : 0;
	if (err && explain_no_samples(s, err))
		return err;
	s->begun_ns = clock_ns(CLOCK_MONOTONIC);
	kernel__begin_recording(s->kernel);
	s->started_ns = clock_ns(CLOCK_MONOTONIC);
	arrivals__set_started(s->arrivals, s->started_ns);
	return 0;
}

/* Intervals of this label are not wanted: from now on they cost their probe, but no record. */
static void hide_label(struct session *s, const struct wire_label *r)
{
	int err;

	if (filter__passes_dynamic(s->filter, &r->key))
		return;
	err = kernel__hide_label(s->kernel, r);
	/* The kernel's table is full: the intervals are still left out here. */
	if (err && !s->warned_no_hide)
		diag_warn("labels that are not asked for cost as much as others from here on: %s",
			  strerror(-err));
	s->warned_no_hide = s->warned_no_hide || err;
}

/* Pass on the record first: later calls refer to it. */
static int on_record(void *ctx, const struct record *r)
{
	struct session *s = ctx;
	int err = r->kind == WIRE_EXEC ? session_sink__exec(&s->sink, s->broker, r->exec)
				       : session_sink__take(&s->sink, r);

	err = err ?: sampling__take(s->sampling, r);
	if (err)
		return err;
	if (r->kind == WIRE_LABEL)
		hide_label(s, r->label);
	if (r->kind != WIRE_EXEC)
		return 0;
	s->exec_ns = r->exec->time_ns;
	err = session_sink__cwd(&s->sink, (pid_t)r->pid);
	return err ?: arrivals__on_exec(s->arrivals, r->exec);
}

static int drain_ring(void *session)
{
	struct session *s = session;

	return kernel__drain(s->kernel, on_record, s);
}

/* Drain mappings first: the exec record of a process that waits may still be in the ring. */
int session__drain(struct session *s)
{
	if (s->outside)
		return outside__take(s->outside);
	int err = arrivals__take(s->arrivals) ?: drain_ring(s);

	libraries__settle(s->libs);
	return err ?: sampling__settle(s->sampling) ?: arrivals__release(s->arrivals);
}

/* The ring may still hold the exec of a process that waits. */
int session__suspend(struct session *s)
{
	if (s->outside)
		return 0;
	int err = arrivals__n(s->arrivals) ? session__drain(s) : 0;

	return err ?: arrivals__let_all_go(s->arrivals);
}

int session__show_open(struct session *s, const uint32_t *tids, size_t n)
{
	if (s->outside)
		return 0;
	return kernel__show_open(s->kernel, tids, n);
}

uint64_t session__begun_ns(const struct session *s)
{
	return s->begun_ns;
}

int session__put_begun(struct session *s, pid_t tid, uint64_t start_ns,
		       const struct wire_begun *begun, uint32_t n)
{
	return kernel__put_begun(s->kernel, tid, start_ns, begun, n);
}

int session__count(struct session *s)
{
	int err = 0;

	if (!s->names)
		return 0;
	if (running_names__begin_round(s->names))
		err = session__drain(s);
	return err ?: running_names__count(s->names, on_record, s);
}

int session__name(struct session *s, pid_t pid, const char *crate, uint64_t key, char **out)
{
	if (!s->names || wire_key_crate(key) != WIRE_KEY_LOCAL_CRATE)
		return -ENOENT;
	return running_names__path(s->names, pid, crate, (uint32_t)key, out);
}

int session__stop(struct session *s)
{
	if (s->outside)
		return outside__stop(s->outside);
	int err;

	if (!s->started_ns)
		return session__drain(s);
	/* A process that waits for probes must not wait for the end of attaching. */
	arrivals__end(s->arrivals, false);
	/*
	 * The compilers that still run keep their names for as long as contexts are watched.
	 * Drained first, as records of processes come before what is about them.
	 */
	err = s->names ? session__drain(s) : -ENOENT;
	if (!err)
		err = running_names__copy(s->names, on_record, s);
	if (err && err != -ENOENT)
		diag_warn("cannot read the names of compilers that still run: %s", strerror(-err));
	attachments__stop(kernel__attachments(s->kernel));
	sampling__stop(s->sampling);
	kernel__enable(s->kernel, false);
	s->started_ns = 0;
	arrivals__set_started(s->arrivals, 0);
	err = kernel__flush_open(s->kernel);
	if (err)
		diag_warn("cannot read which queries still run: %s", strerror(-err));
	err = session__drain(s);
	/* The last drain may have added processes that wait. */
	arrivals__end(s->arrivals, true);
	arrivals__report(s->arrivals);
	measure_breakpoints(s);
	if (s->sampling && has_many_ticks(s))
		measure_tick(s);
	return err;
}

int session__fd(const struct session *s)
{
	if (s->outside)
		return outside__fd(s->outside);
	return s->epoll;
}

/*
 * A loader maps ten libraries within some ms, of any program on the machine, and each of these
 * would wake us. A compiler must be stopped within its loader, so the pause is short for some time
 * after an exec of a followed process, and that ends a longer one. Where machines have so much to
 * do that a mapping comes later, a loader takes longer, too. Any process may be a compiler of the
 * whole machine, or of a compile server.
 */
#define REST_MS	     10
#define REST_NEAR_MS 1
#define NEAR_NS	     UINT64_C(30000000)

void session__rest(const struct session *s, int other)
{
	if (s->outside)
		return;
	bool near = s->scope || arrivals__have_clients(s->arrivals) ||
		    clock_ns(CLOCK_MONOTONIC) < s->exec_ns + NEAR_NS;
	struct pollfd fds[] = {
		{.fd = other, .events = POLLIN},
		{.fd = kernel__ring_fd(s->kernel), .events = POLLIN},
	};

	if (!session__waiting(s))
		poll(fds, near ? 1 : N_OF(fds), near ? REST_NEAR_MS : REST_MS);
}

int session__counters(const struct session *s, uint64_t counters[WIRE_COUNTER_MAX])
{
	if (s->outside) {
		memset(counters, 0, WIRE_COUNTER_MAX * sizeof(*counters));
		counters[WIRE_LOST_COMPILERS] = outside__missing(s->outside);
		return 0;
	}
	int err = kernel__counters(s->kernel, counters);

	if (s->mappings)
		counters[WIRE_LOST_MAPPINGS] = mappings__lost(s->mappings);
	counters[WIRE_LOST_COMPILERS] =
		arrivals__missing(s->arrivals) + libraries__cut_off(s->libs);
	sampling__count(s->sampling, counters);
	return err;
}

void session__cost(const struct session *s, struct session_cost *out)
{
	*out = (struct session_cost){
		.breakpoints = s->breakpoints,
		.breakpoint_ns = s->breakpoint_ns,
		.helpers_ns = broker__cpu_ns(s->broker),
		.tick_ns = s->tick_ns,
	};
	if (s->outside) {
		out->seen_ns = outside__cpu_ns(s->outside);
		return;
	}
	/* More may be attached by now. */
	if (s->started_ns)
		attachments__breakpoints(kernel__attachments(s->kernel), &out->breakpoints, NULL);
	out->waited_ns = arrivals__waited_ns(s->arrivals, &out->n_waited);
}

uint32_t session__waiting(const struct session *s)
{
	if (s->outside)
		return 0;
	return arrivals__n(s->arrivals);
}

bool session__follows_any(struct session *s)
{
	if (s->outside)
		return outside__follows_any(s->outside);
	end_measuring(s);
	return kernel__follows_any(s->kernel);
}

void session__report_outsiders(const struct session *s)
{
	if (s->outside)
		return;
	arrivals__report_outsiders(s->arrivals);
}

void session__leave(struct session *s)
{
	if (s->outside)
		return;
	kernel__leave(s->kernel, session__follows_any(s));
}

void session__free(struct session *s)
{
	if (!s)
		return;
	end_measuring(s);
	outside__free(s->outside);
	arrivals__free(s->arrivals);
	sampling__free(s->sampling);
	scope__free(s->scope);
	mappings__free(s->mappings);
	kernel__free(s->kernel);
	libraries__free(s->libs);
	running_names__free(s->names);
	broker__free(s->broker);
	cleanup_close_p(&s->epoll);
	cleanup_close_p(&s->wake_fd);
	free(s);
}
