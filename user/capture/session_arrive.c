// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Compilers as they come: what is executed, who maps a library, who has to wait for it. */
#include <errno.h>
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
	bool loading;	   /* it was held before the library ran any code */
	bool newcomer;	   /* nobody follows it yet */
};

static void arrival__clear(struct arrival *a)
{
	hold__free(a->hold);
	free(a->path);
}

int session__tell_late(struct session *s, pid_t pid, const char *path)
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
	return session__tell_late(s, (pid_t)e->pid, path);
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

static int make_wait(struct session *s, struct arrival *a)
{
	if (array__reserve_one(&s->arrivals, s->n_arrivals, &s->arrivals_capacity, sizeof(*a)))
		return -ENOMEM;
	if (!hold__begin(a->pid, &a->hold))
		a->loading = hold__is_loading(a->hold);
	s->arrivals[s->n_arrivals++] = *a;
	return 0;
}

/*
 * A process has mapped a library. One that nothing was attached to by then waits until something
 * is, and one that nobody follows until somebody does: before it has run any of the library's code.
 * Quick: the next one may be about to run.
 */
static int on_mapping(void *session, pid_t pid, uint64_t time_ns)
{
	struct session *s = session;
	struct arrival a = {.pid = pid};
	int err = 0;

	if (has_arrived(s, pid))
		return 0;
	a.newcomer = !kernel__follows(s->kernel, pid);
	if (a.newcomer && !(s->scope && scope__holds(s->scope, pid)))
		return 0;
	if (plan_find__of_pid(pid, &a.path))
		return 0;
	if (a.newcomer || !is_in_time(s, a.path, time_ns))
		err = make_wait(s, &a);
	else
		arrival__clear(&a);
	return err;
}

int session__take_arrivals(struct session *s)
{
	return s->mappings ? mappings__read(s->mappings, on_mapping, s) : 0;
}

/*
 * Follow a process of which the kernel half has not told, as if it had: it is told of what runs
 * there from now on.
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

	if (err)
		return diag_error_r(err, "cannot follow process %d: %s", (int)a->pid,
				    strerror(-err));
	/* One that went on, and is gone by now, would leave its number to somebody else. */
	if (!process_is_running(a->pid)) {
		kernel__unfollow(s->kernel, a->pid);
		return 0;
	}
	exec.args_len = (wire_u32)process_arguments(a->pid, exec.args, sizeof(exec.args));
	process_name(a->pid, exec.comm, sizeof(exec.comm));
	err = s->sink.record(s->sink.ctx, &fork, sizeof(fork));
	if (!err)
		err = s->sink.record(s->sink.ctx, &exec, sizeof(exec));
	return err ?: session__tell_cwd(s, a->pid);
}

/* It finds its library's probes there, or never will. */
static int let_go(struct session *s, const struct arrival *a, bool attached)
{
	int err = a->newcomer && attached ? follow_newcomer(s, a) : 0;

	if (!err && attached && !a->loading)
		err = session__tell_late(s, a->pid, a->path);
	return err;
}

int session__release_arrivals(struct session *s)
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
		err = err ?: let_go(s, a, !lib.err);
		arrival__clear(a);
	}
	s->n_arrivals = kept;
	return err;
}

void session__drop_arrivals(struct session *s)
{
	for (uint32_t i = 0; i < s->n_arrivals; i++)
		arrival__clear(&s->arrivals[i]);
	s->n_arrivals = 0;
	free(take_ptr(s->arrivals));
	s->arrivals_capacity = 0;
}
