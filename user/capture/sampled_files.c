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
#include "unwind/load.h"

/* Tables that are made at a time. */
#define MAKERS_MAX 2

enum sampled_stage {
	SAMPLED_QUEUED,
	SAMPLED_MAKING,
	SAMPLED_READY, /* its segments are known; it may have no table all the same */
	SAMPLED_FAILED,
};

struct sampled_file {
	enum sampled_stage stage;
	struct library_file *file; /* until its table is made */
	struct library_identity id;
	uid_t user;
	bool foreign; /* the user is neither root nor the invoker */
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

uint32_t sampled_files__find(const struct sampled_files *f, const struct library_identity *id)
{
	for (uint32_t i = 0; i < f->n; i++) {
		const struct library_identity *have = &f->items[i]->id;

		if (have->ino == id->ino && have->dev == id->dev &&
		    library_identity_is_same(have, id))
			return i + 1;
	}
	return 0;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void fail(struct sampled_files *f, struct sampled_file *s, int err)
{
	diag_verbose("stacks end in %s: it has no unwind tables: %s", library_file__path(s->file),
		     strerror(-err));
	s->stage = SAMPLED_FAILED;
	f->n_lost++;
}

static void keep_segments(struct sampled_file *s, const struct unwind_table *t)
{
	s->n_segments = t->n_segments < UNWIND_SEGMENTS_MAX ? t->n_segments : UNWIND_SEGMENTS_MAX;
	memcpy(s->segments, t->segments, s->n_segments * sizeof(s->segments[0]));
}

/* What foreign users leave to others. */
static bool has_room(const struct sampled_files *f, const struct sampled_file *s)
{
	return !s->foreign || sample_tables__left(f->tables) > SAMPLED_KEPT;
}

/* `err` is the result of making `t`. */
static void take_table(struct sampled_files *f, uint32_t at, int err, const struct unwind_table *t)
{
	struct sampled_file *s = f->items[at];

	if (!err && !has_room(f, s))
		err = -EDQUOT;
	if (!err)
		err = sample_tables__add(f->tables, at + 1, t);
	if (err)
		fail(f, s, err);
	else
		s->stage = SAMPLED_READY;
	/* Without a table, code of the file can still be placed. */
	if (t) {
		keep_segments(s, t);
		s->stage = SAMPLED_READY;
	}
	library_file__free(take_ptr(s->file));
}

/* A stored table is read here: that takes less time than the start of a child. */
static void begin(struct sampled_files *f, uint32_t at)
{
	struct sampled_file *s = f->items[at];
	_unwind_table_ struct unwind_table *t = NULL;
	int err = unwind_load__stored(s->file, &t);

	if (err != -ENOENT) {
		take_table(f, at, err, t);
		return;
	}
	err = unwind_job__start(s->file, f->nice, &s->job);
	if (!err)
		err = epoll_watch(f->epoll, unwind_job__fd(s->job));
	if (err) {
		unwind_job__free(take_ptr(s->job));
		take_table(f, at, err, NULL);
		return;
	}
	s->stage = SAMPLED_MAKING;
	f->n_making++;
}

static void begin_queued(struct sampled_files *f)
{
	for (uint32_t i = 0; i < f->n && f->n_making < MAKERS_MAX; i++)
		if (f->items[i]->stage == SAMPLED_QUEUED)
			begin(f, i);
}

static void finish(struct sampled_files *f, uint32_t at)
{
	_unwind_table_ struct unwind_table *t = NULL;
	struct sampled_file *s = f->items[at];
	_unwind_job_ struct unwind_job *job = take_ptr(s->job);
	int err;

	epoll_ctl(f->epoll, EPOLL_CTL_DEL, unwind_job__fd(job), NULL);
	err = unwind_job__finish(job, &t);
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

static bool may_add(const struct sampled_files *f, const struct sampled_file *new)
{
	uint32_t most = sample_tables__numbers(f->tables) - 1, n_user = 0;

	for (uint32_t i = 0; i < f->n; i++)
		n_user += f->items[i]->foreign && f->items[i]->user == new->user;
	if (new->foreign && (n_user >= SAMPLED_PER_USER || f->n >= most / 2))
		return false;
	return f->n < most;
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

static bool is_foreign(const struct sampled_files *f, uid_t user)
{
	return user && user != f->invoker;
}

int sampled_files__add(struct sampled_files *f, struct library_file *file, uid_t user,
		       uint32_t *number)
{
	const struct library_identity *id = library_file__identity(file);
	struct sampled_file new = {.id = *id};
	int err;

	new.user = is_foreign(f, user) ? user : id->uid;
	new.foreign = is_foreign(f, new.user);
	if (!may_add(f, &new)) {
		f->n_lost++;
		return -EDQUOT;
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
