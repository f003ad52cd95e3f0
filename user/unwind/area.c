// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/area.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Where something may be in the area, so that WIRE_UNWIND_NOWHERE is nothing's place. */
#define FIRST 8u

void unwind_area__init(struct unwind_area *a, uint8_t *memory, uint32_t blocks)
{
	a->memory = memory;
	a->blocks = blocks;
	a->n = 0;
}

static uint8_t *at_offset(const struct unwind_area *a, uint32_t at)
{
	return a->memory + (size_t)(at >> WIRE_UNWIND_BLOCK_SHIFT) * WIRE_UNWIND_BLOCK_VALUE +
	       (at & (WIRE_UNWIND_BLOCK_BYTES - 1));
}

/* Free bytes between two tables. */
struct gap {
	const struct unwind_area *area;
	uint64_t at, end;
};

/*
 * Take `size` bytes that lie within one block, at a multiple of `align`. Returns their offset, or
 * WIRE_UNWIND_NOWHERE if there is no room.
 */
static uint32_t take(struct gap *g, uint32_t size, uint32_t align)
{
	uint64_t at = (g->at + align - 1) / align * align;
	uint64_t left = WIRE_UNWIND_BLOCK_BYTES - at % WIRE_UNWIND_BLOCK_BYTES;

	if (size > WIRE_UNWIND_BLOCK_BYTES)
		return WIRE_UNWIND_NOWHERE;
	if (size > left)
		at += left;
	if (at + size > g->end)
		return WIRE_UNWIND_NOWHERE;
	g->at = at + size;
	return (uint32_t)at;
}

static bool add_to_gap(struct gap *g, const struct unwind_table *t, struct wire_unwind_file *f)
{
	const struct unwind_area *a = g->area;

	*f = (struct wire_unwind_file){.start = t->start, .pages = t->pages, .n_rules = t->n_rules};
	f->rules = take(g, t->n_rules * (uint32_t)sizeof(*t->rules), sizeof(*t->rules));
	f->directory = take(g, t->pages * (uint32_t)sizeof(*t->directory), sizeof(*t->directory));
	if (f->rules == WIRE_UNWIND_NOWHERE || f->directory == WIRE_UNWIND_NOWHERE)
		return false;
	memcpy(at_offset(a, f->rules), t->rules, t->n_rules * sizeof(*t->rules));
	for (uint32_t page = 0; page < t->pages; page++) {
		uint32_t size = unwind_table__page_size(t, page), at = WIRE_UNWIND_NOWHERE;

		if (size) {
			at = take(g, size, 1);
			if (at == WIRE_UNWIND_NOWHERE)
				return false;
			memcpy(at_offset(a, at), t->tables + t->directory[page], size);
		}
		memcpy(at_offset(a, f->directory) + page * sizeof(at), &at, sizeof(at));
	}
	return true;
}

int unwind_area__add(struct unwind_area *a, const struct unwind_table *t,
		     struct wire_unwind_file *out)
{
	uint32_t bytes = unwind_table__bytes(t);
	struct wire_unwind_file f;

	if (a->n == UNWIND_AREA_TABLES_MAX)
		return -ENOSPC;
	for (uint32_t i = 0; i <= a->n; i++) {
		uint32_t start = i ? a->tables[i - 1].end : FIRST;
		/* Before table `i`, or behind all of them. */
		struct gap g = {
			.area = a,
			.at = start,
			.end = i < a->n ? a->tables[i].start
					: (uint64_t)a->blocks << WIRE_UNWIND_BLOCK_SHIFT,
		};

		/* What does not fit is given up half written, over nothing. */
		if (g.at + bytes > g.end || !add_to_gap(&g, t, &f))
			continue;
		memmove(&a->tables[i + 1], &a->tables[i], (a->n - i) * sizeof(*a->tables));
		a->tables[i] = (struct unwind_range){start, (uint32_t)g.at};
		a->n++;
		*out = f;
		return 0;
	}
	return -ENOSPC;
}

void unwind_area__remove(struct unwind_area *a, const struct wire_unwind_file *f)
{
	uint32_t i = 0;

	while (i < a->n && (f->rules < a->tables[i].start || f->rules >= a->tables[i].end))
		i++;
	if (i == a->n)
		return;
	a->n--;
	memmove(&a->tables[i], &a->tables[i + 1], (a->n - i) * sizeof(*a->tables));
}

uint32_t unwind_area__bytes(const struct unwind_area *a)
{
	return a->blocks << WIRE_UNWIND_BLOCK_SHIFT;
}

uint32_t unwind_area__left(const struct unwind_area *a)
{
	uint32_t left = unwind_area__bytes(a);

	for (uint32_t i = 0; i < a->n; i++)
		left -= a->tables[i].end - a->tables[i].start;
	return left;
}
