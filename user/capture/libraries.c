// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/libraries.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/epoll.h"
#include "base/invoker.h"
#include "base/signals.h"
#include "capture/file_watch.h"
#include "capture/library_table.h"
#include "capture/retired_numbers.h"
#include "plan/job.h"
#include "proc/processes.h"

/* To find out which libraries are in use, the mappings of all followed processes are read. */
#define SCAN_NS 100000000ull
/* A library that is written to while it is planned is planned again after this time. */
#define SETTLE_NS 100000000ull
#define TRIES_MAX 8
/* CPU time, and time, of a foreign plan while another user's waits. rustc's takes 1 s. */
#define TURN_CPU_NS 2000000000ull
#define TURN_NS	    10000000000ull
/* Proofs of the plan of an attached library; a user can cause one by a change of the ctime. */
#define CHECKS_MAX 16
/* Lines for each event that a user can repeat at will. */
#define LINES_MAX 10
/* libraries__add() gives up after this time. A plan takes some 1 s. */
#define ADD_NS 60000000000ull

struct libraries {
	struct libraries_ops ops;
	void *ctx;
	int epoll; /* of the planning jobs and the file watch */
	int nice;  /* of the jobs */
	uid_t invoker;
	int watch; /* of files; negative: there is no inotify */
	struct retired_numbers *old;
	struct library_table table;
	uint64_t scanned_ns;
	uint64_t n_cut_off;
	bool warned_no_watch;
	unsigned int n_written; /* times that a library was written to */
	unsigned int n_failed;	/* foreign libraries that failed */
};

static uint64_t now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

int libraries__new(const struct libraries_ops *ops, void *ctx, int nice, struct libraries **out)
{
	_libraries_ struct libraries *l = calloc(1, sizeof(*l));
	_invoker_ struct invoker inv = {0};
	int err;

	if (!l)
		return -ENOMEM;
	l->ops = *ops;
	l->ctx = ctx;
	l->nice = nice;
	l->watch = -1;
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll < 0)
		return -errno;
	err = invoker__get(&inv) ?: retired_numbers__new(&l->old);
	if (err)
		return err;
	l->invoker = inv.uid;
	/* Without a file watch, a change is noticed when a process maps the library. */
	l->watch = file_watch_new();
	if (l->watch < 0)
		diag_verbose("cannot watch libraries for changes: %s", strerror(-l->watch));
	else
		err = epoll_watch(l->epoll, l->watch);
	if (err)
		return err;
	*out = take_ptr(l);
	return 0;
}

/* ---- Items ----------------------------------------------------------------------------------- */

/* Closing the job's pipe is not enough: the child of another job may hold it as well. */
static struct plan_job *take_job(struct libraries *l, struct library *lib)
{
	if (lib->job)
		epoll_ctl(l->epoll, EPOLL_CTL_DEL, plan_job__fd(lib->job), NULL);
	return take_ptr(lib->job);
}

/* Free the parts that a failed library does not need. */
static void let_go(struct libraries *l, struct library *lib)
{
	plan_job__free(take_job(l, lib));
	if (lib->watch >= 0)
		file_watch_remove(l->watch, lib->watch);
	lib->watch = -1;
	library_file__free(take_ptr(lib->file));
	plan__free(take_ptr(lib->plan));
}

static void forget(struct libraries *l, struct library *lib)
{
	let_go(l, lib);
	library_table__remove(&l->table, lib);
}

static uint64_t inode_of(const struct libraries *l, const struct library_file *file)
{
	return l->ops.inode ? l->ops.inode(l->ctx, library_file__fd(file)) : 0;
}

static struct library *find_file(const struct libraries *l, const struct library_file *file)
{
	return library_table__find(&l->table, file, inode_of(l, file));
}

/* ---- Which are in use ------------------------------------------------------------------------ */

/*
 * A process that cannot be read may use any library, but must not keep the libraries of other
 * unprivileged users in use.
 */
static bool may_use_any(const struct libraries *l, const struct library *lib, uid_t user)
{
	return !lib->foreign || lib->user == user || !user || user == l->invoker;
}

static void mark_used(void *libraries, pid_t pid, const struct library_file *file)
{
	struct libraries *l = libraries;
	struct library *lib = file ? find_file(l, file) : NULL;
	uid_t user = file ? 0 : process_uid(pid);

	if (lib)
		lib->in_use = true;
	for (uint32_t i = 0; i < l->table.n && !file; i++)
		if (may_use_any(l, l->table.items[i], user))
			l->table.items[i]->in_use = true;
}

/* -EAGAIN: the last scan was less than SCAN_NS ago. */
static int scan(struct libraries *l)
{
	if (now() < l->scanned_ns + SCAN_NS)
		return -EAGAIN;
	for (uint32_t i = 0; i < l->table.n; i++)
		l->table.items[i]->in_use = false;
	l->scanned_ns = now();
	return l->ops.each_user(l->ctx, mark_used, l);
}

struct used_by {
	const struct libraries *l;
	const struct library *lib;
	pid_t *pids;
	uint32_t n;
	uint32_t capacity;
	uint32_t n_known; /* of these pids, processes that certainly use it */
};

static void add_pid(void *used_by, pid_t pid, const struct library_file *file)
{
	struct used_by *u = used_by;

	if (!pid || (file && !library__is_file(u->lib, file, inode_of(u->l, file))) ||
	    (!file && !may_use_any(u->l, u->lib, process_uid(pid))) ||
	    array__reserve_one(&u->pids, u->n, &u->capacity, sizeof(*u->pids)))
		return;
	u->pids[u->n++] = pid;
	u->n_known += !!file;
}

/*
 * The number is free again once all processes that may use the library are gone. Returns how many
 * certainly use it.
 */
static uint32_t take_away(struct libraries *l, const struct library *lib)
{
	struct used_by u = {.l = l, .lib = lib};

	l->ops.detach(l->ctx, lib->number);
	/* After an error its other users are unknown: the number stays taken. */
	if (l->ops.each_user(l->ctx, add_pid, &u))
		free(u.pids);
	else
		retired_numbers__add(l->old, lib->number, lib->user, now(), u.pids, u.n);
	return u.n_known;
}

/* Detach up to half of a user's quota at once, as a scan takes long. */
static int make_room(struct libraries *l, const struct library *of)
{
	struct library *lib;
	int err = scan(l);

	for (unsigned int i = 0; !err && i < LIBRARIES_PER_USER / 2; i++) {
		lib = library_table__idlest(&l->table, of);
		if (!lib)
			return i ? 0 : -EDQUOT;
		diag_verbose("detached from %s: no compiler uses it",
			     library_file__path(lib->file));
		l->ops.detach(l->ctx, lib->number);
		retired_numbers__add(l->old, lib->number, lib->user, now(), NULL, 0);
		forget(l, lib);
	}
	return err;
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* The processes that use the library run on without probes. */
static void cut_off(struct libraries *l, struct library *lib)
{
	const char *path = library_file__path(lib->file);
	uint32_t n = take_away(l, lib);
	bool prints = l->n_written++ < LINES_MAX;

	if (prints && n)
		diag_warn("%s was written to while %u compiler%s used it: detached from it, the "
			  "rest of %s is missing",
			  path, n, n == 1 ? "" : "s", n == 1 ? "that compiler" : "them");
	else if (prints)
		diag_warn("%s was written to: detached from it, until a compiler uses it again",
			  path);
	l->n_cut_off += n;
	forget(l, lib);
}

/* -ESTALE: the library changed during TRIES_MAX plans. */
static int begin_anew(struct libraries *l, struct library *lib)
{
	struct library_file *file;
	int err = ++lib->tries < TRIES_MAX ? library_file__reopen(lib->file, &file) : -ESTALE;

	plan_job__free(take_job(l, lib));
	if (err)
		return err;
	library_file__free(lib->file);
	lib->file = file;
	lib->id = *library_file__identity(file);
	lib->inode = inode_of(l, file);
	lib->stage = LIBRARY_QUEUED;
	lib->begin_ns = now() + SETTLE_NS;
	return 0;
}

static void fail(struct libraries *l, struct library *lib, int err);

static void on_written(struct libraries *l, struct library *lib)
{
	int err = 0;

	if (lib->stage == LIBRARY_ATTACHED)
		cut_off(l, lib);
	else if (lib->stage != LIBRARY_FAILED)
		err = begin_anew(l, lib);
	if (err)
		fail(l, lib, err);
}

/*
 * A new link or new rights change the ctime, and so does a write through a mapping, whose mtime can
 * be set back. Only a look at the code distinguishes these, which takes some 10 ms.
 */
static bool still_holds(struct library *lib)
{
	if (lib->stage != LIBRARY_ATTACHED || library_file__is_same(lib->file))
		return true;
	return ++lib->checks <= CHECKS_MAX && library_file__accept_ctime(lib->file) &&
	       !plan_load__check(lib->file, lib->plan);
}

static void check(struct libraries *l, struct library *lib)
{
	struct library_identity now;

	if (!lib->file)
		return;
	/* The file keeps its ctime until attach() proves the plan again. */
	if (!library_file__stat(lib->file, &now) && now.size == lib->id.size &&
	    now.mtime_ns == lib->id.mtime_ns && still_holds(lib))
		lib->id.ctime_ns = now.ctime_ns;
	else
		on_written(l, lib);
}

static void on_change(void *libraries, int watch, enum file_change change)
{
	struct libraries *l = libraries;

	for (uint32_t i = l->table.n; i-- > 0;) {
		struct library *lib = l->table.items[i];

		if (watch < 0)
			check(l, lib);
		else if (lib->watch == watch && change == FILE_WRITTEN)
			on_written(l, lib);
		else if (lib->watch == watch)
			check(l, lib);
	}
}

static void read_changes(struct libraries *l)
{
	if (l->watch >= 0)
		file_watch_read(l->watch, on_change, l);
}

/* The library as it is now, or NULL. */
static struct library *find(struct libraries *l, const struct library_file *file)
{
	struct library_identity id;
	struct library *lib;

	if (library_file__stat(file, &id))
		return NULL;
	lib = find_file(l, file);
	if (lib && !library_identity_is_same(&lib->id, &id)) {
		read_changes(l);
		lib = find_file(l, file);
		if (lib && lib->stage == LIBRARY_FAILED)
			forget(l, lib);
		else if (lib)
			check(l, lib);
		lib = find_file(l, file);
	}
	if (lib)
		lib->used_ns = now();
	return lib;
}

/* ---- Failures -------------------------------------------------------------------------------- */

/* Remember a failure by the identity of the file: a later file may have its inode number. */
static void fail(struct libraries *l, struct library *lib, int err)
{
	struct library *oldest;

	let_go(l, lib);
	l->n_failed += lib->foreign;
	lib->stage = LIBRARY_FAILED;
	lib->state = (struct library_state){.planned = true, .err = err};
	lib->used_ns = now();
	oldest = library_table__oldest_failed(&l->table, lib);
	if (oldest && oldest != lib)
		forget(l, oldest);
}

/* ---- Plans ----------------------------------------------------------------------------------- */

/* An overlay copies a file that is opened for writing, and shows the inode of the copy then. */
static bool is_copied(const struct libraries *l, const struct library *lib)
{
	_library_file_ struct library_file *file = NULL;

	return lib->inode &&
	       (library_file__reopen(lib->file, &file) || inode_of(l, file) != lib->inode);
}

static int attach(struct libraries *l, struct library *lib, struct plan **plan)
{
	int err;

	/* The plan was proven for the file as it was when it was opened, and so were the hits,
	 * which plan_load__check() does not look at. */
	if (!library_file__is_same(lib->file) &&
	    ((*plan)->hits || !library_file__accept_ctime(lib->file) ||
	     plan_load__check(lib->file, *plan) || !library_file__is_same(lib->file)))
		return -ESTALE;
	if (library_table__is_probed(&l->table, lib))
		return -EEXIST;
	lib->number = WIRE_MAX_LIBS;
	err = l->ops.attach(l->ctx, *plan, lib->foreign, &lib->number);
	/* After a copy, the probes are on an inode that another library may have. */
	if (!err && is_copied(l, lib))
		err = -ESTALE;
	for (enum plan_part part = 0; part < PLAN_PARTS && !err; part++)
		if (l->ops.parts & PLAN_PART_BIT(part))
			err = l->ops.attach_part(l->ctx, lib->number, *plan, part);
	if (err && lib->number != WIRE_MAX_LIBS)
		take_away(l, lib);
	if (err)
		return err;
	lib->id.ctime_ns = library_file__identity(lib->file)->ctime_ns;
	lib->stage = LIBRARY_ATTACHED;
	lib->plan = take_ptr(*plan);
	lib->state = (struct library_state){.planned = true, .attached_ns = now()};
	for (enum plan_part part = 0; part < PLAN_PARTS; part++)
		if (l->ops.parts & PLAN_PART_BIT(part))
			lib->state.part_ns[part] = lib->state.attached_ns;
	return 0;
}

/* After -ESTALE the library is not attached any more. */
static int attach_part(struct libraries *l, struct library *lib, enum plan_part part)
{
	int err = lib->part_err[part];

	if (err || lib->state.part_ns[part])
		return err;
	err = l->ops.attach_part(l->ctx, lib->number, lib->plan, part);
	if (err == -ESTALE || (!err && is_copied(l, lib))) {
		cut_off(l, lib);
		return -ESTALE;
	}
	lib->part_err[part] = err;
	lib->state.part_ns[part] = err ? 0 : now();
	return err;
}

int libraries__need(struct libraries *l, const struct library_file *file, uint32_t parts)
{
	struct library *lib = find(l, file);
	int err = 0, err2;

	if (!lib || lib->stage != LIBRARY_ATTACHED)
		return 0;
	for (enum plan_part part = 0; part < PLAN_PARTS && err != -ESTALE; part++) {
		err2 = parts & PLAN_PART_BIT(part) ? attach_part(l, lib, part) : 0;
		err = err2 ?: err;
	}
	return err;
}

bool libraries__lack(const struct libraries *l, uint32_t parts)
{
	for (uint32_t i = 0; i < l->table.n; i++)
		if (l->table.items[i]->stage == LIBRARY_ATTACHED &&
		    library_state__lacks(&l->table.items[i]->state, parts, UINT64_MAX))
			return true;
	return false;
}

/* Plan the library again if its file has changed meanwhile. */
static int attach_or_wait(struct libraries *l, struct library *lib, struct plan **plan)
{
	int err = attach(l, lib, plan);

	if (err != -ESTALE && err != -EAGAIN)
		return err;
	err = begin_anew(l, lib);
	if (err == -ESTALE && l->n_failed < LINES_MAX)
		diag_error("cannot attach to %s: it is being written to",
			   library_file__path(lib->file));
	return err;
}

/* Waits for the plan, if it is still being made. */
static void finish(struct libraries *l, struct library *lib)
{
	_plan_job_ struct plan_job *job = take_job(l, lib);
	_plan_ struct plan *plan = NULL;
	char hidden[256];
	int err;

	if (lib->foreign && l->n_failed >= LINES_MAX)
		diag_hold_errors(hidden, sizeof(hidden));
	err = plan_job__finish(job, &plan);
	diag_hold_errors(NULL, 0);
	if (!err)
		err = attach_or_wait(l, lib, &plan);
	else if (!library_file__accept_ctime(lib->file))
		err = begin_anew(l, lib);
	if (err)
		fail(l, lib, err);
}

/* Takes the stored plan of the library, if there is one, which lacks only the cache hits. */
static int begin_job(struct libraries *l, struct library *lib, struct plan *stored)
{
	int err = l->ops.hits ? plan_job__start_hits(lib->file, stored, l->nice, &lib->job)
			      : plan_job__start(lib->file, l->nice, &lib->job);

	if (!err)
		err = epoll_watch(l->epoll, plan_job__fd(lib->job));
	if (err)
		diag_error("cannot read %s: %s", library_file__path(lib->file), strerror(-err));
	return err;
}

/*
 * A library may take the place of a copy of itself, as when a toolchain is installed again. On a
 * busy machine a plan of its own takes longer than its compilers are held. No user's plan is used
 * for another's library, and only one is tried, as a user may have many files of one size.
 */
static int take_plan_of_copy(const struct libraries *l, const struct library *lib,
			     struct plan **plan)
{
	for (uint32_t i = 0; i < l->table.n; i++) {
		const struct library *of = l->table.items[i];

		if (of->stage == LIBRARY_ATTACHED && of->user == lib->user &&
		    of->id.size == lib->id.size)
			return plan_load__of_copy(lib->file, of->plan, plan) ? -ENOENT : 0;
	}
	return -ENOENT;
}

/* A stored plan is read here: that takes less time than the start of a child. */
static void begin(struct libraries *l, struct library *lib)
{
	_plan_ struct plan *plan = NULL;
	int err = plan_load__stored(lib->file, &plan);

	if (err == -ENOENT)
		err = take_plan_of_copy(l, lib, &plan);
	library_table__begin(&l->table, lib);
	lib->begin_ns = now();
	if (err == -ENOENT || (!err && l->ops.hits))
		err = begin_job(l, lib, take_ptr(plan));
	else if (!err)
		err = attach_or_wait(l, lib, &plan);
	if (err)
		fail(l, lib, err);
}

/*
 * A foreign plan that has had its turn is worth less than one that waits: it begins anew behind it,
 * so that no file that takes long keeps other users from being recorded.
 */
static void end_turn(struct libraries *l)
{
	struct library *lib = library_table__waited_for(&l->table, l->old, now());

	if (!lib || !lib->job ||
	    (plan_job__cpu_ns(lib->job) < TURN_CPU_NS && now() < lib->begin_ns + TURN_NS))
		return;
	plan_job__free(take_job(l, lib));
	if (++lib->tries < TRIES_MAX) {
		library_table__requeue(&l->table, lib);
		return;
	}
	if (l->n_failed < LINES_MAX)
		diag_error("cannot plan %s: it takes too long while libraries of other users wait",
			   library_file__path(lib->file));
	fail(l, lib, -ETIME);
}

static void begin_plans(struct libraries *l)
{
	struct library *lib;

	end_turn(l);
	while ((lib = library_table__next(&l->table, l->old, now())))
		begin(l, lib);
}

/* ---- New ones -------------------------------------------------------------------------------- */

/* Watch before opening: no later write is missed. */
static int open_and_watch(struct libraries *l, struct library *lib, const struct library_file *file)
{
	int err;

	lib->watch = l->watch >= 0 ? file_watch_add(l->watch, library_file__fd(file)) : -1;
	if (l->watch >= 0 && lib->watch < 0 && !l->warned_no_watch) {
		diag_warn("cannot watch %s for changes: %s; raise fs.inotify.max_user_watches, or "
			  "change no library while its compilers run",
			  library_file__path(file), strerror(-lib->watch));
		l->warned_no_watch = true;
	}
	err = library_file__reopen(file, &lib->file);
	if (err)
		return err;
	lib->id = *library_file__identity(lib->file);
	lib->inode = inode_of(l, lib->file);
	return 0;
}

static bool is_foreign(const struct libraries *l, uid_t user)
{
	return user != 0 && user != l->invoker;
}

static int add_library(struct libraries *l, const struct library_file *file, uid_t user,
		       struct library **out)
{
	const struct library_identity *id = library_file__identity(file);
	struct library new = {.id = *id, .used_ns = now(), .watch = -1};
	struct library *lib;
	int err = 0;

	new.user = is_foreign(l, user) ? user : id->uid;
	new.foreign = is_foreign(l, new.user);
	if (!library_table__has_room(&l->table, &new, retired_numbers__n(l->old)))
		err = make_room(l, &new);
	err = err ?: library_table__add(&l->table, &new, &lib);
	if (err)
		return err;
	err = open_and_watch(l, lib, file);
	if (err)
		forget(l, lib);
	else
		*out = lib;
	return err;
}

int libraries__expect(struct libraries *l, const struct library_file *file, uid_t user)
{
	struct library *lib = find(l, file);
	int err = lib ? 0 : add_library(l, file, user, &lib);

	begin_plans(l);
	return err;
}

int libraries__look(struct libraries *l, const struct library_file *file,
		    struct library_state *state)
{
	const struct library *lib = find(l, file);

	if (!lib)
		return -ENOENT;
	*state = lib->state;
	return 0;
}

int libraries__look_inode(const struct libraries *l, dev_t dev, ino_t ino,
			  struct library_state *state)
{
	for (uint32_t i = 0; i < l->table.n; i++) {
		const struct library *lib = l->table.items[i];

		if (!lib->file || !library_file__is_inode(lib->file, dev, ino))
			continue;
		*state = lib->state;
		return 0;
	}
	return -ENOENT;
}

static const char *why_not(int err)
{
	if (err == -EDQUOT)
		return "too many libraries of its user are in use";
	if (err == -ETIMEDOUT)
		return "planning it takes longer than a minute; try again when the machine is less "
		       "busy";
	return err == -ESTALE ? "it changes all the time" : strerror(-err);
}

int libraries__add(struct libraries *l, const struct library_file *file, uid_t user)
{
	struct pollfd pfd = {.fd = l->epoll, .events = POLLIN};
	uint64_t end_ns = now() + ADD_NS;
	struct library_state state;

	for (;;) {
		int err = libraries__expect(l, file, user);

		/* A stored plan is there now. */
		if (!libraries__look(l, file, &state) && state.planned)
			return state.err;
		if (signals_end_recording())
			return -EINTR;
		if (now() > end_ns)
			err = -ETIMEDOUT;
		if (err && err != -EAGAIN)
			return diag_error_r(err, "cannot attach to %s: %s",
					    library_file__path(file), why_not(err));
		poll(&pfd, 1, 20);
		libraries__settle(l);
	}
}

/* ---- Events ---------------------------------------------------------------------------------- */

int libraries__fd(const struct libraries *l)
{
	return l->epoll;
}

void libraries__settle(struct libraries *l)
{
	const struct retired_numbers_ops ops = {l->ops.follows, l->ops.release};

	read_changes(l);
	for (uint32_t i = l->table.n; i-- > 0;)
		if (l->table.items[i]->job && plan_job__read(l->table.items[i]->job))
			finish(l, l->table.items[i]);
	retired_numbers__settle(l->old, now(), &ops, l->ctx);
	begin_plans(l);
}

unsigned int libraries__attached(const struct libraries *l)
{
	return library_table__count(&l->table, LIBRARY_ATTACHED, NULL);
}

uint64_t libraries__cut_off(const struct libraries *l)
{
	return l->n_cut_off;
}

void libraries__free(struct libraries *l)
{
	if (!l)
		return;
	while (l->table.n)
		forget(l, l->table.items[l->table.n - 1]);
	library_table__destroy(&l->table);
	cleanup_close_p(&l->watch);
	retired_numbers__free(l->old);
	cleanup_close_p(&l->epoll);
	free(l);
}
