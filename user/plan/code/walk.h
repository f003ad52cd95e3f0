/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Paths through the code of one function: backwards from a call of the profiler's cold side to the
 * branch that leads there, forwards from that branch to the tests of the guard that it starts.
 */
#ifndef QPROF_PLAN_CODE_WALK_H
#define QPROF_PLAN_CODE_WALK_H

#include "plan/code/decode.h"

/* How far one step of pattern matching looks, in instructions. */
#define WALK_NEAR 16
/* Entries of a switch that are followed. */
#define WALK_TABLE_MAX 512
#define WALK_MAX_ENDS  16

#define WALK_NOWHERE UINT32_MAX

struct walk_work;

struct walk {
	const struct elf_image *img;
	const struct code *code;
	/*
	 * Per instruction: the target of its jump, or WALK_NOWHERE if it does not jump or leaves
	 * the function.
	 */
	uint32_t *to;
	uint32_t *branches;	/* instructions that jump, sorted by target */
	uint32_t *first_branch; /* per instruction, and one more: the first branch to it */
	uint32_t *seen;	  /* per instruction: the states in which the current walk has reached it */
	bool *live;	  /* per instruction: control can reach it from the entry */
	uint64_t *tables; /* addresses of the tables of its switches, sorted */
	uint32_t n_tables, tables_capacity;
	struct walk_work *work;
	uint32_t n_work, work_capacity;
};

/*
 * Prepare to walk the function of `code` from its entry; marks the instructions that control can
 * reach from there, or all if that is unknown. Returns 0 or -ENOMEM. Call walk__fini() in any case.
 */
int walk__init(struct walk *w, const struct elf_image *img, const struct code *code,
	       uint64_t entry);
void walk__fini(struct walk *w);

/* True if a jump of the function leads to instruction `i`. */
bool walk__is_branched_to(const struct walk *w, size_t i);

/*
 * The number of instructions from which control reaches `i`, and the `k`-th of them; SIZE_MAX if
 * there is none.
 */
size_t walk__ways_to(const struct walk *w, size_t i);
size_t walk__way_to(const struct walk *w, size_t i, size_t k);

/*
 * The targets of the switch that ends in the indirect jump `i`: up to WALK_TABLE_MAX; 0 if it could
 * not be read. A table ends where another one of the function begins, or at an entry that leads out
 * of it; entries behind its end may be read before.
 */
size_t walk__table(const struct walk *w, size_t i, uint64_t *targets);

struct walk_guard {
	size_t mask;	 /* index of the branch to the cold side */
	uint64_t resume; /* where a normal run continues */
	int64_t slot;	 /* the guard's offset from sp */
	bool has_slot;
};

/*
 * Walk backwards from the cold side's call to the branch that leads there, noting the guard's
 * address (first argument: rdi) on the way. False if it was not recognised.
 */
bool walk__guard(const struct walk *w, size_t call, struct walk_guard *g);

/*
 * The same where several branches lead to one call: up to `most` of them. 0 if there are more, or
 * one was not recognised.
 */
size_t walk__guards(const struct walk *w, size_t call, struct walk_guard *out, size_t most);

/* The test of the filter just before the branch `mask`, or NULL. */
const struct code_insn *walk__mask_test(const struct code *code, size_t mask);

/* The places that end a guard's interval. */
struct walk_ends {
	/*
	 * True if the call `i` drops the guard, and no test follows that would show the drop; NULL
	 * if no call does.
	 */
	bool (*is_drop)(const void *arg, size_t i);
	const void *arg;
	size_t at[WALK_MAX_ENDS]; /* indices, in the order in which they were found */
	size_t n;
	const char *problem; /* static text: why some path meets no end, or NULL */
};

/*
 * Walk every path from `from` to a test of the guard in `slot`, or to its drop. Returns 0, -ENOMEM
 * or -E2BIG (more ends than WALK_MAX_ENDS).
 */
int walk__ends(struct walk *w, uint64_t from, int64_t slot, struct walk_ends *out);

#endif /* QPROF_PLAN_CODE_WALK_H */
