/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where code is from: what a library's line tables (DWARF's .debug_line) tell of a few functions.
 * rustup's librustc_driver has none; one that was built with debuginfo-level 1 has.
 */
#ifndef QPROF_PLAN_LINES_H
#define QPROF_PLAN_LINES_H

#include "plan/elf_image.h"

/* A function's code. */
struct lines_range {
	uint64_t addr;
	uint32_t size;
};

/* From this offset in the function on, up to the next row's, code is of this line. */
struct lines_row {
	uint32_t offset;
	uint32_t line;	  /* 0: none is known from here on */
	const char *file; /* NULL then */
};

/* The rows of range `i`, ascending. A negative errno ends the reading. */
typedef int (*lines_fn)(void *ctx, size_t i, const struct lines_row *rows, size_t n);

/*
 * Hand over the rows of the ranges that have any; these are sorted by address and do not overlap.
 * Returns 0, also if there are no line tables; fn's error; -EBADMSG if they are damaged (fn may
 * have been called with what came before); or -ENOMEM. Prints nothing.
 */
int lines__read(const struct elf_image *img, const struct lines_range *ranges, size_t n,
		lines_fn fn, void *ctx);

#endif /* QPROF_PLAN_LINES_H */
