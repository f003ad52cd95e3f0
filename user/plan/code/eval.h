/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Runs a small function on unknown arguments, along every path, and reports what it compares,
 * stores and returns as sums (sum.h) of what it was given and has read. A path on which a value is
 * given only takes the branches that this value leads to.
 *
 * A call may change all registers that the ABI lets it change. It is not known which calls never
 * return: what follows those is run as well, and may report values that no caller ever sees.
 */
#ifndef QPROF_PLAN_CODE_EVAL_H
#define QPROF_PLAN_CODE_EVAL_H

#include <stddef.h>

#include "plan/code/decode.h"
#include "plan/code/sum.h"

#define EVAL_RESULTS 128
#define EVAL_ASKED   4

/* The `size` bytes that register `reg` leads to at the entry, `at` bytes further, hold `value`. */
struct eval_given {
	uint8_t reg;
	uint8_t size;
	uint64_t at;
	uint64_t value;
};

struct eval_function {
	const struct elf_image *img;
	uint64_t entry;
	const struct code_region *regions; /* all its parts: a path that leaves them ends there */
	size_t n_regions;
	uint32_t steps; /* instructions to run at most; 0: as many as there is reason to */
	bool has_first; /* the first argument is `first` */
	bool has_second;
	uint64_t first, second;
	/*
	 * A known function that gets the address of a slot as its first argument fills in a struct
	 * there, and returns its address: what is read there next is a part of SUM_CALL.
	 */
	bool fills;
	/*
	 * A jump to another function goes on there, once; what a function returns is known that
	 * does no more than to find something in the thread's storage; and so are pointers that the
	 * dynamic linker writes.
	 */
	bool follows;
	const struct eval_given *given;
	size_t n_given;
	/*
	 * The run begins within a function: slots hold what was put there before, as what is read
	 * from the stack. A path ends at `until`, where the places in `asked` are looked up.
	 */
	bool inside;
	uint64_t until;
	const struct wire_place *asked;
	size_t n_asked; /* up to EVAL_ASKED */
};

/* The entry and the parts of a function `f` that has members of these names. */
#define EVAL_OF(f) .entry = (f)->entry, .regions = (f)->regions, .n_regions = (f)->n_regions

/* Each pair is there once, in the order in which the pairs were met. */
struct eval_pair {
	struct sum a, b;
};

struct eval_pairs {
	struct eval_pair items[EVAL_RESULTS];
	uint32_t n;
};

#define EVAL_CALLS 64

struct eval_call {
	uint64_t target; /* 0: it is computed, or another library's */
	struct sum first, second, third, fourth;
	struct sum halves[2]; /* 4 bytes each, in the slots that `first` leads to */
	struct sum whole;     /* 8 bytes, likewise */
	struct sum pieces[2]; /* 8 bytes each, in the slots that `second` leads to */
	struct sum words[2];  /* likewise of `third`, or of what is 16 bytes behind those */
	struct sum half;      /* the 4 bytes that `third` leads to */
};

struct eval {
	struct sum_nodes nodes;
	struct eval_pairs compares;	    /* both sides; 32-bit constants are not negative */
	struct eval_pairs stores;	    /* address and value of those outside the stack */
	struct eval_pairs returns;	    /* rax and rdx */
	struct eval_pairs leaves;	    /* jumps to other functions: where to, and rdi */
	struct eval_call calls[EVAL_CALLS]; /* the first ones; each is there once */
	uint32_t n_calls;
	bool arrived;			/* some path came to `until` */
	struct sum answers[EVAL_ASKED]; /* unknown if paths disagree */
	bool partial;			/* some path was not run to its end */
};

/* 0 and *out, which the caller frees, or -ENOMEM. */
int eval__run(const struct eval_function *f, struct eval **out);

#endif /* QPROF_PLAN_CODE_EVAL_H */
