// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "unwind/preserved.h"
#include "unwind/step.h"

/* A mapping of code. */
struct walked_mapping {
	struct walked_file *file; /* NULL: it cannot be opened */
	uint64_t bias;
	bool placed; /* `bias` is known */
};

struct walker {
	pid_t pid;
	struct look *look;
	struct walked_files *files;
	struct mapped_files *maps;
	struct walked_mapping of[MAPPED_FILES_MAX]; /* by index into maps->items */
};

/* ---- Mappings -------------------------------------------------------------------------------- */

static void release_all(struct walker *w)
{
	for (uint32_t i = 0; i < MAPPED_FILES_MAX; i++)
		walked_file__release(w->of[i].file);
	memset(w->of, 0, sizeof(w->of));
}

/* Mappings of one file come in a row. */
static struct walked_file *file_at(struct walker *w, uint32_t i)
{
	return walked_files__get(w->files, w->pid, w->maps, &w->maps->items[i]);
}

static void place(struct walker *w, uint32_t i)
{
	const struct mapped_file *m = &w->maps->items[i];
	struct walked_mapping *at = &w->of[i];
	const struct unwind_table *t = at->file ? walked_file__table(at->file) : NULL;

	if (!t)
		return;
	at->placed =
		unwind_segments__bias(t->segments, t->n_segments, m->start, m->offset, &at->bias);
}

int walker__refresh(struct walker *w, uint64_t until_ns)
{
	struct walked_mapping before[MAPPED_FILES_MAX];
	int err;

	/* Files that are still mapped must not be forgotten in between. */
	memcpy(before, w->of, sizeof(before));
	memset(w->of, 0, sizeof(w->of));
	err = look__mapped_files(w->look, w->pid, w->maps);
	if (err)
		w->maps->n = 0;
	for (uint32_t i = 0; i < w->maps->n; i++)
		w->of[i].file = file_at(w, i);
	for (uint32_t i = 0; i < MAPPED_FILES_MAX; i++)
		walked_file__release(before[i].file);
	if (err)
		return err;
	walked_files__wait(w->files, until_ns);
	for (uint32_t i = 0; i < w->maps->n; i++)
		place(w, i);
	return 0;
}

int walker__new(pid_t pid, struct look *look, struct walked_files *files, struct walker **out)
{
	_walker_ struct walker *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->pid = pid;
	w->look = look;
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
	release_all(w);
	free(w->maps);
	free(w);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static const struct walked_mapping *mapping_at(const struct walker *w, uint64_t pc, uint32_t *i)
{
	const struct mapped_files *maps = w->maps;
	size_t behind = bisect(maps->n, k, maps->items[k].start <= pc);

	if (!behind || pc >= maps->items[behind - 1].end)
		return NULL;
	*i = (uint32_t)behind - 1;
	return &w->of[behind - 1];
}

/* Add the call, and set its rule. */
static int add_call(const struct walker *w, const struct unwind_registers *r, struct calls *out,
		    struct wire_unwind_rule *rule)
{
	struct call c = {
		.pc = unwind_registers__pc(r), .sp = r->sp, .bp = r->bp, .bp_lost = r->bp_lost};
	uint32_t i;
	const struct walked_mapping *m = mapping_at(w, c.pc, &i);

	*rule = (struct wire_unwind_rule){.base = WIRE_UNWIND_NONE};
	if (m) {
		c.path = mapped_files__text(w->maps, &w->maps->items[i]);
		c.file = m->file;
	}
	if (m && m->placed) {
		c.addr = c.pc - m->bias;
		*rule = unwind_table__rule(walked_file__table(m->file), c.addr);
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

/* ---- Registers that functions preserve ------------------------------------------------------- */

/* Calls within one, of which the innermost ones are not asked. Most functions save all they use. */
#define REACH 16

bool calls__preserved(const struct calls *c, uint32_t i, unsigned int reg, const struct stopped *s,
		      struct copied *memory, uint64_t *value)
{
	while (i--) {
		const struct call *inner = &c->items[i];
		const struct cfa_preserved *p =
			inner->file ? walked_file__preserved(inner->file, inner->addr) : NULL;

		if (!p || p->kind[reg] == CFA_UNKNOWN)
			return false;
		if (p->kind[reg] == CFA_AT_CFA)
			return copied__word(memory, c->items[i + 1].sp + (uint64_t)p->at[reg],
					    value);
	}
	*value = s->preserved[reg];
	return true;
}

static int in_order(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* The calls of one file from `i` on; returns the next one's. */
static uint32_t find_in_file(const struct call *calls, uint32_t n, uint32_t i)
{
	uint64_t addrs[UNWIND_PRESERVED_MAX];
	struct walked_file *file = calls[i].file;
	uint32_t wanted = 0;

	for (; i < n && calls[i].file == file && wanted < UNWIND_PRESERVED_MAX; i++)
		if (!wanted || calls[i].addr != addrs[wanted - 1])
			addrs[wanted++] = calls[i].addr;
	walked_file__find_preserved(file, addrs, wanted);
	return i;
}

int calls__find_preserved(const struct calls *c, const uint32_t *calls, uint32_t n)
{
	_free_ struct call *wanted = calloc((size_t)n * REACH + 1, sizeof(*wanted));
	uint32_t n_wanted = 0;

	if (!wanted)
		return -ENOMEM;
	for (uint32_t k = 0, next = 0; k < n; k++) {
		uint32_t end = calls[k], first = end > REACH ? end - REACH : 0;

		for (uint32_t i = first > next ? first : next; i < end; i++) {
			const struct call *inner = &c->items[i];

			if (inner->file && !walked_file__preserved(inner->file, inner->addr))
				wanted[n_wanted++] = *inner;
		}
		next = end;
	}
	if (n_wanted)
		qsort(wanted, n_wanted, sizeof(*wanted), in_order);
	for (uint32_t i = 0; i < n_wanted;)
		i = find_in_file(wanted, n_wanted, i);
	return 0;
}
