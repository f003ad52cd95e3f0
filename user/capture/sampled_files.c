// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/sampled_files.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/epoll.h"
#include "base/invoker.h"
#include "unwind/job.h"
#include "unwind/vdso.h"

/* Of UNWIND_JOBS_MAX. */
#define FOREIGN_JOBS_MAX 1

uint64_t sampled_user_bytes = 9u << 20;

enum sampled_stage {
	SAMPLED_QUEUED,
	SAMPLED_MAKING,
	SAMPLED_READY, /* its segments are known; it may have no table all the same */
	SAMPLED_FAILED,
};

struct sampled_file {
	enum sampled_stage stage;
	struct library_file *file; /* until its table is made; the vdso has none */
	struct library_identity id;
	uid_t user;
	bool foreign; /* the user is */
	bool refused; /* no table was taken, as a foreign user may have no more */
	uint32_t bytes;
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
		if (library_identity_is_one(&f->items[i]->id, id))
			return i + 1;
	return 0;
}

/* A foreign user who maps a file first must not take its table away from others. */
uint32_t sampled_files__find(struct sampled_files *f, const struct library_identity *id, uid_t user)
{
	uint32_t number = number_of(f, id);
	struct sampled_file *s = number ? f->items[number - 1] : NULL;

	if (!s)
		return 0;
	s->foreign = s->foreign && sampled_files__is_foreign(f, user_of(f, id, user));
	return s->refused && !s->foreign ? 0 : number;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void warn(struct sampled_files *f)
{
	if (!f->warned)
		diag_warn("there is no room for the unwind tables of more files: stacks end in "
			  "them");
	f->warned = true;
}

static void fail(struct sampled_files *f, struct sampled_file *s, int err)
{
	if (err == -EDQUOT || err == -ENOSPC)
		warn(f);
	diag_verbose("stacks end in %s: it has no unwind tables: %s",
		     s->file ? library_file__path(s->file) : "the vdso", strerror(-err));
	s->stage = SAMPLED_FAILED;
	f->n_lost++;
}

static void keep_segments(struct sampled_file *s, const struct unwind_table *t)
{
	s->n_segments = t->n_segments < UNWIND_SEGMENTS_MAX ? t->n_segments : UNWIND_SEGMENTS_MAX;
	memcpy(s->segments, t->segments, s->n_segments * sizeof(s->segments[0]));
}

static bool has_room(const struct sampled_files *f, const struct sampled_file *s)
{
	uint64_t sum = s->bytes;

	for (uint32_t i = 0; i < f->n; i++)
		if (f->items[i] != s && f->items[i]->foreign && f->items[i]->user == s->user)
			sum += f->items[i]->bytes;
	return !s->foreign || (sum <= sampled_user_bytes &&
			       sample_tables__left(f->tables) >= SAMPLED_KEPT + s->bytes);
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

/* `err` is the result of making `t`. */
static void take_table(struct sampled_files *f, uint32_t at, int err, const struct unwind_table *t)
{
	struct sampled_file *s = f->items[at];

	s->bytes = err ? 0 : unwind_table__bytes(t);
	s->refused = !err && !has_room(f, s);
	err = err ?: s->refused ? -EDQUOT : sample_tables__add(f->tables, at + 1, t);
	if (err)
		s->bytes = 0;
	if (err)
		fail(f, s, err);
	else
		s->stage = SAMPLED_READY;
	/* Without a table, code of the file can still be placed. */
	if (t) {
		keep_segments(s, t);
		s->stage = SAMPLED_READY;
		if (!s->refused)
			make_known(f, at);
	}
	library_file__free(take_ptr(s->file));
}

static void begin(struct sampled_files *f, uint32_t at)
{
	struct sampled_file *s = f->items[at];
	_unwind_table_ struct unwind_table *t = NULL;
	int err = unwind_job__begin(s->file, f->nice, &t, &s->job);

	if (!err && s->job)
		err = epoll_watch(f->epoll, unwind_job__fd(s->job));
	if (err || t) {
		unwind_job__free(take_ptr(s->job));
		take_table(f, at, err, t);
		return;
	}
	s->stage = SAMPLED_MAKING;
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

static void finish(struct sampled_files *f, uint32_t at)
{
	_unwind_table_ struct unwind_table *t = NULL;
	struct sampled_file *s = f->items[at];
	_unwind_job_ struct unwind_job *job = take_ptr(s->job);
	int err;

	epoll_ctl(f->epoll, EPOLL_CTL_DEL, unwind_job__fd(job), NULL);
	err = unwind_job__finish(job, !s->foreign, &t);
	f->n_making--;
	take_table(f, at, err, t);
}

int sampled_files__fd(const struct sampled_files *f)
{
	return f->epoll;
}

bool sampled_files__settle(struct sampled_files *f)
{
	bool more = false;

	for (uint32_t i = 0; i < f->n && f->n_making; i++) {
		struct sampled_file *s = f->items[i];

		if (s->stage != SAMPLED_MAKING || !unwind_job__read(s->job))
			continue;
		finish(f, i);
		more = true;
	}
	begin_queued(f);
	return more;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static bool has_number(const struct sampled_files *f, uid_t user)
{
	uint32_t most = sample_tables__numbers(f->tables) - 1, n_user = 0, n_foreign = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		n_user += f->items[i]->foreign && f->items[i]->user == user;
		n_foreign += f->items[i]->foreign;
	}
	if (sampled_files__is_foreign(f, user) &&
	    (n_user >= SAMPLED_PER_USER || n_foreign >= most / 2))
		return false;
	return f->n < most;
}

bool sampled_files__may_add(struct sampled_files *f, const struct library_identity *id, uid_t user)
{
	bool may = number_of(f, id) || has_number(f, user_of(f, id, user));

	if (!may)
		warn(f);
	return may;
}

static int add(struct sampled_files *f, const struct sampled_file *new)
{
	_free_ struct sampled_file *s = malloc(sizeof(*s));
	int err =
		s ? array__reserve_one(&f->items, f->n, &f->capacity, sizeof(*f->items)) : -ENOMEM;

	if (err)
		return err;
	*s = *new;
	f->items[f->n++] = take_ptr(s);
	return 0;
}

int sampled_files__add_vdso(struct sampled_files *f, uint32_t *number)
{
	const struct sampled_file new = {.stage = SAMPLED_FAILED};
	_unwind_table_ struct unwind_table *t = NULL;
	int err;

	*number = number_of(f, &new.id);
	err = *number ? 0 : add(f, &new);
	if (err || *number)
		return err;
	*number = f->n;
	err = unwind_vdso__table(&t);
	take_table(f, f->n - 1, err, t);
	return f->sink->file ? f->sink->file(f->sink->ctx, *number, NULL) : 0;
}

/* Begin again for a file that was refused: only the table is missing. */
static void retry(struct sampled_files *f, uint32_t number, struct library_file *file)
{
	struct sampled_file *s = f->items[number - 1];

	s->file = library_file__ref(file);
	s->stage = SAMPLED_QUEUED;
	s->refused = false;
	f->n_lost--;
}

int sampled_files__add(struct sampled_files *f, struct library_file *file, uid_t user,
		       uint32_t *number)
{
	const struct library_identity *id = library_file__identity(file);
	struct sampled_file new = {.id = *id, .user = user_of(f, id, user)};
	int err;

	if (!sampled_files__may_add(f, id, user))
		return -EDQUOT;
	new.foreign = sampled_files__is_foreign(f, new.user);
	*number = number_of(f, id);
	if (*number) {
		retry(f, *number, file);
		begin_queued(f);
		return 0;
	}
	err = add(f, &new);
	if (err)
		return err;
	f->items[f->n - 1]->file = library_file__ref(file);
	*number = f->n;
	err = f->sink->file ? f->sink->file(f->sink->ctx, *number, file) : 0;
	begin_queued(f);
	return err;
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

void sampled_files__free(struct sampled_files *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->n; i++) {
		unwind_job__free(f->items[i]->job);
		library_file__free(f->items[i]->file);
		free(f->items[i]);
	}
	free(f->items);
	cleanup_close_p(&f->epoll);
	free(f);
}
