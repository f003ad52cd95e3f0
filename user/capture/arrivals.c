// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/arrivals.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/diag.h"
#include "capture/ended.h"
#include "capture/stop_times.h"
#include "capture/broker.h"
#include "capture/missing.h"
#include "capture/outsiders.h"
#include "capture/parts_needed.h"
#include "capture/ptrace_stop.h"
#include "capture/planned_late.h"
#include "proc/processes.h"
#include "proc/programs.h"

/* A process that waits: its library is not attached to yet, or nothing follows the process yet. */
struct arrival {
	pid_t pid;
	uid_t user;
	struct library_file *file;    /* the mapped library */
	struct ptrace_stop *stop;     /* its ptrace stop; NULL: it runs */
	enum ptrace_stop_state state; /* of `stop`, when its library was last asked for */
	struct library_state lib;     /* the answer */
	bool asked;
	struct broker_range loader; /* a process that stopped in here has run no library code */
	uint64_t mapped_ns;	    /* when it mapped the library, CLOCK_MONOTONIC */
	uint64_t until_ns;	    /* it runs on at this time, CLOCK_MONOTONIC */
	bool newcomer, lacks;	    /* not followed yet; cannot have the parts */
	uint32_t parts;		    /* PLAN_PART_BITs that it needs and that may not be there */
};

/*
 * A process waits for 3 s at most. A busy machine needs a part of these to wake the thread that
 * ends the ptrace stop. A late compiler is better than a build that hangs. A plan takes some 1 s.
 */
#define HOLD_MAX_NS 2800000000
/* Processes of one user in a ptrace stop, and processes that wait at all. Root has no limit. */
#define HELD_PER_USER	 128
#define WAITING_PER_USER 256
/* Processes that were looked at, by the last bits of their number. */
#define LOOKED_KEPT 4096

struct arrivals {
	struct arrivals_parts parts;
	struct session_sink sink;
	struct outsiders *outsiders;
	struct parts_needed *parts_needed;
	struct scope *scope; /* whose compilers are followed as they start; NULL: none */
	uint64_t started_ns; /* 0: counting is stopped */
	struct arrival *items;
	uint32_t n;
	uint32_t capacity;
	struct planned_late *unattached;
	struct ended ended;
	struct stop_times held;
	struct {
		pid_t pid;
		uint64_t time_ns; /* of the look */
	} looked[LOOKED_KEPT];
	dev_t odd_dev; /* a file system whose inodes the kernel records otherwise */
	struct missing missing;
};

int arrivals__new(const struct arrivals_parts *parts, const struct session_sink *sink,
		  struct arrivals **out)
{
	_arrivals_ struct arrivals *all = calloc(1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	all->parts = *parts;
	all->sink = *sink;
	all->unattached = planned_late__new();
	all->parts_needed = parts_needed__new(parts->broker);
	if (!all->unattached || !all->parts_needed ||
	    outsiders__new(parts->kernel, parts->broker, &all->outsiders))
		return -ENOMEM;
	*out = take_ptr(all);
	return 0;
}

void arrivals__set_scope(struct arrivals *all, struct scope *scope)
{
	all->scope = scope;
}

void arrivals__set_started(struct arrivals *all, uint64_t started_ns)
{
	all->started_ns = started_ns;
}

uint32_t arrivals__n(const struct arrivals *all)
{
	return all->n;
}

void arrivals__add_missing(struct arrivals *all, uint32_t n)
{
	all->missing.n += n;
}

uint32_t arrivals__missing(const struct arrivals *all)
{
	return all->missing.n;
}

static void arrival__clear(struct arrival *a)
{
	ptrace_stop__free(take_ptr(a->stop));
	library_file__free(take_ptr(a->file));
	a->pid = 0;
}

/* Let the process run on, and forget it. */
static void release(struct arrivals *all, struct arrival *a)
{
	uint64_t held_ns = a->stop ? ptrace_stop__held_ns(a->stop) : 0;

	if (held_ns) {
		session_sink__take(&all->sink, &(struct record){.kind = RECORD_WAITED,
								.pid = (uint32_t)a->pid,
								.waited_ns = held_ns});
		stop_times__add(&all->held, held_ns);
	}
	arrival__clear(a);
}

/* The library cannot be attached to; an earlier line says why. */
static void refuse(struct arrivals *all, const struct arrival *a, int err)
{
	missing__refused(&all->missing, a->pid, a->user, library_file__path(a->file), err);
}

static bool has_arrived(const struct arrivals *all, pid_t pid)
{
	for (uint32_t i = 0; i < all->n; i++)
		if (all->items[i].pid == pid)
			return true;
	return false;
}

/*
 * Perf events are attached in the background, after the library counts as attached. Replace the
 * time by that of the last attachment that began before it; without an end, the library is not
 * attached yet.
 */
static void see_attached(struct kernel *k, struct library_state *lib)
{
	uint64_t settled_ns = lib->attached_ns, last_ns = 0, begun_ns, done_ns;
	int why = 0;

	for (unsigned int i = 0; i < WIRE_MAX_LIBS && lib->planned && !lib->err; i++) {
		int err = kernel__attached(k, (uint8_t)i, &begun_ns, &done_ns);

		if (err == -ENODATA || begun_ns > settled_ns || begun_ns < last_ns)
			continue;
		last_ns = begun_ns;
		library_state__set_all(lib, done_ns);
		why = err;
	}
	if (!lib->planned || lib->err)
		return;
	lib->planned = lib->attached_ns;
	lib->err = why;
}

/* A process that mapped the library at `time_ns` hits every probe in it that it needs. */
static bool is_in_time(const struct arrivals *all, const struct library_state *lib, uint32_t parts,
		       uint64_t time_ns)
{
	return lib->planned && !lib->err && lib->attached_ns < time_ns &&
	       !library_state__lacks(lib, parts, time_ns) && all->started_ns < time_ns;
}

static unsigned int count_waiting(const struct arrivals *all, uid_t user)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < all->n; i++)
		n += user && all->items[i].user == user;
	return n;
}

static void stop(struct arrivals *all, struct arrival *a)
{
	a->until_ns = clock_ns(CLOCK_MONOTONIC) + HOLD_MAX_NS;
	if (count_waiting(all, a->user) >= HELD_PER_USER ||
	    !broker__may_ask(all->parts.broker, a->user) ||
	    ptrace_stop__begin(a->pid, a->user, a->until_ns, all->parts.wake_fd, &a->stop))
		a->stop = NULL;
}

/* Takes ownership of the objects that `a` points to if there is room. */
static int make_wait(struct arrivals *all, struct arrival *a)
{
	if (count_waiting(all, a->user) >= WAITING_PER_USER) {
		refuse(all, a, -EDQUOT);
		return 0;
	}
	if (array__reserve_one(&all->items, all->n, &all->capacity, sizeof(*a)))
		return -ENOMEM;
	/* Nothing that is known of its pid is about it. */
	if (a->newcomer)
		a->parts = parts_needed_by(all->parts.broker, a->pid);
	if (!a->stop && all->parts.mappings)
		stop(all, a);
	all->items[all->n++] = *a;
	*a = (struct arrival){0};
	return 0;
}

/*
 * is_in_time() for a process that has exited or cannot be read, by the inode in the kernel's
 * record. Where the file system has other inode numbers, the recorded path is opened instead, but
 * not with `err` of -ETIME: a process that blocks readers may name a path that blocks, too.
 */
static bool was_in_time(struct arrivals *all, pid_t pid, int err, uint32_t parts,
			const struct mapped_library *library)
{
	_library_file_ struct library_file *file = NULL;
	struct library_state lib;

	if (libraries__look_inode(all->parts.libs, library->dev, library->ino, &lib) &&
	    (err == -ETIME || broker__file(all->parts.broker, pid, library->path, &file) ||
	     libraries__look(all->parts.libs, file, &lib)))
		return false;
	see_attached(all->parts.kernel, &lib);
	return is_in_time(all, &lib, parts, library->time_ns);
}

/* The records of its exec and of its mapping come in any order: the second one shows both. */
static void see_needs(struct arrivals *all, pid_t pid, int err,
		      const struct mapped_library *library)
{
	uint32_t parts;

	if (parts_needed__find(all->parts_needed, pid, &parts))
		ended__add(&all->ended, pid, library);
	else if (parts && !was_in_time(all, pid, err, parts, library))
		missing__unread(&all->missing, pid, library->path);
}

/* The process cannot be read any more. A followed one may have been recorded in full. */
static void on_closed(struct arrivals *all, const struct arrival *a, int err,
		      const struct mapped_library *library)
{
	/* It executes another program by now. */
	if (err == -ENOENT && process_is_running(a->pid))
		return;
	/* A FUSE server of another user serves the library: a read of it could wait for ever. */
	if (err == -BROKER_SERVED)
		missing__refused(&all->missing, a->pid, a->user, library->path, err);
	else if (a->newcomer || !was_in_time(all, a->pid, err, 0, library))
		missing__unread(&all->missing, a->pid, library->path);
	else
		see_needs(all, a->pid, err, library);
}

/*
 * True if a followed process needs nothing more. One that has ended since its library was looked at
 * cannot wait: once its exec is known, see_parts() sees what it needed.
 */
static bool is_settled(struct arrivals *all, struct arrival *a,
		       const struct mapped_library *library)
{
	uint64_t time_ns = library->time_ns;
	struct library_state lib = {0};
	int err = libraries__look(all->parts.libs, a->file, &lib);

	see_attached(all->parts.kernel, &lib);
	if (parts_needed__find(all->parts_needed, a->pid, &a->parts)) {
		ended__add(&all->ended, a->pid, library);
		a->parts = 0;
	}
	a->parts = library_state__lacks(&lib, a->parts, time_ns);
	if (err)
		return false;
	if (lib.planned && lib.err)
		refuse(all, a, lib.err);
	return lib.planned && (lib.err || is_in_time(all, &lib, a->parts, time_ns));
}

/*
 * A look saw all mappings from before it. Without this, each record of a process that maps and
 * unmaps in a loop would cost a ptrace stop and a look.
 */
static bool was_looked_at(const struct arrivals *all, pid_t pid, uint64_t time_ns)
{
	return all->looked[pid % LOOKED_KEPT].pid == pid &&
	       time_ns < all->looked[pid % LOOKED_KEPT].time_ns;
}

/* False: the process is none of those to record. */
static bool is_wanted(const struct arrivals *all, const struct arrival *a)
{
	if (!a->newcomer)
		return true;
	if (!all->scope)
		/* Nothing follows a process that has ended: its exec shows that it was followed. */
		return all->started_ns &&
		       !(parts_needed__knows(all->parts_needed, a->pid) &&
			 !process_is_running(a->pid)) &&
		       outsiders__serves(all->outsiders, a->pid, a->user);
	/* A process that is gone has no control group any more, so it counts as one of ours. */
	return scope__holds(all->scope, a->pid) || !process_is_running(a->pid);
}

/*
 * By the inode in the kernel's record, which says nothing of contents. Without an inode the record
 * is of an exec: there is time to look first. Where the inode says nothing, every compiler would be
 * stopped.
 */
static bool is_to_be_stopped(const struct arrivals *all, pid_t pid, const struct mapped_library *m)
{
	struct library_state lib;

	if (!m->dev || m->dev == all->odd_dev)
		return false;
	if (libraries__look_inode(all->parts.libs, m->dev, m->ino, &lib))
		return true;
	see_attached(all->parts.kernel, &lib);
	return !is_in_time(all, &lib, parts_needed__asked(all->parts_needed, pid), m->time_ns);
}

/* An attached library is known by its file, but not by the inode in the kernel's record. */
static bool is_odd(const struct arrivals *all, const struct arrival *a,
		   const struct mapped_library *library)
{
	struct library_state lib;

	return libraries__look_inode(all->parts.libs, library->dev, library->ino, &lib) &&
	       !libraries__look(all->parts.libs, a->file, &lib) && lib.planned && !lib.err;
}

/* Looking at it takes a while, and its compile may be a short one. */
static bool may_serve(const struct arrivals *all, const struct arrival *a)
{
	return a->newcomer && !all->scope && all->started_ns &&
	       outsiders__may_serve(all->outsiders, a->pid, a->user);
}

/*
 * A process has mapped a library. It waits if the library is not attached to, or if nothing follows
 * the process. It must stop before it runs any library code, which takes some 10 ms of its loader:
 * so stop it first, and look at it then.
 */
static int on_mapping(void *arrivals, pid_t pid, const struct mapped_library *library)
{
	struct arrivals *all = arrivals;
	struct arrival a = {.pid = pid, .mapped_ns = library->time_ns};
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	int err = 0, none;

	if (has_arrived(all, pid) || was_looked_at(all, pid, library->time_ns))
		return 0;
	a.user = process_uid(pid);
	a.newcomer = !kernel__follows(all->parts.kernel, pid);
	/* The record of its exec says what it needs. */
	if (!a.newcomer && all->parts.drain)
		err = all->parts.drain(all->parts.drain_ctx);
	if (err)
		return err;
	if (may_serve(all, &a))
		stop(all, &a);
	if (!is_wanted(all, &a)) {
		arrival__clear(&a);
		/* Nothing follows a process that has ended: only its exec shows if anything did. */
		if (!all->scope &&
		    (parts_needed__knows(all->parts_needed, pid) || !process_is_running(pid)))
			see_needs(all, pid, -ESRCH, library);
		return 0;
	}
	if (!a.stop && (a.newcomer || is_to_be_stopped(all, pid, library)))
		stop(all, &a);
	none = broker__library(all->parts.broker, pid, &a.file, &a.loader);
	if (!none || none == -ENOENT) {
		all->looked[pid % LOOKED_KEPT].pid = pid;
		all->looked[pid % LOOKED_KEPT].time_ns = now_ns;
	}
	if (none)
		on_closed(all, &a, none, library);
	else if (a.newcomer || !is_settled(all, &a, library))
		err = make_wait(all, &a);
	else if (a.stop && is_odd(all, &a, library))
		all->odd_dev = library->dev;
	if (!none && !err)
		err = sampling__expect(all->parts.sampling, pid);
	release(all, &a);
	return err;
}

static int read_mappings(struct arrivals *all)
{
	return all->parts.mappings ? mappings__read(all->parts.mappings, on_mapping, all) : 0;
}

int arrivals__take(struct arrivals *all)
{
	eventfd_t changes;

	eventfd_read(all->parts.wake_fd, &changes);
	return read_mappings(all);
}

/*
 * Follow a process that the kernel half has not reported, and pass the missing records of its fork
 * and exec to the sink. -ESRCH: it is counted as missing.
 */
static int follow_newcomer(struct arrivals *all, const struct arrival *a)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct wire_fork fork = {
		.type = WIRE_FORK,
		.parent_pid = (wire_u32)process_parent(a->pid),
		.child_pid = (wire_u32)a->pid,
		.time_ns = now,
	};
	const struct record forked = {
		.kind = WIRE_FORK, .pid = fork.child_pid, .size = sizeof(fork), .fork = &fork};
	struct wire_exec exec = {
		.type = WIRE_EXEC, .truncated = true, .pid = (wire_u32)a->pid, .time_ns = now};
	int err = kernel__follow(all->parts.kernel, a->pid);

	/* One process of many that cannot be followed must not end the recording of the others. */
	if (err) {
		missing__unfollowed(&all->missing, a->pid, library_file__path(a->file), err);
		return -ESRCH;
	}
	/* A process that has ended would leave its number to another process. */
	if (!process_is_running(a->pid)) {
		kernel__unfollow(all->parts.kernel, a->pid);
		missing__unread(&all->missing, a->pid, library_file__path(a->file));
		return -ESRCH;
	}
	process_name(a->pid, exec.comm, sizeof(exec.comm));
	return session_sink__take(&all->sink, &forked)
		       ?: session_sink__exec(&all->sink, all->parts.broker, &exec)
		       ?: session_sink__cwd(&all->sink, a->pid);
}

/* The state of its library. The first call for a library begins its plan. */
static struct library_state ask_for(struct arrivals *all, struct arrival *a)
{
	struct library_state lib = {0};
	int err = libraries__expect(all->parts.libs, a->file, a->user);

	if (err == -EAGAIN)
		return (struct library_state){.err = -EDQUOT};
	if (err || libraries__look(all->parts.libs, a->file, &lib))
		return (struct library_state){.planned = true, .err = err ?: -ENOENT};
	see_attached(all->parts.kernel, &lib);
	if (lib.planned && !lib.err && a->parts)
		a->lacks = libraries__need(all->parts.libs, a->file, a->parts) != 0;
	return lib;
}

/* A process that is stopped inside its loader has run no library code. */
static bool is_in_loader(const struct arrival *a)
{
	uint64_t pc = a->stop ? ptrace_stop__pc(a->stop) : 0;

	return pc >= a->loader.start && pc < a->loader.end &&
	       ptrace_stop__state(a->stop) == PTRACE_STOP_STOPPED;
}

/* Shows why a process is late although it waited: on a busy machine it stopped too late. */
static void print_stop(const struct arrival *a)
{
	uint64_t held_ns = a->stop ? ptrace_stop__held_ns(a->stop) : 0;
	uint64_t us = (clock_ns(CLOCK_MONOTONIC) - held_ns - a->mapped_ns) / 1000;

	if (held_ns)
		diag_verbose("process %d stopped %" PRIu64 " us after it had mapped its library, "
			     "%s its loader",
			     (int)a->pid, us, is_in_loader(a) ? "in" : "outside");
}

/* The process runs although its library is being planned: it is missing if the plan fails. */
static void remember_unattached(struct arrivals *all, const struct arrival *a)
{
	int err = planned_late__add(all->unattached, a->pid, a->user, a->file);

	if (err)
		refuse(all, a, err);
}

static bool is_library_settled(void *arrivals, const struct library_file *file, int *err)
{
	struct arrivals *all = arrivals;
	struct library_state lib;

	*err = libraries__look(all->parts.libs, file, &lib);
	if (*err)
		return true;
	see_attached(all->parts.kernel, &lib);
	*err = lib.err;
	return lib.planned;
}

static void on_unattached(void *arrivals, pid_t pid, uint32_t n, uid_t user,
			  const struct library_file *file, int err)
{
	struct arrivals *all = arrivals;

	if (pid)
		missing__refused(&all->missing, pid, user, library_file__path(file), err);
	else
		all->missing.n += n;
}

static bool is_still_followed(void *arrivals, pid_t pid)
{
	const struct arrivals *all = arrivals;

	return kernel__follows(all->parts.kernel, pid);
}

static void settle_unattached(struct arrivals *all, bool last)
{
	const struct planned_late_ops ops = {is_library_settled, on_unattached, is_still_followed};

	planned_late__settle(all->unattached, last, &ops, all);
}

/*
 * Without mapping records, a compiler may run its first query before its library is attached to: it
 * runs on while it is an arrival, and is late.
 */
static int attach_beside(struct arrivals *all, const struct wire_exec *e, struct library_file *file)
{
	struct arrival a = {
		.pid = (pid_t)e->pid,
		.user = process_uid((pid_t)e->pid),
		.file = library_file__ref(file),
		.mapped_ns = e->time_ns,
		.until_ns = clock_ns(CLOCK_MONOTONIC) + HOLD_MAX_NS,
	};
	const struct mapped_library library = {
		.time_ns = e->time_ns,
		.path = library_file__path(file),
	};
	int err = 0;

	if (!has_arrived(all, a.pid) && !is_settled(all, &a, &library))
		err = make_wait(all, &a);
	arrival__clear(&a);
	return err;
}

/* With mapping records, that of its library shows whether a process that has ended was in time. */
static void see_parts(struct arrivals *all, const struct wire_exec *e)
{
	uint32_t parts = parts_needed__exec(all->parts_needed, e);
	pid_t pid = (pid_t)e->pid;
	const struct mapped_library *library = ended__find(&all->ended, pid, e->time_ns);

	if (library)
		see_needs(all, pid, -ESRCH, library);
	else if (!all->parts.mappings && libraries__lack(all->parts.libs, parts) &&
		 !has_arrived(all, pid))
		missing__ended(&all->missing, pid);
}

/* Plan a toolchain as soon as cargo or rustup's proxy runs: these start a compiler later. */
int arrivals__on_exec(struct arrivals *all, const struct wire_exec *e)
{
	_free_ char *exe = process_executable((pid_t)e->pid);
	_library_file_ struct library_file *file = NULL;
	bool compiles = exe && is_compiler_program(exe);
	int err = -ENOENT;

	see_parts(all, e);
	if (outsiders__on_exec(all->outsiders, e))
		return -ENOMEM;
	/* Its own mappings show the library of a compiler. */
	if (exe && !(compiles && all->parts.mappings))
		err = broker__library_beside(all->parts.broker, (pid_t)e->pid, exe, &file);
	if (err == -BROKER_SERVED && compiles)
		missing__refused(&all->missing, (pid_t)e->pid, process_uid((pid_t)e->pid), exe,
				 err);
	if (err)
		return 0;
	if (!compiles)
		libraries__expect(all->parts.libs, file, process_uid((pid_t)e->pid));
	return compiles ? attach_beside(all, e, file) : 0;
}

/* Begin or look up the plan of each library. */
static void ask_for_all(struct arrivals *all)
{
	for (uint32_t i = 0; i < all->n; i++) {
		struct arrival *a = &all->items[i];

		a->lib = ask_for(all, a);
		a->state = a->stop ? ptrace_stop__state(a->stop) : PTRACE_STOP_OVER;
		a->asked = true;
	}
}

/* The library may have been written to since it was asked for. */
static bool is_still_attached(struct arrivals *all, const struct arrival *a)
{
	struct library_state lib;

	return !libraries__look(all->parts.libs, a->file, &lib) && lib.planned && !lib.err;
}

/* A process that has not stopped yet waits, too: where it stops decides whether it is late. */
static bool waits(struct arrivals *all, const struct arrival *a, uint64_t now_ns)
{
	if (now_ns >= a->until_ns || (a->asked && a->stop && a->state == PTRACE_STOP_OVER))
		return false;
	if (!a->asked || !a->lib.planned || a->state == PTRACE_STOP_BEGUN)
		return true;
	if (a->stop && !sampling__is_ready(all->parts.sampling, a->pid))
		return true;
	return !a->lib.err && !is_still_attached(all, a);
}

static int release_one(struct arrivals *all, struct arrival *a)
{
	int err = 0;

	print_stop(a);
	if (a->lib.err) {
		refuse(all, a, a->lib.err);
	} else {
		/* The probes of its library are there, or will be while it runs. */
		bool late = !a->lib.planned || !is_in_loader(a) || a->lacks;

		err = a->newcomer ? follow_newcomer(all, a) : 0;
		if (!err && late) {
			missing__late(&all->missing, a->pid, library_file__path(a->file));
			err = session_sink__take(
				&all->sink,
				&(struct record){.kind = RECORD_LATE, .pid = (uint32_t)a->pid});
		}
		if (!a->lib.planned)
			remember_unattached(all, a);
	}
	release(all, a);
	return err == -ESRCH ? 0 : err;
}

static int release_asked(struct arrivals *all, uint64_t now_ns)
{
	uint32_t kept = 0;
	int err = 0;

	for (uint32_t i = 0; i < all->n; i++) {
		struct arrival *a = &all->items[i];

		if (waits(all, a, now_ns))
			all->items[kept++] = *a;
		else
			err = release_one(all, a) ?: err;
	}
	all->n = kept;
	return err;
}

/*
 * The answers can take as long as attaching does, and meanwhile a process maps the rest of its
 * library and stops: read these mappings before it is released, or they count as those of a process
 * that came too early. Processes that arrive by this wait for the next drain: the record of their
 * exec may still be in the ring.
 */
int arrivals__release(struct arrivals *all)
{
	int err = 0;

	ask_for_all(all);
	if (all->n)
		err = read_mappings(all);
	err = release_asked(all, clock_ns(CLOCK_MONOTONIC)) ?: err;
	settle_unattached(all, false);
	return err;
}

int arrivals__let_all_go(struct arrivals *all)
{
	ask_for_all(all);
	return release_asked(all, UINT64_MAX);
}

static void drop(struct arrivals *all)
{
	for (uint32_t i = 0; i < all->n; i++)
		release(all, &all->items[i]);
	all->n = 0;
}

/* A process that is stopped has not begun; any other one may have run all of its compilation. */
void arrivals__end(struct arrivals *all, bool last)
{
	for (uint32_t i = 0; i < all->n; i++) {
		struct arrival *a = &all->items[i];
		bool runs = !a->stop || ptrace_stop__state(a->stop) == PTRACE_STOP_OVER;
		int err = 0;

		if (runs && (!is_library_settled(all, a->file, &err) || err))
			remember_unattached(all, a);
	}
	drop(all);
	if (last)
		settle_unattached(all, true);
}

uint64_t arrivals__waited_ns(const struct arrivals *all, uint32_t *n)
{
	*n = all->held.n;
	return all->held.sum_ns;
}

void arrivals__report(const struct arrivals *all)
{
	uint64_t lost = all->parts.mappings ? mappings__lost(all->parts.mappings) : 0;
	/* Without a scope, unreadable programs need not be followed. */
	uint64_t closed =
		all->parts.mappings && all->scope ? mappings__closed(all->parts.mappings) : 0;

	stop_times__print(&all->held);
	missing__print(&all->missing);
	if (closed)
		diag_warn("%" PRIu64 " programs could not be read: compilers among them are "
			  "missing; run with sudo, or add cap_sys_ptrace",
			  closed);
	if (lost)
		diag_warn("%" PRIu64 " mappings or new programs were not reported, or ended before "
			  "they could be looked at: compilers may be missing, or late",
			  lost);
}

bool arrivals__have_clients(const struct arrivals *all)
{
	return outsiders__have_clients(all->outsiders);
}

void arrivals__report_outsiders(const struct arrivals *all)
{
	outsiders__report(all->outsiders);
}

int arrivals__each_user(struct arrivals *all, libraries_user_fn fn, void *arg)
{
	_free_ pid_t *pids = NULL;
	size_t n = 0;
	int err = kernel__followed(all->parts.kernel, &pids, &n);

	for (size_t i = 0; i < n; i++) {
		_library_file_ struct library_file *file = NULL;
		int none = has_arrived(all, pids[i])
				   ? -ENOENT
				   : broker__only_library(all->parts.broker, pids[i], &file);

		if (none != -ENOENT && none != -ESRCH)
			fn(arg, pids[i], file);
	}
	/* Without a file it was released just now. */
	for (uint32_t i = 0; i < all->n; i++)
		if (all->items[i].file)
			fn(arg, 0, all->items[i].file);
	return err;
}

void arrivals__free(struct arrivals *all)
{
	if (!all)
		return;
	drop(all);
	free(all->items);
	planned_late__free(all->unattached);
	ended__destroy(&all->ended);
	parts_needed__free(all->parts_needed);
	outsiders__free(all->outsiders);
	free(all);
}
