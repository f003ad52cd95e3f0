// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/functions.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bisect.h"
#include "base/diag.h"

struct functions {
	struct elf_image *img;
	struct function_range *ranges; /* sorted by address */
	size_t n;
	size_t bytes;		/* of symbols and names */
	const uint64_t *starts; /* where functions start, by the unwind table; the image's */
	size_t n_starts;
};

/* Executable segments: librustc_driver has two. */
#define SEGMENTS_MAX 8

static uint32_t size_of(const struct elf_symbol *sym)
{
	return sym->size < UINT32_MAX ? (uint32_t)sym->size : UINT32_MAX;
}

/* A symbol that the sweep has entered and not left. */
struct open_symbol {
	uint64_t end;
	const char *name;
};

/* Nested symbols, the innermost last. */
struct nest {
	struct open_symbol *open;
	size_t n;
	uint64_t at; /* all addresses below this one have their ranges */
};

/* Add a range for the innermost symbol, up to `end`. */
static void add_range(struct functions *f, struct nest *nest, uint64_t end)
{
	if (end <= nest->at)
		return;
	f->ranges[f->n++] = (struct function_range){nest->at, (uint32_t)(end - nest->at),
						    nest->open[nest->n - 1].name};
	nest->at = end;
}

/* Add ranges for all addresses up to `addr`. */
static void advance(struct functions *f, struct nest *nest, uint64_t addr)
{
	for (; nest->n && nest->open[nest->n - 1].end <= addr; nest->n--)
		add_range(f, nest, nest->open[nest->n - 1].end);
	if (nest->n)
		add_range(f, nest, addr);
	nest->at = addr;
}

/*
 * Symbols are sorted by address, then by name. Symbols without a size are labels, not functions.
 * Each symbol adds at most two ranges: the part before the next symbol, and the rest of an outer
 * symbol behind its own end.
 */
static int make_ranges(struct functions *f, const struct elf_symbol *syms, size_t n)
{
	_free_ struct open_symbol *open = calloc(n + 1, sizeof(*open));
	struct nest nest = {.open = open};
	uint64_t last = 0;

	f->ranges = calloc(2 * n + 1, sizeof(*f->ranges));
	if (!open || !f->ranges)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint64_t end = syms[i].addr + size_of(&syms[i]);

		/* Skip a symbol that would end past the end of the address space. */
		if (end <= syms[i].addr)
			continue;
		if (nest.n && last == syms[i].addr) {
			if (end > nest.open[nest.n - 1].end)
				nest.open[nest.n - 1] = (struct open_symbol){end, syms[i].name};
			continue;
		}
		advance(f, &nest, syms[i].addr);
		nest.open[nest.n++] = (struct open_symbol){end, syms[i].name};
		last = syms[i].addr;
	}
	advance(f, &nest, UINT64_MAX);
	return 0;
}

int functions__open(struct library_file *file, struct functions **out)
{
	const char *path = library_file__path(file);
	_functions_ struct functions *f = calloc(1, sizeof(*f));
	const struct elf_symbol *syms;
	size_t n;
	int err;

	if (!f)
		return diag_error_r(-ENOMEM, "out of memory opening %s", path);
	err = elf_image__read(file, &f->img);
	if (err)
		return err;
	err = elf_image__symbols(f->img, &syms, &n);
	if (err == -ENODATA)
		return diag_error_r(err, "%s has no symbol table, so its functions have no names",
				    path);
	if (err)
		return err;
	err = make_ranges(f, syms, n);
	if (err)
		return diag_error_r(err, "out of memory opening %s", path);
	*out = take_ptr(f);
	return 0;
}

/* All names are in one table, which is in memory. */
static size_t bytes_of(const struct elf_symbol *syms, size_t n)
{
	const char *first = n ? syms[0].name : NULL, *last = first;

	for (size_t i = 0; i < n; i++) {
		first = syms[i].name < first ? syms[i].name : first;
		last = syms[i].name > last ? syms[i].name : last;
	}
	return n * sizeof(*syms) + (size_t)(last - first);
}

size_t functions__bytes(const struct functions *f)
{
	return f->bytes + f->n * sizeof(*f->ranges) + f->n_starts * sizeof(*f->starts);
}

int functions__open_any(struct library_file *file, struct functions **out)
{
	_functions_ struct functions *f = calloc(1, sizeof(*f));
	const struct elf_symbol *syms;
	size_t n = 0;
	int err = f ? elf_image__read(file, &f->img) : -ENOMEM;

	if (err)
		return err;
	err = elf_image__any_symbols(f->img, &syms, &n);
	if (err && err != -ENODATA)
		return err;
	f->bytes = bytes_of(syms, n);
	err = make_ranges(f, syms, n);
	if (err)
		return err;
	if (elf_image__starts(f->img, &f->starts, &f->n_starts) == -ENOMEM)
		return -ENOMEM;
	*out = take_ptr(f);
	return 0;
}

/* The end of the code that holds `addr`, or `addr` if none does. */
static uint64_t end_of_code(const struct functions *f, uint64_t addr)
{
	struct elf_segment segments[SEGMENTS_MAX];
	size_t n = elf_image__code_segments(f->img, segments, SEGMENTS_MAX);

	for (size_t i = 0; i < n && i < SEGMENTS_MAX; i++)
		if (addr >= segments[i].addr && addr - segments[i].addr < segments[i].size)
			return segments[i].addr + segments[i].size;
	return addr;
}

/* Code without a symbol, behind `behind` ranges: up to where a function starts, or has a symbol. */
static bool find_unnamed(const struct functions *f, uint64_t pc, size_t behind,
			 struct function_range *out)
{
	const struct function_range *last = behind ? &f->ranges[behind - 1] : NULL;
	size_t next = bisect(f->n_starts, i, f->starts[i] <= pc);
	uint64_t start, end;

	if (!next)
		return false;
	start = f->starts[next - 1];
	end = end_of_code(f, start);
	if (next < f->n_starts && f->starts[next] < end)
		end = f->starts[next];
	if (last && last->addr + last->size > start)
		start = last->addr + last->size;
	if (behind < f->n && f->ranges[behind].addr < end)
		end = f->ranges[behind].addr;
	if (pc >= end || end - start > UINT32_MAX)
		return false;
	*out = (struct function_range){start, (uint32_t)(end - start), NULL};
	return true;
}

bool functions__find(const struct functions *f, uint64_t pc, struct function_range *out)
{
	size_t behind = bisect(f->n, i, f->ranges[i].addr <= pc);

	if (!behind || pc - f->ranges[behind - 1].addr >= f->ranges[behind - 1].size)
		return find_unnamed(f, pc, behind, out);
	*out = f->ranges[behind - 1];
	return true;
}

struct elf_image *functions__image(const struct functions *f)
{
	return f->img;
}

void functions__free(struct functions *f)
{
	if (!f)
		return;
	elf_image__free(f->img);
	free(f->ranges);
	free(f);
}
