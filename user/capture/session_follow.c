// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Processes that run already when they are followed. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "capture/processes.h"
#include "capture/programs.h"
#include "capture/session_state.h"
#include "plan/find.h"

/* More than the races between a listing and a fork can need. */
#define MAX_PASSES 16

int session__tell_cwd(struct session *s, pid_t pid)
{
	_free_ char *cwd = s->sink.cwd ? process_cwd(pid) : NULL;

	return cwd ? s->sink.cwd(s->sink.ctx, pid, cwd) : 0;
}

void session__begin_following(struct session *s)
{
	if (s->mappings && !s->following)
		mappings__forget(s->mappings);
	s->following = true;
}

/*
 * Followed first, looked at then: if it executes something meanwhile, the kernel half tells. One
 * that is gone, -ESRCH, would leave its number behind, for another process to get.
 */
static int adopt(struct session *s, pid_t pid)
{
	char args[WIRE_ARGS_MAX];
	size_t len;
	int err;

	session__end_measuring(s);
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
	return err ? err : session__tell_cwd(s, pid);
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

/* Why a process cannot be looked into, and what to do; NULL if that is not it. */
static const char *why_closed(int err)
{
	if (err == -EPERM)
		return "its compiler was deleted meanwhile, and to read it still takes "
		       "CAP_CHECKPOINT_RESTORE; run with sudo";
	if (err != -EACCES)
		return NULL;
	return geteuid() ? "it belongs to somebody else; run with sudo"
			 : "this root may not trace it: a container or a security policy is in "
			   "the way";
}

/*
 * Only what was asked for by its number must be attached to. One that runs among others is told
 * of, and the others are recorded.
 */
static int follow_one(struct session *s, pid_t pid, bool asked_for, bool *compiler)
{
	_free_ char *path = NULL;
	int err = library_of(pid, &path, compiler);
	const char *why = why_closed(err);

	if (err == -ESRCH)
		return err;
	if (why && asked_for)
		return diag_error_r(err, "cannot look into process %d: %s", (int)pid, why);
	/* What it starts may be recorded all the same. */
	if (why) {
		diag_warn("going on without process %d: %s", (int)pid, why);
		return adopt(s, pid);
	}
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

	session__begin_following(s);
	for (int pass = 0; pass < MAX_PASSES && more && !err; pass++)
		err = follow_tree(s, pid, compilers, &more);
	return err;
}

/* One that is gone from its place is used all the same, whether we may read it or not. */
static bool is_using_library(pid_t pid)
{
	_free_ char *path = NULL;
	int err = plan_find__of_pid(pid, &path);

	return !err || err == -EPERM;
}

/* Compilers that run already; their children with them, who run no queries. */
static int follow_compilers(struct session *s, unsigned int *compilers)
{
	struct process_list list;
	int err = process_list__all(&list);

	for (size_t i = 0; i < list.n && !err; i++) {
		pid_t pid = list.pids[i];
		bool compiler;

		if (pid == getpid() || kernel__follows(s->kernel, pid) ||
		    !scope__holds(s->scope, pid) || !is_using_library(pid))
			continue;
		err = follow_one(s, pid, false, &compiler);
		if (err == -ESRCH)
			err = 0;
		else if (!err)
			++*compilers;
	}
	process_list__clear(&list);
	return err;
}

int session__follow_all(struct session *s, const char *cgroup, unsigned int *compilers)
{
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
		return diag_error_r(-EPERM,
				    "cannot see who starts a compiler: the kernel does not tell us "
				    "what is mapped; CAP_PERFMON is missing, or perf events are "
				    "switched off. See \"qprof-bpf doctor\"");
	session__begin_following(s);
	return follow_compilers(s, compilers);
}
