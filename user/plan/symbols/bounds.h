/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where the functions of a library begin and end, without its symbols: .eh_frame has a record for
 * each, and one more for each part that the compiler or BOLT split off it.
 */
#ifndef QPROF_PLAN_SYMBOLS_BOUNDS_H
#define QPROF_PLAN_SYMBOLS_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "plan/symbols/elf_image.h"

#define BOUNDS_NONE UINT32_MAX

struct bound {
	uint64_t addr;
	uint64_t size; /* not 0 */
	/* The number of the function: its own, or of a part, where jumps lead to it from;
	 * BOUNDS_NONE: a part to which no jump leads. */
	uint32_t of;
};

struct bounds {
	struct bound *items; /* by address; no two begin at the same */
	uint32_t n, capacity;
};

/*
 * Read them from a mapped image. A part is told by its place in the sections in which BOLT puts
 * them, or by its stack: functions begin with nothing but the return address on it. 0, -ENOMEM, or
 * -ENODATA if there is no .eh_frame that can be read. Prints nothing. Destroy it in any case.
 */
int bounds__find(const struct elf_image *img, struct bounds *out);

/* The function or part that holds `addr`, or NULL. */
const struct bound *bounds__at(const struct bounds *b, uint64_t addr);

/* True if a function, not a part, begins at `addr`. */
bool bounds__starts(const struct bounds *b, uint64_t addr);

void bounds__destroy(struct bounds *b);
#define _bounds_ __cleanup(bounds__destroy)

/*
 * BOLT moves functions to a new .text, and leaves the old ones where they were, with their records
 * in .eh_frame. Nothing leads to these any more, so that is how they are told from functions that
 * BOLT has not moved, which lie between them.
 */

/*
 * Remove the functions in BOLT's old section (.bolt.org.text) that no exported symbol, no pointer
 * in data and no code that is reached itself leads to. Other numbers in `b` change with it. 0 or
 * -ENOMEM. Uses elf_image__any_symbols().
 */
int reached__keep(struct elf_image *img, struct bounds *b);

#endif /* QPROF_PLAN_SYMBOLS_BOUNDS_H */
