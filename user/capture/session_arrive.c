// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Compilers as they come: what is executed, who maps a library, who has to wait for it. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/diag.h"
#include "capture/hold.h"
#include "capture/processes.h"
#include "capture/programs.h"
#include "capture/session_state.h"
#include "plan/find.h"

/*
 * A process that has mapped a library which nothing was attached to yet, or that is to be followed
 * from now on.
 */
struct arrival {
	pid_t pid;
	char *path;	   /* of the library */
	struct hold *hold; /* NULL: it runs */
	uint64_t since_ns; /* it was held, by CLOCK_MONOTONIC */
	bool loading;	   /* it was held before the library ran any code */
	bool newcomer;	   /* nobody follows it yet */
};

/*
 * Nobody waits longer, if a plan is: late is better than a build that hangs. Making one takes some
 * 1 s.
 */
#define HOLD_MAX_NS 3000000000
/* Those that were missed are named up to here, and counted. */
#define NAMED_MAX 10

static void arrival__clear(struct arrival *a)
{
	hold__free(a->hold);
	free(a->path);
}

/* It runs on, and is forgotten. */
static void release(struct session *s, struct arrival *a)
{
	uint64_t held_ns = clock_ns(CLOCK_MONOTONIC) - a->since_ns;

	if (a->hold) {
		s->held.n++;
		s->held.sum_ns += held_ns;
		if (held_ns > s->held.most_ns)
			s->held.most_ns = held_ns;
	}
	arrival__clear(a);
}

/* Its library may be told of segment by segment. */
static void miss(struct session *s, pid_t pid, const char *library)
{
	if (s->missed_pid == pid)
		return;
	s->missed_pid = pid;
	if (s->n_missed++ < NAMED_MAX)
		diag_warn("process %d used %s and was gone, or closed to us, before it could be "
			  "followed: it is missing",
			  (int)pid, library);
}

/* Its first queries may be missing: tell a person, and the sink. */
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
	    !is_compiler_program(exe))
		return 0;
	if (e->time_ns > lib.attached_ns && e->time_ns > s->started_ns)
		return 0;
	return tell_late(s, (pid_t)e->pid, path);
}

/* A toolchain is planned as soon as cargo or rustup's stand-in runs: they start a compiler later.
 */
int session__on_exec(struct session *s, const struct wire_exec *e)
{
	_free_ char *exe = process_executable((pid_t)e->pid);
	_free_ char *path = NULL;

	if (!exe || library_beside(exe, &path))
		return 0;
	if (!s->mappings)
		return attach_beside(s, e, exe, path);
	if (!is_compiler_program(exe))
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

/* Whoever mapped the library at `time_ns` finds the probes there. */
static bool is_in_time(const struct session *s, const char *library, uint64_t time_ns)
{
	struct library_state lib;

	return !libraries__look(s->libs, library, &lib) && lib.planned &&
	       (lib.err || (lib.attached_ns < time_ns && s->started_ns < time_ns));
}

/* Takes what `a` owns. */
static int make_wait(struct session *s, struct arrival *a)
{
	if (array__reserve_one(&s->arrivals, s->n_arrivals, &s->arrivals_capacity, sizeof(*a))) {
		arrival__clear(a);
		return -ENOMEM;
	}
	a->since_ns = clock_ns(CLOCK_MONOTONIC);
	if (!hold__begin(a->pid, &a->hold))
		a->loading = hold__is_loading(a->hold);
	s->arrivals[s->n_arrivals++] = *a;
	return 0;
}

/* Nothing can be found out of it any more. Of one that is followed all may be there all the same.
 */
static void on_closed(struct session *s, const struct arrival *a, int err, const char *library,
		      uint64_t time_ns)
{
	bool has_other_image = err == -ENOENT && process_is_running(a->pid);

	if (!has_other_image && (a->newcomer || !is_in_time(s, library, time_ns)))
		miss(s, a->pid, library);
}

/*
 * A process has mapped a library. One that nothing was attached to by then waits until something
 * is, and one that nobody follows until somebody does: before it has run any of the library's code.
 * Quick: the next one may be about to run.
 */
static int on_mapping(void *session, pid_t pid, const char *library, uint64_t time_ns)
{
	struct session *s = session;
	struct arrival a = {.pid = pid};
	int err;

	if (has_arrived(s, pid))
		return 0;
	a.newcomer = !kernel__follows(s->kernel, pid);
	if (a.newcomer && !s->scope)
		return 0;
	/* Whose it was cannot be told of one that is gone. */
	if (a.newcomer && !scope__holds(s->scope, pid) && process_is_running(pid))
		return 0;
	err = plan_find__of_pid(pid, &a.path);
	if (err) {
		on_closed(s, &a, err, library, time_ns);
		return 0;
	}
	if (a.newcomer || !is_in_time(s, a.path, time_ns))
		return make_wait(s, &a);
	arrival__clear(&a);
	return 0;
}

int session__take_arrivals(struct session *s)
{
	return s->mappings ? mappings__read(s->mappings, on_mapping, s) : 0;
}

/*
 * Follow a process of which the kernel half has not told, as if it had: it is told of what runs
 * there from now on. -ESRCH if it is missed.
 */
static int follow_newcomer(struct session *s, const struct arrival *a)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct wire_fork fork = {
		.type = WIRE_FORK,
		.parent_pid = (wire_u32)process_parent(a->pid),
		.child_pid = (wire_u32)a->pid,
		.time_ns = now,
	};
	struct wire_exec exec = {.type = WIRE_EXEC, .pid = (wire_u32)a->pid, .time_ns = now};
	int err = kernel__follow(s->kernel, a->pid);

	/* Among many, one more or less is no reason to lose the others. */
	if (err) {
		if (!s->told_no_follow)
			diag_warn("cannot follow process %d: %s; there may be more of its kind",
				  (int)a->pid, strerror(-err));
		s->told_no_follow = true;
		miss(s, a->pid, a->path);
		return -ESRCH;
	}
	/* One that went on, and is gone by now, would leave its number to somebody else. */
	if (!process_is_running(a->pid)) {
		kernel__unfollow(s->kernel, a->pid);
		miss(s, a->pid, a->path);
		return -ESRCH;
	}
	exec.args_len = (wire_u32)process_arguments(a->pid, exec.args, sizeof(exec.args));
	process_name(a->pid, exec.comm, sizeof(exec.comm));
	err = s->sink.record(s->sink.ctx, &fork, sizeof(fork));
	if (!err)
		err = s->sink.record(s->sink.ctx, &exec, sizeof(exec));
	return err ?: session__tell_cwd(s, a->pid);
}

/* It finds its library's probes there, or will while it runs. */
static int let_go(struct session *s, const struct arrival *a, bool late)
{
	int err = a->newcomer ? follow_newcomer(s, a) : 0;

	if (!err && late)
		err = tell_late(s, a->pid, a->path);
	return err == -ESRCH ? 0 : err;
}

static int release_until(struct session *s, uint64_t begun_ns)
{
	uint32_t kept = 0;
	int err = 0;

	for (uint32_t i = 0; i < s->n_arrivals; i++) {
		struct arrival *a = &s->arrivals[i];
		struct library_state lib = {.planned = true, .err = -ENOENT};

		libraries__expect(s->libs, a->path);
		libraries__look(s->libs, a->path, &lib);
		if (!lib.planned && a->since_ns > begun_ns) {
			s->arrivals[kept++] = *a;
			continue;
		}
		/* Without its library there is nothing to be told of it. */
		if (!err && !lib.err)
			err = let_go(s, a, !lib.planned || !a->loading);
		release(s, a);
	}
	s->n_arrivals = kept;
	return err;
}

int session__release_arrivals(struct session *s)
{
	return release_until(s, clock_ns(CLOCK_MONOTONIC) - HOLD_MAX_NS);
}

int session__let_all_go(struct session *s)
{
	return release_until(s, UINT64_MAX);
}

void session__drop_arrivals(struct session *s)
{
	for (uint32_t i = 0; i < s->n_arrivals; i++)
		release(s, &s->arrivals[i]);
	s->n_arrivals = 0;
	free(take_ptr(s->arrivals));
	s->arrivals_capacity = 0;
}

void session__tell_arrivals(const struct session *s)
{
	double sum = (double)s->held.sum_ns / 1e9, most = (double)s->held.most_ns / 1e9;
	uint64_t lost = s->mappings ? mappings__lost(s->mappings) : 0;

	if (s->held.n == 1)
		diag_info("1 compiler waited %.3f s for its probes", sum);
	else if (s->held.n)
		diag_info("%u compilers waited for their probes: %.3f s at most, %.3f s in all",
			  s->held.n, most, sum);
	if (s->n_missed > NAMED_MAX)
		diag_warn("%u compilers are missing: gone, or closed to us, before they could be "
			  "followed",
			  s->n_missed);
	if (lost)
		diag_warn("the kernel had no room to tell of %" PRIu64 " mappings: compilers may "
			  "be missing, or late",
			  lost);
}
