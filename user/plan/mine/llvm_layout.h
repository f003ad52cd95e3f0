/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where LLVM keeps the list of what runs on a thread, and the names of functions. All of it is read
 * off exported functions, as 22 has them:
 *
 *	SavePrettyStackState	lea  GOT(%rip), %rdi		the library's thread-local memory
 *				call __tls_get_addr
 *				mov  0x48(%rax), %rax		the head of the list
 *	PrettyStackTraceEntry()	mov  0x48(%r14), %rcx		an entry has the one around
 *				mov  %rcx, 0x8(%rbx)
 *	Value::getName		testb $0x10, 0x7(%rdi)		it has a name
 *				mov  0x8(%rdi), %rax		its type,
 *				mov  (%rax), %rax		the context,
 *				mov  (%rax), %rcx		what is private to that:
 *				mov  0xa0(%rcx), %rax		the table of names
 *				mov  0xb0(%rcx), %ecx		and its size
 *				... shr $4, shr $9, xor		where the value is in it
 *				mov  0x8(%r10), %rax		the entry of its name
 *				mov  (%rax), %rdx		the name's length,
 *				add  $0x10, %rax		and the name
 *	LLVMIsAFunction		cmpb $0xd, (%rdi)		the kind of a function
 *	print() of an entry	mov  0x20(%r14), %rdi		the pass: a virtual function of it
 *				mov  (%rdi), %rax		is called
 *				call *0x18(%rax)
 *				mov  0x18(%r14), %rsi		and what the pass runs on
 *	InlinerPass::run	mov  0x8(%rdx), %rax		a component's nodes,
 *				mov  (%rax), %rax		the first of them,
 *				mov  0x8(%rax), %rax		and its function
 *	PassManager<SCC>::run	mov  (%rsi), %rax		where the stack has the component
 *				mov  0x18(%rsp), %rdx		that a pass runs on
 *				call *0x10(%rax)
 */
#ifndef QPROF_PLAN_MINE_LLVM_LAYOUT_H
#define QPROF_PLAN_MINE_LLVM_LAYOUT_H

#include "plan/code/decode.h"
#include "plan/mine/llvm_passes.h"
#include "qprof/wire.h"
#include "qprof/wire_llvm.h"

/* ---- Sweep ----------------------------------------------------------------------------------- */

/*
 * What registers hold along a function of LLVM, as far as that follows from an argument, from the
 * result of a call, or from the stack (llvm_layout.h).
 */

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

/* Why nothing is known; also in a stored file. */
enum llvm_problem {
	LLVM_FOUND,
	LLVM_NO_LIBRARY, /* the list is another library's */
	LLVM_NO_HEAD,
	LLVM_NO_ENTRIES,
	LLVM_NO_PASS_MANAGER,
	LLVM_NO_NAMES,
	LLVM_NO_KIND,
	LLVM_HIDDEN, /* the list may be a part of this library, which does not show it */
	LLVM_PROBLEMS,
};

/* Text for a line; of LLVM_FOUND and unknown ones NULL. */
const char *llvm_problem_text(enum llvm_problem problem);

/* Set *out, if *problem is LLVM_FOUND. 0 or -ENOMEM. */
int llvm_layout__mine(struct elf_image *img, const struct llvm_symbols *s, struct wire_llvm *out,
		      enum llvm_problem *problem);

/* Whether all fields are within the limits of wire_llvm.h. */
bool llvm_layout_is_sound(const struct wire_llvm *layout);

#endif /* QPROF_PLAN_MINE_LLVM_LAYOUT_H */
