/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where functions have saved the registers that they preserve, which unwind tables leave out. A
 * child process (plan/file_job.h) reads .eh_frame: 10 ms for librustc_driver.
 */
#ifndef QPROF_UNWIND_PRESERVED_H
#define QPROF_UNWIND_PRESERVED_H

#include "plan/library/file.h"
#include "plan/symbols/cfa.h"

/* The most pcs of a call. */
#define UNWIND_PRESERVED_MAX 512

/*
 * For each of `n` pcs, which are ELF virtual addresses in rising order: all zeroes, so unknown, if
 * no function is there. 0, or a negative errno: -ETIME if the child takes longer than `most_ns`.
 * Prints nothing.
 */
int unwind_preserved__find(struct library_file *file, const uint64_t *pcs, uint32_t n,
			   uint64_t most_ns, struct cfa_preserved *out);

#endif /* QPROF_UNWIND_PRESERVED_H */
