// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"

struct found_row {
	size_t range;
	size_t number; /* in the order of the tables */
	struct lines_row row;
};

struct collector {
	const struct lines_range *ranges;
	size_t n_ranges;
	struct found_row *rows;
	uint32_t n, capacity;
};

/* The range that ends above `addr`, or n_ranges. */
static size_t range_at(const struct collector *c, uint64_t addr)
{
	return bisect(c->n_ranges, i, c->ranges[i].addr + c->ranges[i].size <= addr);
}

/* True if a unit has code in any of the ranges, or does not declare its ranges. */
static int has_any(const struct collector *c, Dwarf_Die *unit)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;
	bool said = false;

	while ((at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0) {
		size_t i = range_at(c, begin);

		said = true;
		if (i < c->n_ranges && c->ranges[i].addr < end)
			return 1;
	}
	return at < 0 ? -EBADMSG : !said;
}

static int collect_line(struct collector *c, Dwarf_Line *line)
{
	struct found_row found = {.number = c->n};
	struct lines_row *row = &found.row;
	Dwarf_Addr addr;
	bool ends;
	int number;
	size_t i;

	if (!line || dwarf_lineaddr(line, &addr) || dwarf_lineendsequence(line, &ends) ||
	    dwarf_lineno(line, &number))
		return -EBADMSG;
	i = range_at(c, addr);
	if (i == c->n_ranges || addr < c->ranges[i].addr)
		return 0;
	found.range = i;
	row->offset = (uint32_t)(addr - c->ranges[i].addr);
	if (!ends && number > 0)
		row->file = dwarf_linesrc(line, NULL, NULL);
	if (row->file)
		row->line = (uint32_t)number;
	return array__add(&c->rows, &c->n, &c->capacity, &found);
}

static int collect(struct collector *c, Dwarf *dwarf)
{
	Dwarf_Off at = 0, next;
	size_t header, n;
	int more, err = 0;

	while (!err && (more = dwarf_nextcu(dwarf, at, &next, &header, NULL, NULL, NULL)) == 0) {
		Dwarf_Lines *lines;
		Dwarf_Die unit;
		int any = dwarf_offdie(dwarf, at + header, &unit) ? has_any(c, &unit) : -EBADMSG;

		at = next;
		if (any < 0)
			return any;
		if (!any || !dwarf_hasattr(&unit, DW_AT_stmt_list))
			continue;
		if (dwarf_getsrclines(&unit, &lines, &n))
			return -EBADMSG;
		for (size_t i = 0; i < n && !err; i++)
			err = collect_line(c, dwarf_onesrcline(lines, i));
	}
	return !err && more < 0 ? -EBADMSG : err;
}

/* At one offset, rows without a line come first; the others keep the order of the tables. */
static int compare_rows(const void *a, const void *b)
{
	const struct found_row *x = a, *y = b;

	if (x->range != y->range)
		return x->range < y->range ? -1 : 1;
	if (x->row.offset != y->row.offset)
		return x->row.offset < y->row.offset ? -1 : 1;
	if (!x->row.line != !y->row.line)
		return x->row.line ? 1 : -1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/*
 * Within one range, keep the last of several rows at one offset, and the first of several rows for
 * one line.
 */
static int hand_over(struct collector *c, lines_fn fn, void *ctx)
{
	_free_ struct lines_row *rows = calloc(c->n + 1, sizeof(*rows));
	int err = rows ? 0 : -ENOMEM;

	if (c->n)
		qsort(c->rows, c->n, sizeof(*c->rows), compare_rows);
	for (size_t i = 0, end; i < c->n && !err; i = end) {
		size_t range = c->rows[i].range, n = 0;

		for (end = i; end < c->n && c->rows[end].range == range; end++) {
			const struct found_row *found = &c->rows[end];
			const struct lines_row *row = &found->row, *last = n ? &rows[n - 1] : NULL;

			if (end + 1 < c->n && found[1].range == range &&
			    found[1].row.offset == row->offset)
				continue;
			if (last && last->line == row->line &&
			    (!row->line || !strcmp(last->file, row->file)))
				continue;
			rows[n++] = *row;
		}
		err = fn(ctx, range, rows, n);
	}
	return err;
}

int lines__read(const struct elf_image *img, const struct lines_range *ranges, size_t n,
		lines_fn fn, void *ctx)
{
	struct collector c = {.ranges = ranges, .n_ranges = n};
	Dwarf *dwarf = elf_image__dwarf(img);
	int err = 0, err2;

	if (!dwarf)
		return 0;
	err = collect(&c, dwarf);
	/* Rows before the damage are valid. */
	err2 = err == -ENOMEM ? 0 : hand_over(&c, fn, ctx);
	free(c.rows);
	dwarf_end(dwarf);
	return err2 ? err2 : err;
}
