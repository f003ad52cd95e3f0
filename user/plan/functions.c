// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/functions.h"

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "base/diag.h"

struct functions {
	struct elf_image *img;
	struct function_range *ranges; /* sorted by address */
	size_t n;
};

static uint32_t size_of(const struct elf_symbol *sym)
{
	return sym->size < UINT32_MAX ? (uint32_t)sym->size : UINT32_MAX;
}

/* A symbol whose end has not been passed. */
struct open_symbol {
	uint64_t end;
	const char *name;
};

/* Symbols that are within each other, the innermost last. */
struct nest {
	struct open_symbol *open;
	size_t n;
	uint64_t at; /* what is below has its range */
};

static void nest__clear(struct nest *nest)
{
	free(nest->open);
}

/* Give what the innermost has up to `end` a range. */
static void add_range(struct functions *f, struct nest *nest, uint64_t end)
{
	if (end <= nest->at)
		return;
	f->ranges[f->n++] = (struct function_range){nest->at, (uint32_t)(end - nest->at),
						    nest->open[nest->n - 1].name};
	nest->at = end;
}

/* Give all up to `addr` its ranges. */
static void advance(struct functions *f, struct nest *nest, uint64_t addr)
{
	for (; nest->n && nest->open[nest->n - 1].end <= addr; nest->n--)
		add_range(f, nest, nest->open[nest->n - 1].end);
	if (nest->n)
		add_range(f, nest, addr);
	nest->at = addr;
}

/*
 * Symbols are sorted by address, then by name. Those without a size are labels, not functions. Each
 * makes at most two ranges: what is before the next, and what an outer one has left behind its end.
 */
static int make_ranges(struct functions *f, const struct elf_symbol *syms, size_t n)
{
	__cleanup(nest__clear) struct nest nest = {.open = calloc(n + 1, sizeof(*nest.open))};
	uint64_t last = 0;

	f->ranges = calloc(2 * n + 1, sizeof(*f->ranges));
	if (!nest.open || !f->ranges)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint64_t end = syms[i].addr + size_of(&syms[i]);

		/* Nothing is at the end of the address space. */
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

int functions__open(const char *path, struct functions **out)
{
	_functions_ struct functions *f = calloc(1, sizeof(*f));
	const struct elf_symbol *syms;
	size_t n;
	int err;

	if (!f)
		return diag_error_r(-ENOMEM, "out of memory opening %s", path);
	err = elf_image__open(path, &f->img);
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

bool functions__find(const struct functions *f, uint64_t pc, struct function_range *out)
{
	size_t lo = 0, hi = f->n;

	/* The first that begins above it. */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->ranges[mid].addr <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || pc - f->ranges[lo - 1].addr >= f->ranges[lo - 1].size)
		return false;
	*out = f->ranges[lo - 1];
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

struct demangled {
	char text[FUNCTION_NAME_MAX];
	size_t len;
	jmp_buf too_long;
};

/*
 * Back references make a few bytes stand for gigabytes of text, and the demangler cannot be told to
 * stop: it is left. What it may have allocated for a name with letters beyond ASCII is lost then.
 */
static void on_piece(const char *piece, size_t len, void *ctx)
{
	struct demangled *d = ctx;

	if (len > sizeof(d->text) - d->len)
		longjmp(d->too_long, 1);
	memcpy(d->text + d->len, piece, len);
	d->len += len;
}

static bool demangle(const char *symbol, struct demangled *d)
{
	d->len = 0;
	if (setjmp(d->too_long))
		return false;
	return rust_demangle_callback(symbol, DMGL_RUST, on_piece, d);
}

/* Where the mangled name ends: what follows is not Rust's. A legacy one has dots of its own. */
static const char *suffix_of(const char *symbol)
{
	const char *end;

	if (!strncmp(symbol, "_R", 2)) {
		end = strchr(symbol, '.');
	} else {
		end = strstr(symbol, "E.");
		for (const char *next = end; next; next = strstr(next + 1, "E."))
			end = next;
		end = end ? end + 1 : NULL;
	}
	return end ? end : symbol + strlen(symbol);
}

/* LLVM's number of a module that a name was taken into says nothing to a person. */
static const char *without_llvm(const char *suffix)
{
	if (strncmp(suffix, ".llvm.", 6))
		return suffix;
	return suffix + 6 + strspn(suffix + 6, "0123456789");
}

char *function_name(const char *symbol)
{
	const char *suffix = suffix_of(symbol);
	_free_ char *base = strndup(symbol, (size_t)(suffix - symbol));
	_free_ struct demangled *d = malloc(sizeof(*d));
	char *name = NULL;

	if (!base || !d)
		return NULL;
	if (!demangle(base, d))
		return strdup(symbol);
	if (asprintf(&name, "%.*s%s", (int)d->len, d->text, without_llvm(suffix)) < 0)
		return NULL;
	return name;
}
