// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/table.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "pctab/linear.h"

/* Number the rules by how many rows use them. */
static int sort_rules(struct unwind_rows *rows)
{
	_free_ uint32_t *uses = calloc(rows->rules.n, sizeof(*uses));
	_free_ uint32_t *numbers = calloc(rows->rules.n, sizeof(*numbers));
	int err;

	if (!uses || !numbers)
		return -ENOMEM;
	for (uint32_t i = 0; i < rows->n; i++)
		uses[rows->rows[i].rule]++;
	err = unwind_rules__sort(&rows->rules, uses, numbers);
	for (uint32_t i = 0; !err && i < rows->n; i++)
		rows->rows[i].rule = numbers[rows->rows[i].rule];
	return err;
}

/* The runs of the page from `start` on; *row is the row that holds there, and moves on. */
static int runs_of_page(const struct unwind_rows *rows, uint64_t start, uint32_t *row,
			struct pctab_runs *runs)
{
	uint64_t end = start + WIRE_UNWIND_PAGE_BYTES;
	int err = 0;

	pctab_runs__clear(runs);
	for (; !err; ++*row) {
		uint64_t next = *row + 1 < rows->n ? rows->rows[*row + 1].at : end;
		int32_t rule = (int32_t)rows->rows[*row].rule;

		if (next >= end)
			return pctab_runs__add(runs, WIRE_UNWIND_PAGE_BYTES, rule);
		err = pctab_runs__add(runs, (uint32_t)(next - start), rule);
	}
	return err;
}

static int make_pages(const struct unwind_rows *rows, struct unwind_table *t,
		      struct pctab_buffer *tables)
{
	_pctab_runs_ struct pctab_runs runs = {};
	uint32_t row = 0;
	int err = 0;

	for (uint32_t page = 0; !err && page < t->pages; page++) {
		t->directory[page] = (uint32_t)tables->size;
		err = runs_of_page(rows, (uint64_t)page << WIRE_UNWIND_PAGE_SHIFT, &row, &runs);
		/* The row that ends with the page is over. */
		if (!err && row + 1 < rows->n &&
		    rows->rows[row + 1].at == (page + 1ull) << WIRE_UNWIND_PAGE_SHIFT)
			row++;
		if (!err && runs.n == 1 && !runs.runs[0].value)
			t->directory[page] = UNWIND_NO_TABLE;
		else if (!err)
			err = pctab_linear__encode(tables, &runs, 0);
		if (!err && tables->size > UNWIND_TABLE_BYTES_MAX)
			err = -EFBIG;
	}
	return err;
}

int unwind_table__make(const struct unwind_input *in, struct unwind_rows *rows,
		       struct unwind_table **out)
{
	_unwind_table_ struct unwind_table *t = calloc(1, sizeof(*t));
	struct pctab_buffer tables = {};
	int err = t ? sort_rules(rows) : -ENOMEM;

	if (err)
		return err;
	t->start = rows->start;
	t->pages = (rows->rows[rows->n - 1].at - 1) / WIRE_UNWIND_PAGE_BYTES + 1;
	t->directory = calloc(t->pages, sizeof(*t->directory));
	if (!t->directory)
		return -ENOMEM;
	err = make_pages(rows, t, &tables);
	t->bytes = tables.data;
	t->tables = tables.data;
	t->size = (uint32_t)tables.size;
	t->rows = rows->n;
	t->functions = rows->functions;
	t->unreadable = rows->unreadable;
	t->refused = rows->rules.refused;
	t->n_rules = rows->rules.n;
	t->rules = take_ptr(rows->rules.rules);
	t->n_segments = in->n_segments;
	memcpy(t->segments, in->segments, sizeof(t->segments));
	if (!err)
		*out = take_ptr(t);
	return err;
}

uint32_t unwind_table__page_size(const struct unwind_table *t, uint32_t page)
{
	uint32_t at = t->directory[page];

	if (at == UNWIND_NO_TABLE)
		return 0;
	while (++page < t->pages)
		if (t->directory[page] != UNWIND_NO_TABLE)
			return t->directory[page] - at;
	return t->size - at;
}

struct wire_unwind_rule unwind_table__rule(const struct unwind_table *t, uint64_t addr)
{
	uint64_t page = (addr - t->start) >> WIRE_UNWIND_PAGE_SHIFT;
	const struct wire_unwind_rule none = {};
	struct pctab_linear table;
	int32_t number;

	if (addr < t->start || page >= t->pages || t->directory[page] == UNWIND_NO_TABLE)
		return none;
	table.data = t->tables + t->directory[page];
	table.size = unwind_table__page_size(t, (uint32_t)page);
	table.length = WIRE_UNWIND_PAGE_BYTES;
	if (pctab_linear__lookup(&table, 0, addr % WIRE_UNWIND_PAGE_BYTES, &number) || number < 0 ||
	    (uint32_t)number >= t->n_rules)
		return none;
	return t->rules[number];
}

bool unwind_segments__bias(const struct elf_segment *segments, uint32_t n, uint64_t start,
			   uint64_t offset, uint64_t *bias)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	for (uint32_t i = 0; i < n; i++) {
		const struct elf_segment *s = &segments[i];

		/* The kernel maps whole pages: a mapping may begin a little before its segment. */
		if (offset < s->offset / page * page || offset >= s->offset + s->size)
			continue;
		*bias = start - (s->addr - s->offset + offset);
		return true;
	}
	return false;
}

uint32_t unwind_table__bytes(const struct unwind_table *t)
{
	return t->size + t->pages * (uint32_t)sizeof(*t->directory) +
	       t->n_rules * (uint32_t)sizeof(*t->rules);
}

void unwind_table__free(struct unwind_table *t)
{
	if (!t)
		return;
	llvm_plan__free(t->llvm);
	free(t->rules);
	free(t->directory);
	free(t->bytes);
	if (t->map)
		munmap(t->map, t->map_size);
	free(t);
}
