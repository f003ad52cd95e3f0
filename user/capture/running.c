// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/running.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "capture/broker.h"
#include "capture/parts_needed.h"
#include "proc/processes.h"
#include "proc/programs.h"

/* Enough passes for every race between a listing and a fork. */
#define MAX_PASSES 16

/*
 * Follow the process before reading its arguments: the kernel half then reports an exec that comes
 * between the two. -ESRCH: the process has ended, and its number must not stay followed, as another
 * process may get it.
 */
static int adopt(const struct running *r, pid_t pid)
{
	_arguments_ struct arguments args = {0};
	struct record running = {.kind = RECORD_RUNNING, .pid = (uint32_t)pid};
	int err;

	r->before_follow(r->ctx);
	err = kernel__follow(r->kernel, pid);
	if (err)
		return diag_error_r(err, "cannot follow process %d: %s", (int)pid, strerror(-err));
	if (!process_is_running(pid)) {
		kernel__unfollow(r->kernel, pid);
		return -ESRCH;
	}
	if (r->sink->unnamed)
		return 0;
	/* May take as long as a look: the time below is that after it. */
	if (broker__arguments(r->broker, pid, &args))
		args.cut = true;
	running.running.parent = process_parent(pid);
	running.running.now_ns = clock_ns(CLOCK_MONOTONIC);
	running.running.args = &args;
	return session_sink__take(r->sink, &running) ?: session_sink__cwd(r->sink, pid);
}

/* The library a process uses or, for cargo and the like, the one beside its executable. */
static int library_of(const struct running *r, pid_t pid, bool asked_for,
		      struct library_file **file, bool *compiler)
{
	_free_ char *exe = NULL;
	int err = asked_for ? broker__named_library(r->broker, pid, file)
			    : broker__library(r->broker, pid, file, NULL);

	*compiler = !err;
	if (err != -ENOENT)
		return err;
	exe = process_executable(pid);
	return exe ? broker__library_beside(r->broker, pid, exe, file) : -ENOENT;
}

const char *running_why_closed(int err)
{
	if (err == -EPERM)
		return "its compiler was deleted meanwhile, and to read it still takes "
		       "CAP_CHECKPOINT_RESTORE; run with sudo";
	if (err == -ETIME)
		return "its memory or its library cannot be read in time; leave it out, or "
		       "see its /proc/PID/stack";
	if (err == -BROKER_SERVED)
		return "its library is on a FUSE mount of an unprivileged user; use a toolchain on "
		       "another file system";
	if (err != -EACCES)
		return NULL;
	return geteuid() ? "it belongs to somebody else; run with sudo"
			 : "this root may not trace it: a container or a security policy is in "
			   "the way";
}

/*
 * Attach what only this compiler needs. Without it the rest is recorded all the same, unless the
 * library was written to: then it is detached from.
 */
static int attach_parts(const struct running *r, pid_t pid, const struct library_file *file,
			bool *lacks)
{
	int err = libraries__need(r->libs, file, parts_needed_by(r->broker, pid));

	*lacks = err && err != -EINTR && err != -ESTALE;
	return *lacks ? 0 : err;
}

/* Of a compiler that is followed. */
static int report_late(const struct running *r, pid_t pid, const struct library_file *file)
{
	diag_warn("some probes of %s, which process %d uses, could not be attached; what they "
		  "record of it is missing",
		  library_file__path(file), (int)pid);
	return session_sink__take(r->sink,
				  &(struct record){.kind = RECORD_LATE, .pid = (uint32_t)pid});
}

/*
 * A process that the user named by number must be recorded, or the call fails. For any other
 * process a failure is printed, and recording goes on.
 */
static int follow_one(const struct running *r, pid_t pid, bool asked_for, bool *compiler)
{
	_library_file_ struct library_file *file = NULL;
	int err = library_of(r, pid, asked_for, &file, compiler);
	const char *why = running_why_closed(err);
	bool lacks = false;

	if (err == -ESRCH)
		return err;
	if (why && asked_for)
		return diag_error_r(err, "cannot look into process %d: %s", (int)pid, why);
	/* The children of this process may be recorded all the same. */
	if (why) {
		/* Of the others it is unknown whether they use one. */
		*compiler = err == -BROKER_SERVED || err == -EPERM;
		arrivals__add_missing(r->arrivals, *compiler || err == -ETIME);
		diag_warn("going on without process %d: %s", (int)pid, why);
		return adopt(r, pid);
	}
	err = file ? libraries__add(r->libs, file, process_uid(pid)) : 0;
	if (!err && *compiler)
		err = attach_parts(r, pid, file, &lacks);
	if (err == -EINTR || (err && asked_for && *compiler))
		return err;
	if (err) {
		diag_warn("going on without the compiler of process %d", (int)pid);
		arrivals__add_missing(r->arrivals, *compiler);
	}
	err = adopt(r, pid) ?: (lacks ? report_late(r, pid, file) : 0);
	return err || !*compiler ? err : sampling__expect_running(r->sampling, pid);
}

/*
 * One pass over the tree, without the processes that are followed already. The running children of
 * a compiler (a linker) run no queries.
 */
static int follow_tree(const struct running *r, pid_t root, unsigned int *compilers, bool *more)
{
	struct process_list list;
	bool compiler = false;
	int err = process_list__descendants(root, &list);

	*more = false;
	for (size_t i = 0; i < list.n && !err; i++) {
		pid_t pid = list.pids[i];

		/* We may be a descendant of `root`, but our own children are not followed. */
		if (pid == getpid() || kernel__follows(r->kernel, pid) ||
		    (pid != root && process_parent(pid) == getpid()))
			continue;
		err = follow_one(r, pid, pid == root, &compiler);
		if (err == -ESRCH && pid != root) {
			/* The process has ended. A zombie stays in every list. */
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
 * The next list holds a child that was forked after this list was made and before its parent was
 * followed. The kernel half follows children that are forked later.
 */
int running__follow(const struct running *r, pid_t pid, unsigned int *compilers)
{
	bool more = true;
	int err = 0;

	for (int pass = 0; pass < MAX_PASSES && more && !err; pass++)
		err = follow_tree(r, pid, compilers, &more);
	return err;
}

/*
 * A library that was deleted is in use all the same. When a process blocks its readers, only its
 * name says whether it is a compiler.
 */
static bool is_using_library(const struct running *r, pid_t pid)
{
	_library_file_ struct library_file *file = NULL;
	int err = broker__library(r->broker, pid, &file, NULL);
	char name[32];

	if (err == -ETIME) {
		process_name(pid, name, sizeof(name));
		return is_compiler_program(name);
	}
	return !err || err == -EPERM || err == -BROKER_SERVED;
}

/* Follow compilers that run already. Their running children run no queries. */
int running__follow_all(const struct running *r, const struct scope *scope, unsigned int *compilers)
{
	struct process_list list;
	int err = process_list__all(&list);

	for (size_t i = 0; i < list.n && !err; i++) {
		pid_t pid = list.pids[i];
		bool compiler;

		if (pid == getpid() || kernel__follows(r->kernel, pid) ||
		    !scope__holds(scope, pid) || !is_using_library(r, pid))
			continue;
		err = follow_one(r, pid, false, &compiler);
		if (err == -ESRCH)
			err = 0;
		else if (!err)
			++*compilers;
	}
	process_list__clear(&list);
	return err;
}
