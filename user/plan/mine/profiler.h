/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The remains of rustc's self-profiler in a library: its functions, and the calls of its cold
 * sides. */
#ifndef QPROF_PLAN_MINE_PROFILER_H
#define QPROF_PLAN_MINE_PROFILER_H

#include "plan/code/decode.h"
#include "plan/symbols/function_name.h"

struct profiler_cold {
	uint64_t addr;
	enum name_kind kind; /* NAME_COLD_... */
};

struct profiler_addrs {
	uint64_t *items;
	uint32_t n, capacity;
};

struct profiler {
	struct profiler_cold *cold; /* functions that start guards */
	uint32_t n_cold, cold_capacity;
	struct profiler_addrs drops;	   /* functions that drop one */
	struct profiler_addrs timer_drops; /* the same of a timer's */
	uint64_t timer;			   /* verbose_generic_activity, or 0 */
	/*
	 * Possible calls of, or jumps to, a function in `cold` that is no query's. Found by their
	 * bytes, which may lie within another instruction.
	 */
	struct profiler_addrs calls;
};

/*
 * Returns 0 or -ENOMEM, or an error of elf_image__symbols(); call profiler__destroy() in any case.
 */
int profiler__find(struct elf_image *img, const struct known_symbols *known, struct profiler *out);
void profiler__destroy(struct profiler *p);

/* The cold side that starts at `addr`, or NULL. */
const struct profiler_cold *profiler__cold(const struct profiler *p, uint64_t addr);

/* True if the function at `addr` drops a guard. */
bool profiler__drops(const struct profiler *p, uint64_t addr);

/* The function that a call or jump goes to; 0 if that is not known. */
uint64_t profiler__callee(const struct code_insn *insn);

#endif /* QPROF_PLAN_MINE_PROFILER_H */
