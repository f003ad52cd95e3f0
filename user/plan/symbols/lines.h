/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The source lines of a few functions, from a library's line tables (DWARF's .debug_line). rustup's
 * librustc_driver has none; a library built with debuginfo-level 1 has.
 */
#ifndef QPROF_PLAN_SYMBOLS_LINES_H
#define QPROF_PLAN_SYMBOLS_LINES_H

#include "plan/symbols/elf_image.h"

/* A function's code. */
struct lines_range {
	uint64_t addr;
	uint32_t size;
};

/* Code from this offset in the function up to the offset of the next row belongs to this line. */
struct lines_row {
	uint32_t offset;
	uint32_t line;	  /* 0: the line is unknown from this offset on */
	const char *file; /* NULL if the line is unknown */
};

/* The rows of range `i`, ascending. A negative errno ends the reading. */
typedef int (*lines_fn)(void *ctx, size_t i, const struct lines_row *rows, size_t n);

/*
 * Pass the rows of the ranges that have any to `fn`. Ranges are sorted by address and do not
 * overlap. Returns 0, also if there are no line tables; fn's error; -EBADMSG if they are damaged
 * (fn may have been called with the rows before the damage); or -ENOMEM. Prints nothing.
 */
int lines__read(const struct elf_image *img, const struct lines_range *ranges, size_t n,
		lines_fn fn, void *ctx);

#endif /* QPROF_PLAN_SYMBOLS_LINES_H */
