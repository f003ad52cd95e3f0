// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/session.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "capture/processes.h"
#include "plan/find.h"

/* More than the races between a listing and a fork can need. */
#define MAX_PASSES 16

/*
 * One inode, which is what the kernel probes: a library may have several paths, by a hard link, a
 * bind mount, another process's root. Probed twice, it would count double.
 */
struct library {
	dev_t dev;
	ino_t ino;
	int err;	      /* why it could not be attached to, or 0 */
	uint64_t attached_ns; /* its probes were there from then on */
};

struct session {
	struct kernel *kernel;
	struct session_sink sink;
	const struct filter *filter; /* or NULL */
	struct probe_costs costs;
	struct library *libs; /* those that failed too */
	unsigned int n_libs;
	uint64_t started_ns; /* counting began then; 0 while it is stopped */
	uint32_t late_pid;   /* the last one that was warned of */
};

/* Without it times are what they were measured to be: no reason not to record. */
static void measure_costs(struct session *s)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	int err = probe_costs__measure(s->kernel, &s->costs);

	if (err)
		diag_verbose("cannot measure what a probe costs: %s", strerror(-err));
	else
		diag_verbose("a probe costs %" PRIu64 " ns here, on a stepped instruction %" PRIu64
			     " ns; measured in %" PRIu64 " us",
			     s->costs.emulated.hit_ps / 1000, s->costs.stepped.hit_ps / 1000,
			     (clock_ns(CLOCK_MONOTONIC) - start) / 1000);
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
	if (!opt->only_open)
		measure_costs(s);
	*out = take_ptr(s);
	return 0;
}

void session__ask_for(struct session *s, const struct filter *filter)
{
	s->filter = filter;
}

static struct library *find_library(const struct session *s, const struct stat *st)
{
	for (unsigned int i = 0; i < s->n_libs; i++)
		if (s->libs[i].dev == st->st_dev && s->libs[i].ino == st->st_ino)
			return &s->libs[i];
	return NULL;
}

static struct library *new_library(struct session *s, const struct stat *st)
{
	struct library *libs = reallocarray(s->libs, s->n_libs + 1, sizeof(*libs));

	if (!libs)
		return NULL;
	s->libs = libs;
	libs[s->n_libs] = (struct library){.dev = st->st_dev, .ino = st->st_ino};
	return &libs[s->n_libs++];
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

static int attach(struct session *s, const char *path)
{
	_plan_ struct plan *plan = NULL;
	uint8_t lib;
	int err = plan__load(path, &plan);

	if (!err)
		err = kernel__attach(s->kernel, plan, s->filter, &lib);
	if (!err && s->filter && filter__wants_hits(s->filter))
		err = attach_hits(s, plan, lib);
	if (err)
		return err;
	return s->sink.library(s->sink.ctx, lib, plan);
}

/* `*out` is the session's, until the next call. */
static int add_library(struct session *s, const char *path, const struct library **out)
{
	struct library *lib;
	struct stat st;

	if (stat(path, &st))
		return diag_error_r(-errno, "cannot read %s: %s", path, strerror(errno));
	lib = find_library(s, &st);
	if (!lib) {
		lib = new_library(s, &st);
		if (!lib)
			return diag_error_r(-ENOMEM, "out of memory");
		lib->err = attach(s, path);
		lib->attached_ns = clock_ns(CLOCK_MONOTONIC);
	}
	*out = lib;
	return lib->err;
}

int session__add_library(struct session *s, const char *path)
{
	const struct library *lib;

	return add_library(s, path, &lib);
}

int session__follow_new(struct session *s, pid_t pid)
{
	int err = kernel__follow(s->kernel, pid);

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
	int err = kernel__follow(s->kernel, pid);

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

		/* The shell we were started from may be what is followed: we are not. */
		if (pid == getpid() || kernel__follows(s->kernel, pid))
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

const struct probe_costs *session__costs(const struct session *s)
{
	return &s->costs;
}

unsigned int session__libraries(const struct session *s)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < s->n_libs; i++)
		n += !s->libs[i].err;
	return n;
}

void session__start(struct session *s)
{
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

/*
 * A process of a toolchain not seen before: rustc reaches its first query tens of milliseconds
 * after its exec, cargo and the rustup proxy start it later still. A failure to attach is told
 * once and the capture of the others goes on.
 */
static int on_exec(struct session *s, const struct wire_exec *e)
{
	_free_ char *exe = process_executable((pid_t)e->pid);
	_free_ char *path = NULL;
	const struct library *lib;

	if (!exe || library_beside(exe, &path) || add_library(s, path, &lib))
		return 0;
	if (!is_compiler(exe) || (e->time_ns > lib->attached_ns && e->time_ns > s->started_ns))
		return 0;
	return tell_late(s, (pid_t)e->pid, path);
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

	if (err || !size)
		return err;
	if (size == sizeof(*label) && label->type == WIRE_LABEL)
		return hide_label(s, label);
	if (size != sizeof(*e) || e->type != WIRE_EXEC)
		return 0;
	err = tell_cwd(s, (pid_t)e->pid);
	return err ? err : on_exec(s, e);
}

int session__drain(struct session *s)
{
	return kernel__drain(s->kernel, on_record, s);
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
	kernel__free(s->kernel);
	free(s->libs);
	free(s);
}
