/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The values of registers and stack slots at a point of a function, on every path to it: constants,
 * addresses of slots, the function's own arguments. A value on which paths disagree, or that code
 * outside the function may have changed, is unknown.
 */
#ifndef QPROF_PLAN_CODE_FLOW_H
#define QPROF_PLAN_CODE_FLOW_H

#include "plan/code/walk.h"

enum flow_kind {
	FLOW_UNKNOWN,
	FLOW_CONST, /* this number or address */
	FLOW_STACK, /* the address this many bytes above sp at the function's entry */
	FLOW_ENTRY, /* the value of this register (enum wire_reg) at the entry */
	/* An argument that was passed on the stack: the value this many bytes above sp at the
	 * entry. */
	FLOW_ARGUMENT,
	FLOW_FIELD, /* what was read from a FLOW_ENTRY and a distance: flow_field() */
};

struct flow_value {
	uint8_t kind;
	int64_t value;
};

/*
 * The word `at` bytes from where register `reg` leads at the entry. Two reads are taken to have the
 * same value: it is for what a caller passes by address, such as the captures of a closure.
 */
static inline struct flow_value flow_field(uint8_t reg, int64_t at)
{
	return (struct flow_value){FLOW_FIELD, at * 256 + reg};
}

#define FLOW_SLOTS 16

struct flow_slot {
	int64_t at; /* bytes above sp at the function's entry */
	struct flow_value value;
};

struct flow_state {
	struct flow_value regs[CODE_REG_SP];
	/* 8 bytes each that were written, oldest first; the value may be unknown. */
	struct flow_slot slots[FLOW_SLOTS];
	uint32_t n_slots;
	bool reached;
	bool has_sp;
	bool spoiled; /* something may have been written where arguments are */
	int64_t sp;   /* bytes above its value at the entry: negative */
};

struct flow;

/*
 * Follow the function that `w` walks from its entry, as far as needed for the states before the
 * instructions for which `asks` is true; all if `asks` is NULL. Returns 0 or -ENOMEM.
 */
int flow__new(const struct walk *w, uint64_t entry, bool (*asks)(const void *arg, size_t i),
	      const void *arg, struct flow **out);
void flow__free(struct flow *f);
DEFINE_CLEANUP(struct flow, flow__free)
#define _flow_ __cleanup(flow__free_p)

/*
 * The state before instruction `i`. `reached` is false if no path leads there, or if it was not
 * needed.
 */
void flow__at(const struct flow *f, size_t i, struct flow_state *out);

/* The slot at `at`, or NULL unless it was written on every path. */
const struct flow_slot *flow_state__slot(const struct flow_state *s, int64_t at);

#endif /* QPROF_PLAN_CODE_FLOW_H */
