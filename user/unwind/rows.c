// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/rows.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"

/* That of glibc's ld.so has 61 bytes. */
#define ENTRY_MAX 256

/* A function of .eh_frame, or code that it may not describe. */
enum kind { RECORD, PLT, ENTRY };

struct function {
	uint64_t start;
	uint64_t end;
	enum kind kind;
	uint32_t at; /* offset of its record, or number of the PLT */
};

struct functions {
	struct function *items;
	uint32_t n;
	uint32_t capacity;
};

static void functions__destroy(struct functions *f)
{
	free(f->items);
}

/* ---- Functions ------------------------------------------------------------------------------- */

/* Add the part of a function that lies in the segment it starts in. */
static int add_function(struct functions *f, const struct unwind_input *in, struct function new)
{
	for (uint32_t i = 0; i < in->n_segments; i++) {
		const struct elf_segment *seg = &in->segments[i];
		uint64_t end = seg->addr + seg->size;

		if (new.start < seg->addr || new.start >= end)
			continue;
		new.end = new.end < end ? new.end : end;
		if (f->n == UNWIND_ROWS_MAX)
			return -EFBIG;
		return array__add(&f->items, &f->n, &f->capacity, &new);
	}
	return 0;
}

static int list_others(const struct unwind_input *in, struct functions *f)
{
	struct function entry = {.start = in->entry, .kind = ENTRY};
	bool covered = false;
	int err = 0;

	for (uint32_t i = 0; !err && i < in->n_plts; i++) {
		const struct unwind_plt *plt = &in->plts[i];
		struct function new = {.start = plt->start, .kind = PLT, .at = i};

		new.end = plt->start + plt->length;
		err = add_function(f, in, new);
	}
	for (uint32_t i = 0; i < f->n && in->entry && !covered; i++)
		covered = f->items[i].start <= in->entry && in->entry < f->items[i].end;
	if (err || !in->entry || covered ||
	    __builtin_add_overflow(in->entry, ENTRY_MAX, &entry.end))
		return err;
	return add_function(f, in, entry);
}

/* A record before other code at the same place; records in the order of the section. */
static int by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static int add_row(struct unwind_rows *r, uint32_t at, uint32_t rule)
{
	const struct unwind_row row = {at, rule};

	if (r->n && r->rows[r->n - 1].rule == rule)
		return 0;
	if (r->n == UNWIND_ROWS_MAX)
		return -EFBIG;
	return array__add(&r->rows, &r->n, &r->capacity, &row);
}

/* The rows of the current function go there, and end at this address. */
struct target {
	struct unwind_rows *rows;
	uint64_t end;
};

/* A cfa_run_fn. Runs come in rising order, and functions too. */
static int add_run(void *ctx, uint64_t start, uint64_t end, struct wire_unwind_rule rule)
{
	struct target *to = ctx;
	struct unwind_rows *r = to->rows;
	uint32_t number, at;
	int err;

	end = end < to->end ? end : to->end;
	if (start >= end)
		return 0;
	at = (uint32_t)(start - r->start);
	err = unwind_rules__number(&r->rules, rule, &number);
	if (!err && at - r->end > (r->n ? UNWIND_PADDING_MAX : 0))
		err = add_row(r, r->end, 0);
	err = err ?: add_row(r, at, number);
	r->end = (uint32_t)(end - r->start);
	return err;
}

static int add_rows(struct unwind_rows *r, const struct unwind_input *in,
		    struct eh_frame_reader *reader, const struct function *f, uint64_t end)
{
	const struct wire_unwind_rule outermost = {.base = WIRE_UNWIND_END};
	struct target to = {r, end};
	struct eh_fde fde;
	int err;

	switch (f->kind) {
	case PLT:
		return unwind_plt__run(&in->plts[f->at], end, add_run, &to);
	case ENTRY:
		return add_run(&to, f->start, end, outermost);
	default:
		if (!eh_frame_reader__at(reader, f->at, &fde))
			return 0;
		err = cfa__run(&in->frame, &fde, add_run, &to);
		r->functions++;
		r->unreadable += err == -EBADMSG;
		return err == -EBADMSG ? 0 : err;
	}
}

int unwind_rows__read(const struct unwind_input *in, struct unwind_rows *out)
{
	__cleanup(functions__destroy) struct functions f = {};
	struct eh_frame_reader reader;
	struct eh_fde fde;
	int err = 0;

	eh_frame_reader__init(&reader, &in->frame);
	while (!err && eh_frame_reader__next(&reader, &fde)) {
		struct function new = {.start = fde.start, .at = fde.at};

		/* A function without code is one that the linker has left out. */
		if (fde.length && !__builtin_add_overflow(fde.start, fde.length, &new.end))
			err = add_function(&f, in, new);
	}
	err = err ?: list_others(in, &f);
	if (err)
		return err;
	if (!f.n)
		return -ENODATA;
	qsort(f.items, f.n, sizeof(*f.items), by_start);
	out->unreadable = reader.unreadable;
	out->start = f.items[0].start / WIRE_UNWIND_PAGE_BYTES * WIRE_UNWIND_PAGE_BYTES;
	/* Of several functions that start at one address, the first counts, up to the next start.
	 */
	for (uint32_t i = 0, next; !err && i < f.n; i = next) {
		const struct function *now = &f.items[i];
		uint64_t end = now->end;

		for (next = i + 1; next < f.n && f.items[next].start == now->start;)
			next++;
		if (next < f.n && f.items[next].start < end)
			end = f.items[next].start;
		err = add_rows(out, in, &reader, now, end);
	}
	err = err ?: add_row(out, out->end, 0);
	return err ?: out->n < 2 ? -ENODATA : 0;
}

void unwind_rows__destroy(struct unwind_rows *r)
{
	free(r->rows);
	unwind_rules__destroy(&r->rules);
	*r = (struct unwind_rows){};
}

/* ---- Rules ----------------------------------------------------------------------------------- */

static uint64_t key_of(struct wire_unwind_rule rule)
{
	uint64_t key;

	memcpy(&key, &rule, sizeof(key));
	return key;
}

static int add_unwind_rule(struct unwind_rules *r, struct wire_unwind_rule rule)
{
	return u64_map__put(&r->numbers, key_of(rule), r->n)
		       ?: array__add(&r->rules, &r->n, &r->capacity, &rule);
}

int unwind_rules__number(struct unwind_rules *r, struct wire_unwind_rule rule, uint32_t *number)
{
	uint32_t known;
	int err = r->rules ? 0 : add_unwind_rule(r, (struct wire_unwind_rule){});

	if (err)
		return err;
	if (key_of(r->rules[r->last]) == key_of(rule)) {
		*number = r->last;
		return 0;
	}
	known = u64_map__get(&r->numbers, key_of(rule));
	if (known == U64_MAP_NONE && r->n == WIRE_UNWIND_RULES_MAX) {
		r->refused++;
		known = 0;
	} else if (known == U64_MAP_NONE) {
		known = r->n;
		err = add_unwind_rule(r, rule);
	}
	if (!err)
		*number = r->last = known;
	return err;
}

struct used_rule {
	uint32_t uses;
	uint32_t number;
	struct wire_unwind_rule rule;
};

/* Most used first; rule 0 stays in front. */
static int by_uses(const void *a, const void *b)
{
	const struct used_rule *x = a, *y = b;

	if (!x->number != !y->number)
		return x->number ? 1 : -1;
	if (x->uses != y->uses)
		return x->uses > y->uses ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

int unwind_rules__sort(struct unwind_rules *r, const uint32_t *uses, uint32_t *numbers)
{
	_free_ struct used_rule *order = calloc(r->n + 1UL, sizeof(*order));
	int err = order ? 0 : -ENOMEM;

	r->last = 0;
	for (uint32_t i = 0; !err && i < r->n; i++)
		order[i] = (struct used_rule){uses[i], i, r->rules[i]};
	if (!err)
		qsort(order, r->n, sizeof(*order), by_uses);
	for (uint32_t i = 0; !err && i < r->n; i++) {
		r->rules[i] = order[i].rule;
		numbers[order[i].number] = i;
		err = u64_map__put(&r->numbers, key_of(order[i].rule), i);
	}
	return err;
}

void unwind_rules__destroy(struct unwind_rules *r)
{
	free(r->rules);
	u64_map__destroy(&r->numbers);
	*r = (struct unwind_rules){};
}
