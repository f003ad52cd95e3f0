// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/recover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "plan/recover/activities.h"
#include "plan/recover/arguments.h"
#include "plan/recover/recovered.h"
#include "plan/recover/query_engine.h"
#include "plan/recover/vtables.h"
#include "plan/symbols/debug_file.h"
#include "plan/symbols/function_name.h"
#include "plan/symbols/bounds.h"

/* Names that follow from those of the symbols that the image has. */
static int recover_profiler(struct elf_image *img, struct recovered *r, const char **problem)
{
	_known_symbols_ struct known_symbols known;
	int err = known_symbols__find(img, &known);

	if (err)
		return err == -ENODATA ? 0 : err;
	return bodies__recover(img, &known, r) ?: recovered_guards__find(img, &known, r)
		       ?: timers__recover(img, r, problem);
}

/*
 * Activities are those whose functions get a label: sizes do, too, so other kinds go first where no
 * names show them.
 */
static int recover_cold_sides(struct elf_image *img, const struct bounds *bounds,
			      struct recovered *r, const char **problem)
{
	int unnamed = cold_kinds__are_unnamed(img), err = unnamed < 0 ? unnamed : 0;

	if (!err && unnamed)
		err = cold_kinds__recover(img, false, r) ?: recovered__give(r, bounds, img);
	err = err ?: activities__recover(img, r, problem) ?: recovered__give(r, bounds, img)
		       ?: arguments__recover(img, r);
	if (!err && unnamed)
		err = cold_kinds__recover(img, true, r) ?: recovered__give(r, bounds, img);
	return err;
}

static int recover_queries(struct elf_image *img, const struct bounds *bounds, struct recovered *r,
			   struct query_numbers *numbers, const char **problem)
{
	/* The first problem stays. */
	if (*problem)
		return 0;
	return query_engine__is_in(img) ? query_engine__recover(img, bounds, r, numbers, problem)
					: vtables__recover(img, bounds, r, problem);
}

/*
 * Give a mapped image without symbols those that can be recovered. *problem is NULL, or a static
 * text: why queries have no names. 0; -ENODATA without an unwind table: the image has no symbols
 * then; or -ENOMEM. *numbers, which is empty before, gets those by which this compiler tells
 * queries apart; the caller destroys it in any case.
 */
static int recover__symbols(struct elf_image *img, struct query_numbers *numbers,
			    const char **problem)
{
	_recovered_ struct recovered r = {0};
	_bounds_ struct bounds bounds;
	int err = bounds__find(img, &bounds);

	*problem = NULL;
	/* Steps find functions by symbols, so the image gets those that are known after each. */
	return err ?: reached__keep(img, &bounds) ?: dynsym__recover(img, &r)
		       ?: recovered__give(&r, &bounds, img)
		       ?: recover_cold_sides(img, &bounds, &r, problem)
		       ?: recover_queries(img, &bounds, &r, numbers, problem)
		       ?: recovered__give(&r, &bounds, img)
		       ?: recover_profiler(img, &r, problem) ?: readers__recover(img, &bounds, &r)
		       ?: recovered__give(&r, &bounds, img);
}

const char recover_no_compiler[] = "nothing in it names a source file of rustc";

#define PIECE	    (1u << 20)
#define SEARCH_MOST (1u << 29) /* rustc's libraries have 150 MiB */

/* Messages of panics have the paths of sources, also in a library without symbols. */
static bool is_compiler(const struct library_file *file)
{
	static const char source[] = "compiler/rustc_";
	const size_t kept = sizeof(source) - 2;
	_free_ char *piece = malloc(kept + PIECE);
	size_t have = 0;

	for (off_t at = 0; piece && at < SEARCH_MOST;) {
		ssize_t n = pread(library_file__fd(file), piece + have, PIECE, at);

		if (n <= 0)
			return false;
		if (memmem(piece, have + (size_t)n, source, sizeof(source) - 1))
			return true;
		at += n;
		have += (size_t)n;
		/* The text may go on in the next piece. */
		if (have > kept) {
			memmove(piece, piece + have - kept, kept);
			have = kept;
		}
	}
	return true;
}

int recover__map(struct library_file *file, struct debug_file *debug, struct elf_image **out,
		 enum symbol_source *source, struct query_numbers *numbers, const char **problem)
{
	_elf_image_ struct elf_image *img = NULL;
	const struct elf_symbol *syms;
	size_t n;
	int err = debug_symbols__map(file, debug, &img, source);

	*problem = NULL;
	err = err ?: elf_image__symbols(img, &syms, &n);
	if (err == -ENODATA) {
		*source = SYMBOLS_RECOVERED;
		err = recover__symbols(img, numbers, problem);
		if (err == -ENODATA)
			*problem = "it has no unwind table";
		else if (!err && *problem)
			err = -ENODATA;
		if (*problem && !is_compiler(file))
			*problem = recover_no_compiler;
	}
	if (!err)
		*out = take_ptr(img);
	return err;
}
