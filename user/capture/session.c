// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/session.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/diag.h"
#include "capture/processes.h"
#include "plan/find.h"

struct session {
	struct kernel *kernel;
	struct session_sink sink;
	char *libs[WIRE_MAX_LIBS]; /* paths of the attached ones */
	unsigned int n_libs;
	bool started;
};

static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int session__open(const struct kernel_options *opt, const struct session_sink *sink,
		  struct session **out)
{
	_session_ struct session *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return diag_error_r(-ENOMEM, "out of memory");
	s->sink = *sink;
	err = kernel__open(opt, &s->kernel);
	if (err)
		return err;
	*out = take_ptr(s);
	return 0;
}

int session__add_library(struct session *s, const char *path)
{
	_plan_ struct plan *plan = NULL;
	char *copy;
	uint8_t lib;
	int err;

	for (unsigned int i = 0; i < s->n_libs; i++)
		if (!strcmp(s->libs[i], path))
			return 0;
	err = plan__load(path, &plan);
	if (!err)
		err = kernel__attach(s->kernel, plan, &lib);
	if (err)
		return err;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	s->libs[s->n_libs++] = copy;
	diag_verbose("attached %u probes to %s by %s", plan->n_sites, path,
		     kernel__attach_name(s->kernel));
	return s->sink.library(s->sink.ctx, lib, plan);
}

int session__follow_new(struct session *s, pid_t pid)
{
	return kernel__follow(s->kernel, pid);
}

static int adopt(struct session *s, pid_t pid)
{
	char args[WIRE_ARGS_MAX];
	size_t len = process_arguments(pid, args, sizeof(args));
	int err = kernel__follow(s->kernel, pid);

	if (err)
		return err;
	return s->sink.running(s->sink.ctx, pid, process_parent(pid), monotonic_ns(), args, len);
}

/* The library a process uses or, for cargo and the like, the one beside its executable. */
static int library_of(pid_t pid, char **path, bool *compiler)
{
	_free_ char *exe = NULL;
	int err = plan_find__of_pid(pid, path);

	*compiler = !err;
	if (!err || err == -EACCES)
		return err;
	exe = process_executable(pid);
	return exe ? plan_find__of_exe(exe, path) : -ENOENT;
}

static int add_library_of(struct session *s, pid_t pid, bool *compiler)
{
	_free_ char *path = NULL;
	int err = library_of(pid, &path, compiler);

	if (err)
		return err == -EACCES ? diag_error_r(err,
						     "cannot look into process %d: it belongs "
						     "to somebody else; run with sudo",
						     (int)pid)
				      : 0;
	return session__add_library(s, path);
}

/* One pass over the tree; what is followed already is passed over. */
static int follow_tree(struct session *s, pid_t root, unsigned int *compilers, bool *found)
{
	struct process_list list;
	bool compiler = false;
	int err = process_list__descendants(root, &list);

	*found = false;
	for (size_t i = 0; i < list.n && !err; i++) {
		if (kernel__follows(s->kernel, list.pids[i]))
			continue;
		*found = true;
		err = add_library_of(s, list.pids[i], &compiler);
		*compilers += compiler;
		if (!err)
			err = adopt(s, list.pids[i]);
		/* A compiler's own running children (a linker) run no queries. */
		if (i == 0 && compiler)
			break;
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
	bool found = true;
	int err = 0;

	while (found && !err)
		err = follow_tree(s, pid, compilers, &found);
	return err;
}

unsigned int session__libraries(const struct session *s)
{
	return s->n_libs;
}

void session__start(struct session *s)
{
	kernel__enable(s->kernel, true);
	s->started = true;
}

/*
 * A process of a toolchain not seen before: rustc reaches its first query tens of milliseconds
 * after its exec, cargo and the rustup proxy start it later still. A failure to attach is told
 * and the capture of the others goes on.
 */
static void on_exec(struct session *s, const struct wire_exec *e)
{
	_free_ char *exe = process_executable((pid_t)e->pid);
	_free_ char *path = NULL;
	unsigned int before = s->n_libs;

	if (!exe || plan_find__of_exe(exe, &path))
		return;
	if (!session__add_library(s, path) && s->n_libs != before)
		diag_verbose("found %s by process %u", path, e->pid);
}

static int on_record(void *ctx, const void *record, size_t size)
{
	struct session *s = ctx;
	const struct wire_exec *e = record;

	if (size == sizeof(*e) && e->type == WIRE_EXEC)
		on_exec(s, e);
	return s->sink.record(s->sink.ctx, record, size);
}

int session__drain(struct session *s)
{
	return kernel__drain(s->kernel, on_record, s);
}

int session__stop(struct session *s)
{
	int err;

	if (!s->started)
		return session__drain(s);
	kernel__enable(s->kernel, false);
	s->started = false;
	err = kernel__flush_open(s->kernel);
	if (err)
		diag_warn("cannot tell which queries still run: %s", strerror(-err));
	return session__drain(s);
}

int session__ring_fd(const struct session *s)
{
	return kernel__ring_fd(s->kernel);
}

int session__counters(const struct session *s, uint64_t counters[WIRE_COUNTER_MAX])
{
	return kernel__counters(s->kernel, counters);
}

bool session__follows(const struct session *s, pid_t pid)
{
	return kernel__follows(s->kernel, pid);
}

const char *session__attach_name(const struct session *s)
{
	return kernel__attach_name(s->kernel);
}

void session__free(struct session *s)
{
	if (!s)
		return;
	kernel__free(s->kernel);
	for (unsigned int i = 0; i < s->n_libs; i++)
		free(s->libs[i]);
	free(s);
}
