/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* From the registers of a frame to those of its caller, by an unwind rule. */
#ifndef QPROF_UNWIND_STEP_H
#define QPROF_UNWIND_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "qprof/wire_unwind.h"

struct unwind_registers {
	uint64_t pc, sp, bp, r11;
	bool bp_lost;	  /* bp is unknown */
	bool r11_lost;	  /* likewise: true of every caller */
	bool interrupted; /* pc is of the next instruction, and no return address */
};

/* The address by which a frame is looked up: a call may be the last instruction of a function. */
static inline uint64_t unwind_registers__pc(const struct unwind_registers *r)
{
	return r->pc - !r->interrupted;
}

/* Set *word to the word at `addr` of the thread's memory. False if it is not there. */
typedef bool unwind_read_fn(void *ctx, uint64_t addr, uint64_t *word);

enum unwind_stepped {
	UNWIND_CALLER,	/* *r is the caller's */
	UNWIND_WHOLE,	/* the frame has no caller */
	UNWIND_NO_RULE, /* the rule cannot be followed */
	UNWIND_NO_WORD, /* a word that it needs is not there */
};

/* The same steps as those of the kernel half (bpf/unwind.h). */
enum unwind_stepped unwind_registers__step(struct unwind_registers *r, struct wire_unwind_rule rule,
					   unwind_read_fn *read, void *ctx);

#endif /* QPROF_UNWIND_STEP_H */
