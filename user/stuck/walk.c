// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/walk.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "unwind/step.h"
#include "base/clock.h"
#include "base/diag.h"
#include "plan/library/file.h"
#include "plan/symbols/functions.h"
#include "unwind/job.h"

/* A mapping of code. */
struct walked_mapping {
	struct walked_file *file; /* NULL: it cannot be opened */
	uint64_t bias;
	bool placed; /* `bias` is known */
};

struct walker {
	pid_t pid;
	struct broker *broker;
	struct walked_files *files;
	struct mapped_files *maps;
	struct walked_mapping of[MAPPED_FILES_MAX]; /* by index into maps->items */
};

/* ---- Mappings -------------------------------------------------------------------------------- */

int walker__refresh(struct walker *w, uint64_t until_ns)
{
	struct walked_mapping before[MAPPED_FILES_MAX];
	int err;

	/* Files that are still mapped must not be forgotten in between. */
	memcpy(before, w->of, sizeof(before));
	memset(w->of, 0, sizeof(w->of));
	err = broker__mapped_files(w->broker, w->pid, w->maps);
	if (err)
		w->maps->n = 0;
	for (uint32_t i = 0; i < w->maps->n; i++)
		w->of[i].file = walked_files__get(w->files, w->pid, w->maps, &w->maps->items[i]);
	for (uint32_t i = 0; i < MAPPED_FILES_MAX; i++)
		walked_file__release(before[i].file);
	if (err)
		return err;
	walked_files__wait(w->files, until_ns);
	for (uint32_t i = 0; i < w->maps->n; i++) {
		const struct mapped_file *m = &w->maps->items[i];
		struct walked_mapping *at = &w->of[i];
		const struct unwind_table *t = at->file ? walked_file__table(at->file) : NULL;

		if (t)
			at->placed = unwind_segments__bias(t->segments, t->n_segments, m->start,
							   m->offset, &at->bias);
	}
	return 0;
}

int walker__new(pid_t pid, struct broker *broker, struct walked_files *files, struct walker **out)
{
	_walker_ struct walker *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->pid = pid;
	w->broker = broker;
	w->files = files;
	w->maps = calloc(1, sizeof(*w->maps));
	if (!w->maps)
		return -ENOMEM;
	*out = take_ptr(w);
	return 0;
}

void walker__free(struct walker *w)
{
	if (!w)
		return;
	for (uint32_t i = 0; i < MAPPED_FILES_MAX; i++)
		walked_file__release(w->of[i].file);
	free(w->maps);
	free(w);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* Add the call, and set its rule. */
static int add_call(const struct walker *w, const struct unwind_registers *r, struct calls *out,
		    struct wire_unwind_rule *rule)
{
	struct call c = {.pc = unwind_registers__pc(r), .sp = r->sp};
	const struct mapped_file *maps = w->maps->items;
	size_t behind = bisect(w->maps->n, k, maps[k].start <= c.pc);

	*rule = (struct wire_unwind_rule){.base = WIRE_UNWIND_NONE};
	if (behind && c.pc < maps[behind - 1].end) {
		const struct walked_mapping *m = &w->of[behind - 1];

		c.path = mapped_files__text(w->maps, &maps[behind - 1]);
		c.file = m->file;
		if (m->placed) {
			c.addr = c.pc - m->bias;
			*rule = unwind_table__rule(walked_file__table(m->file), c.addr);
		}
	}
	return array__add(&out->items, &out->n, &out->capacity, &c);
}

static bool read_word(void *ctx, uint64_t addr, uint64_t *word)
{
	return copied__word(ctx, addr, word);
}

int walker__walk(const struct walker *w, const struct stopped *s, struct copied *memory,
		 struct calls *out)
{
	struct unwind_registers r = {
		.pc = s->pc, .sp = s->sp, .bp = s->bp, .r11 = s->r11, .interrupted = true};
	enum unwind_stepped stepped = UNWIND_CALLER;

	*out = (struct calls){0};
	while (stepped == UNWIND_CALLER && out->n < WALK_MOST) {
		struct wire_unwind_rule rule;
		int err = add_call(w, &r, out, &rule);

		if (err)
			return err;
		stepped = unwind_registers__step(&r, rule, read_word, memory);
	}
	out->whole = stepped == UNWIND_WHOLE;
	return 0;
}

void calls__clear(struct calls *c)
{
	free(c->items);
	*c = (struct calls){0};
}

/* ---- Files of code --------------------------------------------------------------------------- */

/* For how long a table may be made. */
#define MAKING_NS 20000000000ull

struct walked_file {
	struct walked_files *all;
	struct library_file *file; /* NULL: the vdso */
	struct library_identity id;
	uint32_t refs;
	bool wants_table; /* and has no job */
	struct unwind_table *table;
	struct unwind_job *job;
	uint64_t begun_ns; /* of the job */
	bool symbols_read;
	struct functions *functions;
};

struct walked_files {
	struct broker *broker;
	struct walked_file **items;
	uint32_t n, capacity;
	uint32_t n_making;
	size_t table_bytes, symbol_bytes;
};

int walked_files__new(struct broker *broker, struct walked_files **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->broker = broker;
	return 0;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void take_table(struct walked_file *f, struct unwind_table *t)
{
	f->wants_table = false;
	f->table = t;
	f->all->table_bytes += unwind_table__bytes(t);
}

static bool has_room(const struct walked_files *all)
{
	return all->table_bytes < WALKED_TABLES_MAX;
}

static void begin(struct walked_file *f)
{
	struct unwind_table *t = NULL;

	f->wants_table = false;
	if (!has_room(f->all) || unwind_job__begin(f->file, 0, true, &t, &f->job))
		return;
	if (t) {
		take_table(f, t);
		return;
	}
	f->begun_ns = clock_ns(CLOCK_MONOTONIC);
	f->all->n_making++;
}

static void give_up(struct walked_file *f)
{
	if (f->job)
		f->all->n_making--;
	unwind_job__free(take_ptr(f->job));
}

/* Without a table, stacks end in the file. */
static void settle(struct walked_file *f)
{
	struct unwind_table *t;

	if (!f->job)
		return;
	if (unwind_job__read(f->job)) {
		if (!unwind_job__finish(f->job, &t)) {
			if (has_room(f->all))
				take_table(f, t);
			else
				unwind_table__free(t);
		}
		give_up(f);
	} else if (clock_ns(CLOCK_MONOTONIC) - f->begun_ns > MAKING_NS) {
		give_up(f);
	}
}

/* The number of jobs that run on, and descriptors to wait for them. */
static uint32_t advance(struct walked_files *all, struct pollfd *fds)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < all->n; i++)
		settle(all->items[i]);
	for (uint32_t i = 0; i < all->n; i++) {
		struct walked_file *f = all->items[i];

		if (f->wants_table && all->n_making < UNWIND_JOBS_MAX)
			begin(f);
		if (f->job)
			fds[n++] = (struct pollfd){unwind_job__fd(f->job), POLLIN, 0};
	}
	return n;
}

void walked_files__wait(struct walked_files *all, uint64_t until_ns)
{
	struct pollfd fds[UNWIND_JOBS_MAX];
	uint32_t n;

	while ((n = advance(all, fds))) {
		uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

		if (now_ns >= until_ns)
			return;
		poll(fds, n, (int)((until_ns - now_ns) / 1000000) + 1);
	}
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void file__free(struct walked_file *f)
{
	if (f->table)
		f->all->table_bytes -= unwind_table__bytes(f->table);
	if (f->functions)
		f->all->symbol_bytes -= functions__memory(f->functions);
	unwind_table__free(f->table);
	give_up(f);
	functions__free(f->functions);
	library_file__free(f->file);
	free(f);
}

static void forget_unused(struct walked_files *all)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < all->n; i++) {
		if (all->items[i]->refs)
			all->items[n++] = all->items[i];
		else
			file__free(all->items[i]);
	}
	all->n = n;
}

static int open_file(struct walked_file *f, pid_t pid, const struct mapped_files *maps,
		     const struct mapped_file *m)
{
	struct unwind_table *t;
	int err;

	/* The vdso: of the kernel, which has no file. All processes have the same one. */
	if (!m->id.ino && !m->id.dev) {
		if (!unwind_vdso__table(&t))
			take_table(f, t);
		return 0;
	}
	err = broker__mapped_file(f->all->broker, pid, maps, m, &f->file);
	if (err)
		return err;
	f->id = *library_file__identity(f->file);
	f->wants_table = true;
	return 0;
}

struct walked_file *walked_files__get(struct walked_files *all, pid_t pid,
				      const struct mapped_files *maps, const struct mapped_file *m)
{
	_free_ struct walked_file *f = NULL;
	for (uint32_t i = 0; i < all->n; i++) {
		if (!library_identity_is_one(&all->items[i]->id, &m->id))
			continue;
		all->items[i]->refs++;
		return all->items[i];
	}
	f = calloc(1, sizeof(*f));
	if (all->n == WALKED_FILES_MAX || !has_room(all) || all->symbol_bytes > WALKED_SYMBOLS_MAX)
		forget_unused(all);
	if (!f || all->n == WALKED_FILES_MAX ||
	    array__reserve_one(&all->items, all->n, &all->capacity, sizeof(*all->items)))
		return NULL;
	f->all = all;
	if (open_file(f, pid, maps, m))
		return NULL;
	f->refs = 1;
	all->items[all->n++] = f;
	return take_ptr(f);
}

void walked_file__release(struct walked_file *f)
{
	if (f)
		f->refs--;
}

const struct unwind_table *walked_file__table(const struct walked_file *f)
{
	return f->table;
}

const struct library_file *walked_file__file(const struct walked_file *f)
{
	return f->file;
}

/* ---- Functions ------------------------------------------------------------------------------- */

/* This process reads the symbols, so a FUSE server must not have them. */
static bool is_withheld(const struct library_file *file)
{
	struct file_mount m;

	return file_mount__of(library_file__fd(file), &m) || m.fuse;
}

static void read_symbols(struct walked_file *f)
{
	char hidden[256];

	f->symbols_read = true;
	if (!f->file)
		return;
	if (unwind_load__functions(f->file, &f->functions)) {
		if (f->all->symbol_bytes > WALKED_SYMBOLS_MAX || is_withheld(f->file))
			return;
		diag_hold_errors(hidden, sizeof(hidden));
		functions__read(f->file, &f->functions);
		diag_hold_errors(NULL, 0);
	}
	if (f->functions)
		f->all->symbol_bytes += functions__memory(f->functions);
}

const char *walked_file__symbol(struct walked_file *f, uint64_t addr)
{
	struct function_range range;

	if (!f->symbols_read)
		read_symbols(f);
	return f->functions && functions__find(f->functions, addr, &range) ? range.symbol : NULL;
}

void walked_files__free(struct walked_files *all)
{
	if (!all)
		return;
	for (uint32_t i = 0; i < all->n; i++)
		file__free(all->items[i]);
	free(all->items);
	free(all);
}
