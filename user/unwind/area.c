// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/area.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Where something may be in the area, so that WIRE_UNWIND_NOWHERE is nothing's place. */
#define FIRST 8u

void unwind_area__init(struct unwind_area *a, uint8_t *memory, uint32_t blocks)
{
	*a = (struct unwind_area){memory, blocks, FIRST};
}

static uint8_t *at_offset(const struct unwind_area *a, uint32_t at)
{
	return a->memory + (size_t)(at >> WIRE_UNWIND_BLOCK_SHIFT) * WIRE_UNWIND_BLOCK_VALUE +
	       (at & (WIRE_UNWIND_BLOCK_BYTES - 1));
}

/*
 * Take `size` bytes that lie within one block, at a multiple of `align`. Returns their offset, or
 * WIRE_UNWIND_NOWHERE if there is no room.
 */
static uint32_t take(struct unwind_area *a, uint32_t size, uint32_t align)
{
	uint64_t at = (a->used + (uint64_t)align - 1) / align * align;
	uint64_t left = WIRE_UNWIND_BLOCK_BYTES - at % WIRE_UNWIND_BLOCK_BYTES;

	if (size > WIRE_UNWIND_BLOCK_BYTES)
		return WIRE_UNWIND_NOWHERE;
	if (size > left)
		at += left;
	if (at + size > (uint64_t)a->blocks << WIRE_UNWIND_BLOCK_SHIFT)
		return WIRE_UNWIND_NOWHERE;
	a->used = (uint32_t)(at + size);
	return (uint32_t)at;
}

static bool add_page(struct unwind_area *a, const struct unwind_table *t, uint32_t page,
		     uint32_t directory)
{
	uint32_t size = unwind_table__page_size(t, page), at = WIRE_UNWIND_NOWHERE;

	if (size) {
		at = take(a, size, 1);
		if (at == WIRE_UNWIND_NOWHERE)
			return false;
		memcpy(at_offset(a, at), t->tables + t->directory[page], size);
	}
	memcpy(at_offset(a, directory) + page * sizeof(at), &at, sizeof(at));
	return true;
}

static bool add(struct unwind_area *a, const struct unwind_table *t, struct wire_unwind_file *f)
{
	*f = (struct wire_unwind_file){.start = t->start, .pages = t->pages, .n_rules = t->n_rules};
	f->rules = take(a, t->n_rules * (uint32_t)sizeof(*t->rules), sizeof(*t->rules));
	f->directory = take(a, t->pages * (uint32_t)sizeof(*t->directory), sizeof(*t->directory));
	if (f->rules == WIRE_UNWIND_NOWHERE || f->directory == WIRE_UNWIND_NOWHERE)
		return false;
	memcpy(at_offset(a, f->rules), t->rules, t->n_rules * sizeof(*t->rules));
	for (uint32_t page = 0; page < t->pages; page++)
		if (!add_page(a, t, page, f->directory))
			return false;
	return true;
}

int unwind_area__add(struct unwind_area *a, const struct unwind_table *t,
		     struct wire_unwind_file *out)
{
	uint32_t used = a->used;
	struct wire_unwind_file f;

	if (!add(a, t, &f)) {
		a->used = used;
		return -ENOSPC;
	}
	*out = f;
	return 0;
}
