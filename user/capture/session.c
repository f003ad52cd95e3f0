// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/session.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/diag.h"
#include "capture/session_state.h"

/* Without it times are what they were measured to be: no reason not to record. */
static void *measure_costs(void *session)
{
	struct session *s = session;
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	int err = probe_costs__measure(s->kernel, &s->costs);

	if (err && s->budget)
		diag_warn(
			"the budget is not kept, all is recorded: what a probe costs could not be "
			"measured: %s",
			strerror(-err));
	else if (err)
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

void session__end_measuring(struct session *s)
{
	if (s->measuring)
		pthread_join(s->measurer, NULL);
	s->measuring = false;
	if (s->budget)
		budget__set_cost(s->budget, s->costs.emulated.hit_ps);
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

	/*
	 * Who measures is not waited for: to write the first breakpoints takes a grace period of
	 * the kernel, which both wait for at once. Nobody of the library is followed yet, or
	 * nothing is measured any more. What a budget leaves depends on what is measured.
	 */
	if (s->governed)
		session__end_measuring(s);
	err = kernel__attach(s->kernel, plan, s->filter, &lib);
	if (err)
		return err;
	if (s->filter && filter__wants_hits(s->filter))
		err = attach_hits(s, plan, lib);
	if (!err)
		err = s->sink.library(s->sink.ctx, lib, plan);
	/* Last: it holds on to what is detached on an error. */
	if (!err && s->budget)
		err = budget__add_library(s->budget, lib, plan);
	if (err)
		kernel__detach(s->kernel, lib);
	return err;
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
		err = libraries__new(attach, s, s->nice, &s->libs);
	if (!err)
		err = watch_fd(s, libraries__fd(s->libs));
	if (!err)
		err = watch_mappings(s);
	return err ? diag_error_r(err, "cannot wait for records: %s", strerror(-err)) : 0;
}

#define HURRIED_NICE (-10)

/*
 * A compiler is only caught while its loader works if we run at once, and on a busy machine we
 * would not; who is to be attached to runs on while we set up. Without CAP_SYS_NICE it stays as it
 * is.
 */
static void hurry(void)
{
	if (getpriority(PRIO_PROCESS, 0) > HURRIED_NICE)
		setpriority(PRIO_PROCESS, 0, HURRIED_NICE);
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
	s->nice = getpriority(PRIO_PROCESS, 0);
	s->epoll = -1;
	s->governed = governed.governed = budget_ppm;
	hurry();
	err = kernel__open(&governed, &s->kernel);
	if (!err)
		err = budget__new(s->kernel, budget_ppm, s->filter, &told, &s->budget);
	if (!err)
		err = watch_all(s);
	if (err)
		return err;
	/* It needs spans; nobody asks what they cost who wants none. */
	if (!opt->only_open)
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

	session__begin_following(s);
	session__end_measuring(s);
	err = kernel__follow(s->kernel, pid);
	return err ? diag_error_r(err, "cannot follow process %d: %s", (int)pid, strerror(-err))
		   : 0;
}

const struct probe_costs *session__costs(struct session *s)
{
	session__end_measuring(s);
	return &s->costs;
}

unsigned int session__libraries(const struct session *s)
{
	return libraries__attached(s->libs);
}

void session__start(struct session *s)
{
	session__end_measuring(s);
	kernel__enable(s->kernel, true);
	s->started_ns = clock_ns(CLOCK_MONOTONIC);
}

/* What is not asked for costs its probe from now on, but no record. */
static void hide_label(struct session *s, const struct wire_label *r)
{
	int err;

	if (!s->filter || filter__passes_told(s->filter, &r->key))
		return;
	err = kernel__hide_label(s->kernel, r);
	/* There is no room for more: they are left out here all the same. */
	if (err && !s->told_no_hide)
		diag_warn("labels that are not asked for cost as much as others from here on: %s",
			  strerror(-err));
	s->told_no_hide = s->told_no_hide || err;
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
		hide_label(s, label);
	if (size != sizeof(*e) || e->type != WIRE_EXEC)
		return 0;
	err = session__tell_cwd(s, (pid_t)e->pid);
	return err ? err : session__on_exec(s, e);
}

/*
 * Mappings first: what is told of such a process refers to the record of its exec, which is in the
 * ring by then.
 */
int session__drain(struct session *s)
{
	int err = session__take_arrivals(s);

	if (!err)
		err = kernel__drain(s->kernel, on_record, s);
	libraries__settle(s->libs);
	return err ?: session__release_arrivals(s);
}

/* Whoever waits was told of by its exec, which may be in the ring still. */
int session__suspend(struct session *s)
{
	int err = s->n_arrivals ? session__drain(s) : 0;

	return err ?: session__let_all_go(s);
}

int session__tick(struct session *s)
{
	return s->budget ? budget__tick(s->budget, clock_ns(CLOCK_MONOTONIC)) : 0;
}

int session__show_open(struct session *s, pid_t tid)
{
	return kernel__show_open(s->kernel, tid);
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
	/* Whoever waits still finds nothing to be told to. */
	session__drop_arrivals(s);
	session__tell_arrivals(s);
	return !err && s->budget ? budget__finish(s->budget) : err;
}

int session__fd(const struct session *s)
{
	return s->epoll;
}

int session__counters(const struct session *s, uint64_t counters[WIRE_COUNTER_MAX])
{
	int err = kernel__counters(s->kernel, counters);

	if (s->mappings)
		counters[WIRE_LOST_MAPPINGS] = mappings__lost(s->mappings);
	counters[WIRE_LOST_COMPILERS] = s->n_missed;
	return err;
}

bool session__follows(struct session *s, pid_t pid)
{
	session__end_measuring(s);
	return kernel__follows(s->kernel, pid);
}

bool session__follows_any(struct session *s)
{
	session__end_measuring(s);
	return kernel__follows_any(s->kernel);
}

void session__begin_free(struct session *s)
{
	kernel__begin_free(s->kernel);
}

void session__free(struct session *s)
{
	if (!s)
		return;
	session__end_measuring(s);
	session__drop_arrivals(s);
	scope__free(s->scope);
	mappings__free(s->mappings);
	budget__free(s->budget);
	kernel__free(s->kernel);
	libraries__free(s->libs);
	cleanup_close_p(&s->epoll);
	free(s);
}
