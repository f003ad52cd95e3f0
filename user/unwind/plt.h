/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The rules of a procedure linkage table, for linkers that do not write them (lld): its entries
 * jump to functions of other files, and until the dynamic linker has found the function, push its
 * number and jump to the first entry, which pushes once more.
 */
#ifndef QPROF_UNWIND_PLT_H
#define QPROF_UNWIND_PLT_H

#include <stddef.h>
#include <stdint.h>

#include "plan/symbols/cfa.h"

struct unwind_plt {
	uint64_t start; /* ELF virtual address */
	uint64_t length;
	const uint8_t *code; /* `length` bytes, not owned */
};

/*
 * Call `run` as cfa__run() does, for the part from `plt->start` up to `end`. A table whose entries
 * have no form that is known gets no run. 0, or the first error of `run`.
 */
int unwind_plt__run(const struct unwind_plt *plt, uint64_t end, cfa_run_fn *run, void *ctx);

#endif /* QPROF_UNWIND_PLT_H */
