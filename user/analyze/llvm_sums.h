/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The sums of analyze/llvm.h, for those that make its rows. */
#ifndef QPROF_ANALYZE_LLVM_SUMS_H
#define QPROF_ANALYZE_LLVM_SUMS_H

#include "analyze/code_functions.h"
#include "analyze/llvm.h"
#include "base/table.h"

/* The samples of a process with one entry. */
struct llvm_cell {
	uint32_t process;
	struct trace_llvm entry;
	struct sample_sum self;
};

struct llvm_rest_sum {
	uint64_t key; /* enum llvm_rest_kind << 32 | number of the name */
	struct sample_sum self;
};

struct llvm_place;

struct llvm {
	struct llvm_source source;
	struct trace_texts texts;
	struct code_functions code;
	struct llvm_place *places; /* by number of an entry of stacks */
	uint32_t n_places;
	uint32_t n_known;
	const char **crates; /* by process */
	uint32_t n_crates;
	TABLE(struct llvm_cell) cells;	   /* by process << 32 | entry */
	TABLE(struct llvm_rest_sum) rests; /* by key */
	struct llvm_totals totals;
	uint64_t n_samples; /* of the CPU */
	uint64_t n_entries; /* of these, with an entry of LLVM */
};

#endif /* QPROF_ANALYZE_LLVM_SUMS_H */
