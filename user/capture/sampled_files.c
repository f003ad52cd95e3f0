// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/sampled_files.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/epoll.h"
#include "base/invoker.h"
#include "unwind/job.h"

#define NEVER UINT64_MAX

/* Of UNWIND_JOBS_MAX. */
#define FOREIGN_JOBS_MAX 1

/* For tables that are being made when a recording ends. */
#define LAST_WAIT_NS 1000000000

uint64_t sampled_user_bytes = 9u << 20;
uint64_t sampled_kept_bytes;

enum sampled_stage {
	SAMPLED_FREE,	  /* the number is of no file */
	SAMPLED_REMOVED,  /* stacks may still be walked by it */
	SAMPLED_DRAINING, /* none are, but some that were may not have been read */
	SAMPLED_QUEUED,
	SAMPLED_MAKING,
	SAMPLED_READY, /* its segments are known; it may have no table all the same */
	SAMPLED_FAILED,
};

/* A process has the greatest of these, of all files that it maps. */
enum llvm_rank {
	LLVM_NOT_SAID,
	LLVM_IN_COMPILER, /* the compiler's own library is LLVM's, as far as it is there */
	LLVM_NOT_SHOWN,	  /* it is LLVM's library, and does not show the list of a thread */
	LLVM_SHOWN,
	LLVM_REPLACED, /* something else generates code */
};

struct sampled_file {
	enum sampled_stage stage;
	enum llvm_rank llvm;
	char *no_llvm;		   /* text for that, but for LLVM_SHOWN; or NULL */
	struct library_file *file; /* until its table is made; the vdso has none */
	struct library_identity id;
	uid_t user;
	bool foreign;	     /* the user is */
	bool refused;	     /* no table was taken, as there was no room */
	uint32_t bytes;	     /* of its table; refused: that it would take */
	uint32_t n_holders;  /* processes that have mapped it */
	bool was_held;	     /* there was one */
	uint64_t used;	     /* when it was found last: see sampled_files.ticks */
	uint64_t refused_at; /* as sampled_files.n_released */
	struct unwind_job *job;
	uint32_t n_segments;
	struct elf_segment segments[UNWIND_SEGMENTS_MAX];
};

struct sampled_files {
	struct sample_tables *tables;
	const struct session_sink *sink;
	int epoll; /* of the jobs */
	int nice;
	uid_t invoker;
	struct sampled_file **items; /* by number - 1; each is an allocation of its own */
	uint32_t n;
	uint32_t capacity;
	uint32_t n_making;
	uint64_t ticks;	     /* files that were found or added */
	uint64_t n_released; /* files whose last holder released them */
	uint64_t n_lost;
	bool warned; /* a line has reported that there is no room for a table, or for a file */
};

int sampled_files__new(struct sample_tables *tables, const struct session_sink *sink, int nice,
		       struct sampled_files **out)
{
	_sampled_files_ struct sampled_files *f = calloc(1, sizeof(*f));
	_invoker_ struct invoker inv = {0};
	int err;

	if (!f)
		return -ENOMEM;
	f->tables = tables;
	f->sink = sink;
	f->nice = nice;
	f->epoll = epoll_create1(EPOLL_CLOEXEC);
	err = f->epoll < 0 ? -errno : invoker__get(&inv);
	if (err)
		return err;
	f->invoker = inv.uid;
	*out = take_ptr(f);
	return 0;
}

bool sampled_files__is_foreign(const struct sampled_files *f, uid_t user)
{
	return user && user != f->invoker;
}

/*
 * The user whom a file counts for. A process comes first, as an overlay or a link can show files of
 * root to anybody.
 */
static uid_t user_of(const struct sampled_files *f, const struct library_identity *id, uid_t user)
{
	return sampled_files__is_foreign(f, user) ? user : id->uid;
}

static uint32_t number_of(const struct sampled_files *f, const struct library_identity *id)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (f->items[i]->stage >= SAMPLED_QUEUED &&
		    library_identity_is_one(&f->items[i]->id, id))
			return i + 1;
	return 0;
}

/* ---- Room ------------------------------------------------------------------------------------ */

/* What files are counted by. */
enum room {
	ROOM_NUMBERS,
	ROOM_BYTES,
};

static uint64_t size_in(const struct sampled_file *s, enum room room)
{
	if (s->stage < SAMPLED_QUEUED)
		return 0;
	return room == ROOM_NUMBERS ? 1 : s->refused ? 0 : s->bytes;
}

/*
 * The vdso is always held by somebody. A file that waits for its turn can be removed too: one that
 * is mapped only for a moment would keep others out on a busy machine.
 */
static bool is_removable(const struct sampled_file *s)
{
	bool is_idle = s->stage >= SAMPLED_READY || s->stage == SAMPLED_QUEUED;

	return is_idle && !s->n_holders && s->id.ino;
}

/* What a party has, without `but`, and how much of that cannot be removed. */
struct share {
	uint64_t all, held;
};

struct shares {
	struct share user, foreign, own;
};

static void count(struct share *to, const struct sampled_file *s, uint64_t size)
{
	to->all += size;
	to->held += is_removable(s) ? 0 : size;
}

static struct shares shares_of(const struct sampled_files *f, uid_t user, enum room room,
			       const struct sampled_file *but)
{
	struct shares shares = {0};

	for (uint32_t i = 0; i < f->n; i++) {
		const struct sampled_file *s = f->items[i];
		uint64_t size = s == but ? 0 : size_in(s, room);

		count(s->foreign ? &shares.foreign : &shares.own, s, size);
		if (s->foreign && s->user == user)
			count(&shares.user, s, size);
	}
	return shares;
}

/* What there is for one foreign user, for all, and for everybody. */
struct limits {
	uint64_t user, foreign, all;
};

static uint64_t kept_bytes(const struct sampled_files *f)
{
	return sampled_kept_bytes ?: sample_tables__bytes(f->tables) / 2;
}

static struct limits limits_of(const struct sampled_files *f, enum room room)
{
	uint64_t bytes = sample_tables__bytes(f->tables), kept = kept_bytes(f);
	uint64_t numbers = sample_tables__numbers(f->tables) - 1;

	if (room == ROOM_NUMBERS)
		return (struct limits){SAMPLED_PER_USER, numbers / 2, numbers};
	return (struct limits){sampled_user_bytes, bytes > kept ? bytes - kept : 0, bytes};
}

/* A candidate to be removed. Where foreign users compete, the one who has the most loses first. */
struct victim {
	uint32_t number; /* 0: there is none */
	uint64_t share;
	uint64_t used;
};

/* `of`: a user whose files only are asked for; `own`: files that are not foreign, too. */
static uint32_t least_needed(const struct sampled_files *f, const uid_t *of, bool own,
			     enum room room)
{
	struct victim best = {0};
	struct shares shares = {0};
	uid_t counted = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		const struct sampled_file *s = f->items[i];
		struct victim v = {i + 1, 0, s->used};

		if (!is_removable(s) || (!s->foreign && !own) ||
		    (of && (!s->foreign || s->user != *of)))
			continue;
		if (s->foreign && !own) {
			if (counted != s->user)
				shares = shares_of(f, s->user, room, NULL);
			counted = s->user;
			v.share = shares.user.all;
		}
		if (!best.number || v.share > best.share ||
		    (v.share == best.share && v.used < best.used))
			best = v;
	}
	return best.number;
}

static bool remove_file(struct sampled_files *f, uint32_t number)
{
	struct sampled_file *s = number ? f->items[number - 1] : NULL;

	if (!s)
		return false;
	/* Stacks that were taken while it was mapped end in it. */
	f->n_lost += s->stage == SAMPLED_QUEUED && s->was_held;
	library_file__free(s->file);
	sample_tables__remove(f->tables, number);
	free(s->no_llvm);
	*s = (struct sampled_file){.stage = SAMPLED_REMOVED};
	return true;
}

/* Whether a file of `size` would fit if all that can be removed were. */
static bool can_fit(const struct sampled_files *f, const struct sampled_file *s, enum room room,
		    uint64_t size)
{
	const struct shares has = shares_of(f, s->user, room, s);
	const struct limits most = limits_of(f, room);

	if (s->foreign &&
	    (has.user.held + size > most.user || has.foreign.held + size > most.foreign))
		return false;
	return has.own.held + has.foreign.held + size <= most.all;
}

/*
 * Remove files until one of `size` more is within all limits. False: those that are held leave no
 * room. Own files that are not held make room for foreign ones beyond what is kept for them.
 */
static bool make_room(struct sampled_files *f, const struct sampled_file *s, enum room room,
		      uint64_t size)
{
	const struct limits most = limits_of(f, room);
	bool done = can_fit(f, s, room, size);

	while (done) {
		const struct shares has = shares_of(f, s->user, room, s);
		uint32_t number;

		if (s->foreign && has.user.all + size > most.user)
			number = least_needed(f, &s->user, false, room);
		else if (s->foreign && has.foreign.all + size > most.foreign)
			number = least_needed(f, NULL, false, room);
		else if (has.own.all + has.foreign.all + size > most.all)
			number = least_needed(f, NULL, true, room);
		else
			return true;
		done = remove_file(f, number);
	}
	return false;
}

/* A foreign user who maps a file first must not take its table away from others. */
uint32_t sampled_files__find(struct sampled_files *f, const struct library_identity *id, uid_t user)
{
	uint32_t number = number_of(f, id);
	struct sampled_file *s = number ? f->items[number - 1] : NULL;

	if (!s)
		return 0;
	s->used = ++f->ticks;
	if (s->foreign && !sampled_files__is_foreign(f, user_of(f, id, user))) {
		s->foreign = false;
		s->refused_at = NEVER;
	}
	/* There may be room by now. */
	if (s->refused && s->stage >= SAMPLED_READY && s->refused_at != f->n_released &&
	    can_fit(f, s, ROOM_BYTES, s->bytes))
		return 0;
	return number;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void warn(struct sampled_files *f)
{
	if (!f->warned)
		diag_warn("there is no room for the unwind tables of more files: stacks end in "
			  "them");
	f->warned = true;
}

/* The user half still reports the mappings of each process, a little later. */
static void make_known(const struct sampled_files *f, uint32_t at)
{
	const struct sampled_file *s = f->items[at];
	int err = sample_tables__know(f->tables, at + 1, s->file, s->segments, s->n_segments);

	if (err)
		diag_verbose("first stacks in %s may be cut: %s",
			     s->file ? library_file__path(s->file) : "the vdso", strerror(-err));
}

/* The area may have bytes enough and no place that is large enough. */
static int put_table(struct sampled_files *f, uint32_t at, const struct unwind_table *t)
{
	struct sampled_file *s = f->items[at];
	bool own;
	int err;

	if (!make_room(f, s, ROOM_BYTES, unwind_table__bytes(t)))
		return -EDQUOT;
	do {
		err = sample_tables__add(f->tables, at + 1, t);
		own = !s->foreign || shares_of(f, s->user, ROOM_BYTES, s).own.all > kept_bytes(f);
	} while (err == -ENOSPC && remove_file(f, least_needed(f, NULL, own, ROOM_BYTES)));
	return err;
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/*
 * Note what the file says of LLVM. rustc loads code generators by these names; which of its files
 * are LLVM's, code shows, but for one whose code is not known. Without memory nothing is said.
 */
static void note_llvm(struct sampled_file *s, int err, const struct llvm_plan *llvm)
{
	const char *path = library_file__path(s->file), *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	enum llvm_problem problem = llvm ? llvm->problem : LLVM_HIDDEN;
	const char *why = NULL;
	int n = 0;

	free(take_ptr(s->no_llvm));
	s->llvm = LLVM_NOT_SAID;
	if (begins(name, "librustc_codegen_") && !begins(name, "librustc_codegen_llvm")) {
		s->llvm = LLVM_REPLACED;
		n = asprintf(&s->no_llvm, "%s generates code, not LLVM", name);
	} else if (!problem && !err) {
		s->llvm = LLVM_SHOWN;
	} else if (problem == LLVM_HIDDEN && begins(name, "librustc_driver")) {
		s->llvm = LLVM_IN_COMPILER;
		n = asprintf(&s->no_llvm, "LLVM is a part of %s, which does not show it", name);
	} else if (begins(name, "libLLVM") ||
		   (llvm && problem != LLVM_NO_LIBRARY && problem != LLVM_HIDDEN)) {
		s->llvm = LLVM_NOT_SHOWN;
		why = s->refused ? "there is no room for its unwind table"
		      : err	 ? strerror(-err)
				 : llvm_problem_text(problem);
		n = asprintf(&s->no_llvm, "%s: %s", name, why);
	}
	if (n < 0)
		s->no_llvm = NULL;
	if (s->no_llvm)
		diag_verbose("what LLVM does is not known: %s", s->no_llvm);
}

const char *sampled_files__no_llvm(const struct sampled_files *f, const uint16_t *numbers,
				   uint32_t n)
{
	const struct sampled_file *most = NULL;

	for (uint32_t i = 0; i < n; i++) {
		const struct sampled_file *s = f->items[numbers[i] - 1];

		if (!most || s->llvm > most->llvm)
			most = s;
	}
	return most ? most->no_llvm : NULL;
}

/* `err` is the result of making `t`. */
static void take_table(struct sampled_files *f, uint32_t at, int err, const struct unwind_table *t)
{
	struct sampled_file *s = f->items[at];
	struct llvm_plan *llvm = t ? t->llvm : NULL;

	err = err ?: put_table(f, at, t);
	s->refused = t && (err == -EDQUOT || err == -ENOSPC);
	s->refused_at = f->n_released;
	s->bytes = t && (!err || s->refused) ? unwind_table__bytes(t) : 0;
	s->stage = SAMPLED_READY;
	if (err) {
		if (err == -EDQUOT || err == -ENOSPC)
			warn(f);
		diag_verbose("stacks end in %s: it has no unwind tables: %s",
			     s->file ? library_file__path(s->file) : "the vdso", strerror(-err));
		s->stage = SAMPLED_FAILED;
		f->n_lost++;
	}
	/* Without a table, code of the file can still be placed. */
	if (t) {
		s->n_segments =
			t->n_segments < UNWIND_SEGMENTS_MAX ? t->n_segments : UNWIND_SEGMENTS_MAX;
		memcpy(s->segments, t->segments, s->n_segments * sizeof(s->segments[0]));
		s->stage = SAMPLED_READY;
		if (!s->refused)
			make_known(f, at);
	}
	/* Samples are as good without: nothing is known of LLVM then. */
	if (s->file && llvm && !err)
		err = session_sink__take(f->sink, &(struct record){.kind = RECORD_LLVM,
								   .pid = RECORD_NO_PID,
								   .file = {at + 1, NULL, llvm}});
	if (s->file && llvm && !err && !llvm->problem)
		err = sample_tables__set_llvm(f->tables, at + 1, &llvm->layout);
	if (s->file)
		note_llvm(s, err, llvm);
	library_file__free(take_ptr(s->file));
}

static void begin(struct sampled_files *f, uint32_t at)
{
	struct sampled_file *s = f->items[at];
	_unwind_table_ struct unwind_table *t = NULL;
	int err;

	/* It must not make room for itself. */
	s->stage = SAMPLED_MAKING;
	err = unwind_job__begin(s->file, f->nice, !s->foreign, &t, &s->job);
	if (!err && s->job)
		err = epoll_watch(f->epoll, unwind_job__fd(s->job));
	if (err || t) {
		unwind_job__free(take_ptr(s->job));
		take_table(f, at, err, t);
		return;
	}
	f->n_making++;
}

static uint32_t count_making(const struct sampled_files *f, bool foreign)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n; i++)
		n += f->items[i]->stage == SAMPLED_MAKING && f->items[i]->foreign == foreign;
	return n;
}

static void begin_some(struct sampled_files *f, bool foreign)
{
	for (uint32_t i = 0; i < f->n && f->n_making < UNWIND_JOBS_MAX; i++) {
		if (f->items[i]->stage != SAMPLED_QUEUED || f->items[i]->foreign != foreign)
			continue;
		if (foreign && count_making(f, true) >= FOREIGN_JOBS_MAX)
			return;
		begin(f, i);
	}
}

static void begin_queued(struct sampled_files *f)
{
	begin_some(f, false);
	begin_some(f, true);
}

int sampled_files__fd(const struct sampled_files *f)
{
	return f->epoll;
}

/* Take the tables that are done, and begin others. True: there was one. */
static bool take_done(struct sampled_files *f)
{
	bool more = false;

	for (uint32_t i = 0; i < f->n && f->n_making; i++) {
		struct sampled_file *s = f->items[i];
		_unwind_table_ struct unwind_table *t = NULL;
		_unwind_job_ struct unwind_job *job = NULL;
		int err;

		if (s->stage != SAMPLED_MAKING || !unwind_job__read(s->job))
			continue;
		job = take_ptr(s->job);
		epoll_ctl(f->epoll, EPOLL_CTL_DEL, unwind_job__fd(job), NULL);
		err = unwind_job__finish(job, &t);
		f->n_making--;
		take_table(f, i, err, t);
		more = true;
	}
	begin_queued(f);
	return more;
}

/*
 * Called after a drain: no record has the number of a file that was removed before the last call.
 */
bool sampled_files__settle(struct sampled_files *f)
{
	bool removed = false;

	for (uint32_t i = 0; i < f->n; i++) {
		struct sampled_file *s = f->items[i];

		if (s->stage == SAMPLED_DRAINING) {
			s->stage = SAMPLED_FREE;
		} else if (s->stage == SAMPLED_REMOVED) {
			s->stage = SAMPLED_DRAINING;
			removed = true;
		}
	}
	if (removed)
		sample_tables__end_removals(f->tables);
	return take_done(f);
}

static bool waits_for_own(const struct sampled_files *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (!f->items[i]->foreign &&
		    (f->items[i]->stage == SAMPLED_MAKING || f->items[i]->stage == SAMPLED_QUEUED))
			return true;
	return false;
}

void sampled_files__await_own(struct sampled_files *f, uint64_t most_ns)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), until_ns = now_ns + most_ns;

	for (; waits_for_own(f) && now_ns < until_ns; now_ns = clock_ns(CLOCK_MONOTONIC)) {
		struct pollfd pfd = {.fd = f->epoll, .events = POLLIN};

		poll(&pfd, 1, (int)((until_ns - now_ns) / 1000000) + 1);
		take_done(f);
	}
}

/* ---- Files ----------------------------------------------------------------------------------- */

bool sampled_files__may_add(struct sampled_files *f, const struct library_identity *id, uid_t user)
{
	const struct sampled_file new = {
		.user = user_of(f, id, user),
		.foreign = sampled_files__is_foreign(f, user_of(f, id, user)),
	};
	bool may = number_of(f, id) || make_room(f, &new, ROOM_NUMBERS, 1);

	if (!may)
		warn(f);
	return may;
}

static int add_sampled_file(struct sampled_files *f, const struct sampled_file *new,
			    uint32_t *number)
{
	uint32_t at = 0;
	int err;

	while (at < f->n && f->items[at]->stage != SAMPLED_FREE)
		at++;
	if (at == f->n) {
		_free_ struct sampled_file *s = malloc(sizeof(*s));

		if (f->n + 1 == sample_tables__numbers(f->tables))
			return -EAGAIN;
		err = s ? array__reserve_one(&f->items, f->n, &f->capacity, sizeof(*f->items))
			: -ENOMEM;
		if (err)
			return err;
		f->items[f->n++] = take_ptr(s);
	}
	*f->items[at] = *new;
	f->items[at]->used = ++f->ticks;
	*number = at + 1;
	return 0;
}

/* `file` may be NULL. */
static int report_file(const struct sampled_files *f, uint32_t number, struct library_file *file)
{
	const struct record r = {
		.kind = RECORD_FILE, .pid = RECORD_NO_PID, .file = {number, file, NULL}};

	return session_sink__take(f->sink, &r);
}

int sampled_files__add_vdso(struct sampled_files *f, uint32_t *number)
{
	const struct sampled_file new = {.stage = SAMPLED_FAILED}; /* of root */
	_unwind_table_ struct unwind_table *t = NULL;
	int err;

	*number = number_of(f, &new.id);
	if (*number)
		return 0;
	err = add_sampled_file(f, &new, number);
	if (err)
		return err;
	err = unwind_vdso__table(&t);
	take_table(f, *number - 1, err, t);
	return report_file(f, *number, NULL);
}

/* The caller, who may hold this file then, has its number: it makes no room for others. */
static void begin_queued_but(struct sampled_files *f, uint32_t number)
{
	f->items[number - 1]->n_holders++;
	begin_queued(f);
	f->items[number - 1]->n_holders--;
}

int sampled_files__add(struct sampled_files *f, struct library_file *file, uid_t user,
		       uint32_t *number)
{
	const struct library_identity *id = library_file__identity(file);
	struct sampled_file new = {
		.stage = SAMPLED_QUEUED, .id = *id, .user = user_of(f, id, user)};
	struct sampled_file *s;
	int err;

	if (!sampled_files__may_add(f, id, user))
		return -EDQUOT;
	new.foreign = sampled_files__is_foreign(f, new.user);
	*number = number_of(f, id);
	if (*number) {
		/* It was refused: only the table is missing. */
		s = f->items[*number - 1];
		s->file = library_file__ref(file);
		s->stage = SAMPLED_QUEUED;
		s->refused = false;
		s->bytes = 0;
		f->n_lost--;
		begin_queued_but(f, *number);
		return 0;
	}
	err = add_sampled_file(f, &new, number);
	if (err)
		return err;
	f->items[*number - 1]->file = library_file__ref(file);
	err = report_file(f, *number, file);
	begin_queued_but(f, *number);
	return err;
}

void sampled_files__hold(struct sampled_files *f, uint32_t number)
{
	f->items[number - 1]->n_holders++;
	f->items[number - 1]->was_held = true;
}

void sampled_files__release(struct sampled_files *f, uint32_t number)
{
	f->n_released += !--f->items[number - 1]->n_holders;
}

int sampled_files__bias(const struct sampled_files *f, uint32_t number, uint64_t start,
			uint64_t offset, uint64_t *bias)
{
	const struct sampled_file *s = f->items[number - 1];

	if (s->stage == SAMPLED_QUEUED || s->stage == SAMPLED_MAKING)
		return -EAGAIN;
	return unwind_segments__bias(s->segments, s->n_segments, start, offset, bias) ? 0 : -ENOENT;
}

uint64_t sampled_files__lost(const struct sampled_files *f)
{
	return f->n_lost;
}

/*
 * Store the tables that are being made. A short recording would throw them away, as would the next
 * one, and each would take the CPU time.
 */
static void finish_own(struct sampled_files *f)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), until_ns = now_ns + LAST_WAIT_NS;

	for (uint32_t i = 0; i < f->n; i++) {
		struct sampled_file *s = f->items[i];
		_unwind_table_ struct unwind_table *t = NULL;

		if (!s->job || s->foreign)
			continue;
		for (; !unwind_job__read(s->job) && now_ns < until_ns;
		     now_ns = clock_ns(CLOCK_MONOTONIC)) {
			struct pollfd pfd = {.fd = unwind_job__fd(s->job), .events = POLLIN};

			poll(&pfd, 1, (int)((until_ns - now_ns) / 1000000) + 1);
		}
		if (unwind_job__read(s->job) == 1)
			unwind_job__finish(s->job, &t);
	}
}

void sampled_files__free(struct sampled_files *f)
{
	if (!f)
		return;
	finish_own(f);
	for (uint32_t i = 0; i < f->n; i++) {
		unwind_job__free(f->items[i]->job);
		library_file__free(f->items[i]->file);
		free(f->items[i]->no_llvm);
		free(f->items[i]);
	}
	free(f->items);
	cleanup_close_p(&f->epoll);
	free(f);
}
