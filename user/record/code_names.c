// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/code_names.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/diag.h"
#include "plan/symbols/function_name.h"
#include "plan/symbols/functions.h"
#include "plan/symbols/lines.h"

/* A function that occurred as a caller. */
struct noted {
	uint64_t addr;
	uint32_t size;
	uint32_t first; /* locindex */
};

struct library {
	struct functions *functions;
	struct tracks_functions callbacks;
	struct noted *noted;
	uint32_t n_noted, capacity;
};

struct code_names {
	struct library libraries[WIRE_MAX_LIBS + 1];
};

int code_names__new(struct code_names **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

static bool find(const void *ctx, uint32_t pc, uint64_t *addr, uint32_t *size)
{
	struct function_range range;

	if (!functions__find(ctx, pc, &range))
		return false;
	*addr = range.addr;
	*size = range.size;
	return true;
}

static char *name(const void *ctx, uint32_t pc)
{
	struct function_range range;

	return functions__find(ctx, pc, &range) ? function_name(range.symbol) : NULL;
}

int code_names__add_library(struct code_names *c, uint8_t lib, const struct plan *plan,
			    const struct tracks_functions **functions)
{
	struct library *l = &c->libraries[lib];
	int err = functions__open(plan->file, &l->functions);

	if (err)
		return err;
	l->callbacks = (struct tracks_functions){l->functions, find, name};
	*functions = &l->callbacks;
	return 0;
}

static int write_lines_of(struct library *l, struct trace_writer *w);

int code_names__retire(struct code_names *c, uint8_t lib, struct trace_writer *w)
{
	struct library *l = &c->libraries[lib];
	int err = w && l->n_noted ? write_lines_of(l, w) : 0;

	functions__free(l->functions);
	free(l->noted);
	*l = (struct library){0};
	return err;
}

int code_names__note(struct code_names *c, uint8_t lib, const struct trace_function *f)
{
	struct library *l = &c->libraries[lib];

	if (array__reserve_one(&l->noted, l->n_noted, &l->capacity, sizeof(*l->noted)))
		return -ENOMEM;
	l->noted[l->n_noted++] = (struct noted){f->addr, f->size, f->first};
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct noted *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

struct line_writer {
	struct trace_writer *writer;
	const struct noted *noted;
};

static int write_rows(void *ctx, size_t i, const struct lines_row *rows, size_t n)
{
	const struct line_writer *lw = ctx;
	_free_ struct trace_line *lines = calloc(n + 1, sizeof(*lines));
	int err;

	if (!lines)
		return -ENOMEM;
	for (size_t k = 0; k < n; k++) {
		lines[k].offset = rows[k].offset;
		lines[k].line = rows[k].line;
		/* Without a line any file is valid; equal rows need the same one. */
		err = trace_writer__intern(lw->writer, rows[k].file ? rows[k].file : "",
					   &lines[k].file);
		if (err)
			return err;
	}
	err = trace_writer__lines(lw->writer, lw->noted[i].first, lines, n);
	/* The function has too many lines for a chunk, so it gets none. */
	return err == -E2BIG ? 0 : err;
}

static int write_lines_of(struct library *l, struct trace_writer *w)
{
	_free_ struct lines_range *ranges = calloc(l->n_noted + 1, sizeof(*ranges));
	struct line_writer lw = {w, l->noted};
	struct elf_image *img = functions__image(l->functions);
	int err;

	if (!ranges)
		return -ENOMEM;
	qsort(l->noted, l->n_noted, sizeof(*l->noted), by_address);
	for (size_t i = 0; i < l->n_noted; i++)
		ranges[i] = (struct lines_range){l->noted[i].addr, l->noted[i].size};
	err = lines__read(img, ranges, l->n_noted, write_rows, &lw);
	if (err != -EBADMSG)
		return err;
	diag_warn("the line tables of %s are damaged: callers in it may have no lines",
		  elf_image__path(img));
	return 0;
}

int code_names__write_lines(struct code_names *c, struct trace_writer *w)
{
	for (int i = 0; i <= WIRE_MAX_LIBS; i++) {
		int err = c->libraries[i].n_noted ? write_lines_of(&c->libraries[i], w) : 0;

		if (err)
			return err;
	}
	return 0;
}

void code_names__free(struct code_names *c)
{
	if (!c)
		return;
	for (int i = 0; i <= WIRE_MAX_LIBS; i++)
		code_names__retire(c, (uint8_t)i, NULL);
	free(c);
}
