/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What registers hold along a function of LLVM, as far as that follows from an argument, from the
 * result of a call, or from the stack (llvm_layout.h).
 */
#ifndef QPROF_PLAN_MINE_LLVM_SWEEP_H
#define QPROF_PLAN_MINE_LLVM_SWEEP_H

#include "plan/code/decode.h"
#include "qprof/wire_llvm.h"

/* PassManager<Function>::run() has 6.4 kB. */
#define LLVM_RUN_MAX 16384

/* No struct of LLVM on the way to a name is larger. */
#define LLVM_FIELD_MAX 65536u

#define LLVM_LOADS_MAX 4

enum llvm_root {
	LLVM_ROOT_UNKNOWN,
	LLVM_ROOT_ARGUMENT, /* the one that is followed */
	LLVM_ROOT_CONSTANT, /* `value` */
	LLVM_ROOT_RESULT,   /* of a call with the argument `value` */
	LLVM_ROOT_SLOT,	    /* the word at `value` and the stack pointer */
	LLVM_ROOT_LOADED,   /* what the instruction at `value` loads from elsewhere */
};

/*
 * What loads from a root lead to: `n` of them, `at` bytes from the address before. Without padding,
 * as values are compared by their bytes.
 */
struct llvm_value {
	uint64_t value;
	uint32_t at[LLVM_LOADS_MAX];
	uint32_t root;
	uint32_t n;
};

struct llvm_values {
	struct llvm_value regs[CODE_REG_SP];
};

/* Jumps forward of one function that are remembered. */
#define LLVM_JUMPS_MAX 32

struct llvm_jump {
	uint64_t to;
	struct llvm_values before;
};

struct llvm_sweep {
	struct llvm_values now;
	struct wire_llvm *out;
	struct code_insn insn;
	struct llvm_jump jumps[LLVM_JUMPS_MAX];
	uint32_t n_jumps;
	bool found;
	uint32_t steps; /* of one that has several */
	enum wire_llvm_kind kind;
	enum wire_reg argument; /* that is followed */
};

/* Reads `now` and `insn`. */
typedef void (*llvm_sweep_fn)(struct llvm_sweep *s);

const struct llvm_value *llvm_sweep__value(const struct llvm_sweep *s, uint8_t reg);

/* What a load from `disp` bytes behind an address has. */
struct llvm_value llvm_value__load(const struct llvm_value *from, int64_t disp);

bool llvm_value__is(const struct llvm_value *a, const struct llvm_value *b);

/*
 * Call `see` before each instruction of a function, in the order of their addresses. Jumps back are
 * not followed: what a loop changes is taken for what it was before.
 */
void llvm_sweep__run(struct code_decoder *d, const struct code_region *f, llvm_sweep_fn see,
		     struct llvm_sweep *s);

/*
 * The same, but nothing is known where a jump of the function may lead to. So what is known is
 * true, as long as other functions do not jump into this one. False, and nothing was seen: it has
 * more such places than are looked at, or jumps to computed ones.
 */
bool llvm_sweep__lines(struct code_decoder *d, const struct code_region *f, llvm_sweep_fn see,
		       struct llvm_sweep *s);

#endif /* QPROF_PLAN_MINE_LLVM_SWEEP_H */
