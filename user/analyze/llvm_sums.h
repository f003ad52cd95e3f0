/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The sums of analyze/llvm.h, for those that make its rows. */
#ifndef QPROF_ANALYZE_LLVM_SUMS_H
#define QPROF_ANALYZE_LLVM_SUMS_H

#include "analyze/code_name.h"
#include "analyze/llvm.h"
#include "base/table.h"

#define LLVM_NO_NATIVE UINT32_MAX

/* An entry, and the pass that the stack shows where the entry has none, or an adaptor. */
struct llvm_at {
	struct trace_llvm entry;
	uint32_t native; /* number of its function run(), or LLVM_NO_NATIVE */
};

/* The samples of a process with one of these. */
struct llvm_cell {
	uint32_t process;
	enum llvm_work work;
	struct llvm_at at;
	struct sample_sum self;
};

/* "InlinerPass" of "llvm::InlinerPass::run"; 0: the function is of no pass. */
size_t llvm_native_pass(const char *native, const char **pass);

/* Names for people of what LLVM does for no function, by its own functions that do it. */
extern const struct llvm_words {
	const char *text;
	enum llvm_work work;
	bool beat_passes; /* they say more than the name of the pass in which it ran */
} llvm_words[];

/* A kind of names beside those of enum llvm_rest_kind: of a pass that the stack shows. */
#define LLVM_REST_STACK_PASS (LLVM_REST_UNKNOWN + 1)

struct llvm_rest_sum {
	uint64_t key; /* kind << 32 | number of the name */
	struct sample_sum self;
};

struct llvm_process {
	const char *crate;
	const char *no_llvm; /* struct trace_process */
	uint64_t n_samples;  /* of the CPU */
};

/* The latest sample of a thread. */
struct llvm_last {
	struct llvm_at at; /* the entry's pass and function are TRACE_NO_STRING where unknown */
	uint64_t rest;	   /* key of a sum, if it was for no function */
	bool in_llvm, for_none;
};

struct llvm_place;

struct llvm {
	struct llvm_source source;
	struct llvm_instances instances;
	struct trace_texts texts;
	struct code_functions code;
	struct llvm_place *places; /* by number of an entry of stacks */
	uint32_t n_places;
	uint32_t n_known;
	struct llvm_process *processes; /* by number */
	uint32_t n_processes;
	TABLE(struct llvm_at) ats;	   /* by entry << 32 | native */
	TABLE(struct llvm_cell) cells;	   /* by process << 32 | number of these << 2 | work */
	TABLE(struct llvm_rest_sum) rests; /* by key */
	TABLE(struct llvm_last) threads;   /* by process << 32 | tid */
	struct llvm_totals totals;
	uint64_t n_samples; /* of the CPU */
	uint64_t n_entries; /* of these, with an entry of LLVM */
};

#endif /* QPROF_ANALYZE_LLVM_SUMS_H */
