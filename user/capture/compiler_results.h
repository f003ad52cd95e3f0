/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Counts the results of queries in the memory of a compiler that runs, as bpf/tables.h does in one
 * that has finished: each query's name must be where its vtable is said to be. The compiler changes
 * all of it meanwhile: a number may be less than it is in the end.
 */
#ifndef QPROF_CAPTURE_COMPILER_RESULTS_H
#define QPROF_CAPTURE_COMPILER_RESULTS_H

#include "capture/compiler_names.h"

/* Where a library has its tables: `queries` are tables.n. */
struct compiler_tables {
	struct wire_tables tables;
	struct wire_query_table *queries;
};

/*
 * Pass the counts of the compiler whose context is `c` to `record`, as the records WIRE_COUNTS that
 * the kernel half sends. What cannot be read is WIRE_NO_COUNT. 0, -ENODATA: nothing is known of
 * the library; -ETIME, or an error of `record`. Active jobs are counted at another moment than
 * WIRE_COUNTS_RUNNING: an execution that ends is in both tables for a while.
 */
int compiler_results__copy(const struct compiler_memory *m, const struct compiler_tables *t,
			   const struct wire_context *c, pid_t pid, uint64_t time_ns,
			   enum wire_counts_moment moment, compiler_names_fn record, void *ctx);

#endif /* QPROF_CAPTURE_COMPILER_RESULTS_H */
