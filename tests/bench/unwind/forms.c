// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "forms.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "pctab/linear.h"
#include "pctab/varint.h"

void form__destroy(struct form *f)
{
	free(f->tables);
	free(f->directory);
	free(f->starts);
	free(f->rows);
	*f = (struct form){};
}

/* ---- Pages with a linear index: ours ----------------------------------------------------------
 */

/* The area of the only form of this kind. */
static uint8_t *area_memory;
static uint32_t area_blocks;

static const wire_u8 *unwind_block(wire_u32 number)
{
	return number < area_blocks ? area_memory + (size_t)number * WIRE_UNWIND_BLOCK_VALUE : NULL;
}

#include "../../../bpf/unwind_lookup.h"

static int make_pages(struct form *f, const struct form_input *in)
{
	const struct unwind_table *t = in->table;
	struct unwind_area area;
	int err;

	area_blocks = t->size / WIRE_UNWIND_BLOCK_BYTES + 2;
	f->tables = calloc(area_blocks, WIRE_UNWIND_BLOCK_VALUE);
	if (!f->tables)
		return -ENOMEM;
	area_memory = f->tables;
	unwind_area__init(&area, f->tables, area_blocks);
	err = unwind_area__add(&area, t, &f->file);
	f->bytes = t->size + t->pages * sizeof(uint32_t);
	return err;
}

static uint32_t look_up_pages(const struct form *f, uint32_t at)
{
	uint32_t table = unwind_page_table(&f->file, f->file.start + at);

	return table == WIRE_UNWIND_NOWHERE
		       ? 0
		       : unwind_page_value(table, at & (WIRE_UNWIND_PAGE_BYTES - 1));
}

/* ---- A table per function ---------------------------------------------------------------------
 */

typedef int encode_fn(struct pctab_buffer *out, const struct pctab_runs *runs, unsigned int shift);

/* The runs from `start` up to `end`; *row is at or before the row that holds at `start`. */
static int runs_of(const struct unwind_rows *rows, uint32_t start, uint32_t end, uint32_t *row,
		   struct pctab_runs *runs)
{
	int err = 0;

	pctab_runs__clear(runs);
	while (*row + 1 < rows->n && rows->rows[*row + 1].at <= start)
		++*row;
	for (uint32_t i = *row; !err; i++) {
		uint32_t next = i + 1 < rows->n ? rows->rows[i + 1].at : end;

		err = pctab_runs__add(runs, (next < end ? next : end) - start,
				      (int32_t)rows->rows[i].rule);
		if (next >= end)
			break;
	}
	return err;
}

/* Append a table, or find the same one. Functions of other lengths may share a table's bytes. */
static int add_table(struct pctab_buffer *tables, struct u64_map *known,
		     const struct pctab_runs *runs, encode_fn *encode, uint32_t *at)
{
	size_t before = tables->size;
	int err = encode(tables, runs, 0);
	uint64_t hash;
	uint32_t twin;

	if (err)
		return err;
	hash = map_hash(tables->data + before, tables->size - before);
	twin = u64_map__get(known, hash);
	if (twin != U64_MAP_NONE &&
	    !memcmp(tables->data + twin, tables->data + before, tables->size - before)) {
		tables->size = before;
		*at = twin;
		return 0;
	}
	*at = (uint32_t)before;
	return u64_map__put(known, hash, *at);
}

static int make_functions(struct form *f, const struct form_input *in, encode_fn *encode)
{
	const struct unwind_rows *rows = in->rows;
	_pctab_runs_ struct pctab_runs runs = {};
	struct pctab_buffer tables = {};
	struct u64_map known = {};
	uint32_t row = 0, n = in->n_starts;
	int err = 0;

	f->starts = calloc(n + 1UL, sizeof(*f->starts));
	f->directory = calloc(n, sizeof(*f->directory));
	if (!f->starts || !f->directory)
		return -ENOMEM;
	f->n = n;
	memcpy(f->starts, in->starts, n * sizeof(*f->starts));
	f->starts[n] = rows->rows[rows->n - 1].at;
	for (uint32_t i = 0; !err && i < n; i++) {
		err = runs_of(rows, f->starts[i], f->starts[i + 1], &row, &runs);
		err = err ?: add_table(&tables, &known, &runs, encode, &f->directory[i]);
	}
	u64_map__destroy(&known);
	f->tables = tables.data;
	f->size = (uint32_t)tables.size;
	f->bytes = tables.size + n * 2 * sizeof(uint32_t);
	return err;
}

/* The last of n rising numbers that is at most `at`; the first one if there is none. */
static uint32_t find_last(const uint32_t *numbers, uint32_t n, uint32_t at)
{
	uint32_t low = 0;

	while (n > 1) {
		uint32_t half = n / 2;

		low = numbers[low + half] <= at ? low + half : low;
		n -= half;
	}
	return low;
}

static int make_functions_linear(struct form *f, const struct form_input *in)
{
	return make_functions(f, in, pctab_linear__encode);
}

static uint32_t look_up_functions_linear(const struct form *f, uint32_t at)
{
	uint32_t i = find_last(f->starts, f->n, at);
	const struct pctab_linear t = {f->tables + f->directory[i], f->size - f->directory[i],
				       f->starts[i + 1] - f->starts[i]};
	int32_t value = 0;

	return pctab_linear__lookup(&t, 0, at - f->starts[i], &value) ? 0 : (uint32_t)value;
}

static int make_functions_varint(struct form *f, const struct form_input *in)
{
	return make_functions(f, in, pctab_varint__encode);
}

static uint32_t look_up_functions_varint(const struct form *f, uint32_t at)
{
	uint32_t i = find_last(f->starts, f->n, at);
	int32_t value = 0;

	return pctab_varint__lookup(f->tables + f->directory[i], f->size - f->directory[i], 0,
				    at - f->starts[i], &value)
		       ? 0
		       : (uint32_t)value;
}

/* ---- Sorted rows ------------------------------------------------------------------------------
 */

struct row8 {
	uint32_t at;
	uint16_t rule;
	uint16_t unused;
};

static int make_rows(struct form *f, const struct form_input *in)
{
	const struct unwind_rows *rows = in->rows;
	struct row8 *r = calloc(rows->n, sizeof(*r));

	if (!r)
		return -ENOMEM;
	for (uint32_t i = 0; i < rows->n; i++)
		r[i] = (struct row8){rows->rows[i].at, (uint16_t)rows->rows[i].rule, 0};
	f->rows = r;
	f->n = rows->n;
	f->bytes = rows->n * sizeof(*r);
	return 0;
}

static uint32_t look_up_rows(const struct form *f, uint32_t at)
{
	const struct row8 *rows = f->rows;
	uint32_t low = 0, n = f->n;

	while (n > 1) {
		uint32_t half = n / 2;

		low = rows[low + half].at <= at ? low + half : low;
		n -= half;
	}
	return rows[low].rule;
}

struct row4 {
	uint16_t at; /* in the page */
	uint16_t rule;
};

/* directory[page] is the page's first row; each page begins with one. */
static int make_pages_rows(struct form *f, const struct form_input *in)
{
	const struct unwind_rows *rows = in->rows;
	uint32_t pages = rows->rows[rows->n - 1].at / WIRE_UNWIND_PAGE_BYTES + 1, row = 0;
	struct row4 *r = calloc(rows->n + (size_t)pages, sizeof(*r));

	f->rows = r;
	f->directory = calloc(pages + 1UL, sizeof(*f->directory));
	if (!r || !f->directory)
		return -ENOMEM;
	for (uint32_t page = 0; page < pages; page++) {
		uint64_t start = (uint64_t)page * WIRE_UNWIND_PAGE_BYTES;

		f->directory[page] = f->n;
		while (row + 1 < rows->n && rows->rows[row + 1].at <= start)
			row++;
		r[f->n++] = (struct row4){0, (uint16_t)rows->rows[row].rule};
		for (; row + 1 < rows->n && rows->rows[row + 1].at < start + WIRE_UNWIND_PAGE_BYTES;
		     row++)
			r[f->n++] = (struct row4){(uint16_t)rows->rows[row + 1].at,
						  (uint16_t)rows->rows[row + 1].rule};
	}
	f->directory[pages] = f->n;
	f->bytes = f->n * sizeof(*r) + pages * sizeof(*f->directory);
	return 0;
}

static uint32_t look_up_pages_rows(const struct form *f, uint32_t at)
{
	const uint32_t *page = &f->directory[at / WIRE_UNWIND_PAGE_BYTES];
	const struct row4 *rows = (const struct row4 *)f->rows + page[0];
	uint32_t n = page[1] - page[0], low = 0, in_page = at % WIRE_UNWIND_PAGE_BYTES;

	while (n > 1) {
		uint32_t half = n / 2;

		low = rows[low + half].at <= in_page ? low + half : low;
		n -= half;
	}
	return rows[low].rule;
}

const struct form_class form_classes[FORMS] = {
	[FORM_PAGES_LINEAR] = {"pages_linear", "linear index per 64 KiB (ours)", make_pages,
			       look_up_pages},
	[FORM_FUNCTIONS_LINEAR] = {"functions_linear", "linear index per function",
				   make_functions_linear, look_up_functions_linear},
	[FORM_FUNCTIONS_VARINT] = {"functions_varint", "varint deltas per function",
				   make_functions_varint, look_up_functions_varint},
	[FORM_ROWS] = {"rows_8", "sorted rows of 8 bytes", make_rows, look_up_rows},
	[FORM_PAGES_ROWS] = {"pages_rows_4", "sorted rows of 4 bytes per 64 KiB", make_pages_rows,
			     look_up_pages_rows},
};
