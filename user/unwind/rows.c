// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/rows.h"

#include <errno.h>
#include <stdbool.h>

#include "base/array.h"

/* A function of .eh_frame, or a PLT that it may not describe. */
struct function {
	uint64_t start;
	uint64_t end;
	uint32_t at;		      /* offset of its record */
	const struct unwind_plt *plt; /* NULL: it has a record */
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

static int list_functions(const struct unwind_input *in, struct eh_frame_reader *r,
			  struct functions *f)
{
	struct eh_fde fde;
	int err = 0;

	while (!err && eh_frame_reader__next(r, &fde)) {
		struct function new = {.start = fde.start, .at = fde.at};

		/* A function without code is one that the linker has left out. */
		if (fde.length && !__builtin_add_overflow(fde.start, fde.length, &new.end))
			err = add_function(f, in, new);
	}
	for (uint32_t i = 0; !err && i < in->n_plts; i++) {
		const struct unwind_plt *plt = &in->plts[i];

		err = add_function(f, in,
				   (struct function){.start = plt->start,
						     .end = plt->start + plt->length,
						     .plt = plt});
	}
	return err;
}

/* A record before a PLT that it describes; records in the order of the section. */
static int by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (!x->plt != !y->plt)
		return x->plt ? 1 : -1;
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

/* What may be written of the current function. */
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
	struct target to = {r, end};
	struct eh_fde fde;
	int err;

	if (f->plt)
		return unwind_plt__run(f->plt, end, add_run, &to);
	if (!eh_frame_reader__at(reader, f->at, &fde))
		return 0;
	err = cfa__run(&in->frame, &fde, add_run, &to);
	r->functions++;
	r->unreadable += err == -EBADMSG;
	return err == -EBADMSG ? 0 : err;
}

int unwind_rows__read(const struct unwind_input *in, struct unwind_rows *out)
{
	__cleanup(functions__destroy) struct functions f = {};
	struct eh_frame_reader reader;
	int err;

	eh_frame_reader__init(&reader, &in->frame);
	err = list_functions(in, &reader, &f);
	if (err)
		return err;
	if (!f.n)
		return -ENODATA;
	qsort(f.items, f.n, sizeof(*f.items), by_start);
	out->unreadable = reader.unreadable;
	out->start = f.items[0].start / WIRE_UNWIND_PAGE_BYTES * WIRE_UNWIND_PAGE_BYTES;
	for (uint32_t i = 0; !err && i < f.n; i++) {
		const struct function *now = &f.items[i], *next = i + 1 < f.n ? now + 1 : NULL;

		if (i && now->start == now[-1].start)
			continue;
		while (next && next->start == now->start)
			next = next + 1 < f.items + f.n ? next + 1 : NULL;
		err = add_rows(out, in, &reader, now,
			       next && next->start < now->end ? next->start : now->end);
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
