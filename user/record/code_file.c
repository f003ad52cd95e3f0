// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/code_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "plan/symbols/demangle.h"
#include "plan/symbols/function_name.h"
#include "plan/symbols/lines.h"

#define VDSO_NAME "[vdso]"
#define VDSO_SIZE (1u << 16) /* larger than any */

/* A function that occurred. */
struct noted {
	uint64_t addr;
	uint32_t size;
	uint32_t first; /* locindex */
};

struct code_file {
	struct symbol_file *symbols;
	struct decoder_functions callbacks;
	struct noted *noted;
	uint32_t n_noted, capacity;
};

/* ---- Functions ------------------------------------------------------------------------------- */

static bool find_range(const void *ctx, uint32_t pc, struct function_range *range)
{
	const struct code_file *c = ctx;
	const struct functions *functions;

	if (!symbol_file__file(c->symbols)) {
		*range = (struct function_range){0, VDSO_SIZE, NULL};
		return pc < VDSO_SIZE;
	}
	functions = symbol_file__functions(c->symbols);
	return functions && functions__find(functions, pc, range);
}

static bool find(const void *ctx, uint32_t pc, uint64_t *addr, uint32_t *size)
{
	struct function_range range;

	if (!find_range(ctx, pc, &range))
		return false;
	*addr = range.addr;
	*size = range.size;
	return true;
}

static char *name(const void *ctx, uint32_t pc)
{
	struct function_range range;
	_free_ char *plain = NULL;
	char *cxx;

	if (!find_range(ctx, pc, &range) || !range.symbol ||
	    strnlen(range.symbol, SYMBOL_MAX + 1) > SYMBOL_MAX)
		return strdup("");
	/* Rust's legacy mangling looks like C++. function_name() leaves only C++ names mangled. */
	plain = function_name(range.symbol);
	cxx = plain && !strncmp(plain, "_Z", 2) ? cxx_name(plain) : NULL;
	return cxx ?: take_ptr(plain);
}

static void describe(const void *ctx, struct trace_function *f)
{
	const struct code_file *c = ctx;

	struct library_file *file = symbol_file__file(c->symbols);

	f->library = symbol_file__build_id(c->symbols);
	f->file = file ? library_file__path(file) : VDSO_NAME;
}

int code_file__new(struct symbol_file *symbols, uint32_t number, struct code_file **out)
{
	struct code_file *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->symbols = symbols;
	c->callbacks = (struct decoder_functions){c, find, name, describe, number};
	*out = c;
	return 0;
}

const struct symbol_file *code_file__symbols(const struct code_file *c)
{
	return c->symbols;
}

const struct decoder_functions *code_file__functions(const struct code_file *c)
{
	return &c->callbacks;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

int code_file__note(struct code_file *c, const struct trace_function *f)
{
	struct noted noted = {f->addr, f->size, f->first};

	return array__add(&c->noted, &c->n_noted, &c->capacity, &noted);
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
	/* The lines are too many for a chunk or a trace, so the function gets none. */
	return err == -E2BIG ? 0 : err;
}

/* Lines of functions that were found; the image is read only now. */
int code_file__write_lines(struct code_file *c, struct trace_writer *w)
{
	_free_ struct lines_range *ranges = calloc(c->n_noted + 1, sizeof(*ranges));
	struct library_file *file = symbol_file__file(c->symbols);
	_elf_image_ struct elf_image *img = NULL;
	struct line_writer lw = {w, c->noted};
	int err;

	if (!ranges)
		return -ENOMEM;
	if (!c->n_noted || !file || symbol_file__is_foreign(c->symbols) ||
	    !symbol_file__functions(c->symbols) || elf_image__read(file, &img))
		return 0;
	qsort(c->noted, c->n_noted, sizeof(*c->noted), array__by_u64);
	for (size_t i = 0; i < c->n_noted; i++)
		ranges[i] = (struct lines_range){c->noted[i].addr, c->noted[i].size};
	err = lines__read(img, ranges, c->n_noted, write_rows, &lw);
	if (err != -EBADMSG)
		return err;
	diag_warn("the line tables of %s are damaged: callers in it may have no lines",
		  elf_image__path(img));
	return 0;
}

void code_file__free(struct code_file *c)
{
	if (!c)
		return;
	symbol_file__free(c->symbols);
	free(c->noted);
	free(c);
}
