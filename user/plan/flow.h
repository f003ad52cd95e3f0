/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What registers and stack slots hold at a point of a function, whichever way control came there:
 * constants, addresses of slots, the function's own arguments. What only some ways agree on, and
 * what code outside the function may have changed, is not known.
 */
#ifndef QPROF_PLAN_FLOW_H
#define QPROF_PLAN_FLOW_H

#include "plan/walk.h"

enum flow_kind {
	FLOW_UNKNOWN,
	FLOW_CONST, /* this number or address */
	FLOW_STACK, /* the address this many bytes above sp at the function's entry */
	FLOW_ENTRY, /* what this register (enum wire_reg) held at the entry */
};

struct flow_value {
	uint8_t kind;
	int64_t value;
};

#define FLOW_SLOTS 16

struct flow_slot {
	int64_t at; /* bytes above sp at the function's entry */
	struct flow_value value;
};

struct flow_state {
	struct flow_value regs[CODE_REG_SP];
	/* 8 bytes each that were written, oldest first; they may hold what is not known. */
	struct flow_slot slots[FLOW_SLOTS];
	uint32_t n_slots;
	bool reached;
	bool has_sp;
	int64_t sp; /* bytes above what it was at the entry: negative */
};

struct flow;

/*
 * Follow the function that `w` walks, whose entry is `entry`, as far as the states before those
 * instructions need it that `asks` is true of; all if it is NULL. Returns 0 or -ENOMEM.
 */
int flow__new(const struct walk *w, uint64_t entry, bool (*asks)(const void *arg, size_t i),
	      const void *arg, struct flow **out);
void flow__free(struct flow *f);
DEFINE_CLEANUP(struct flow, flow__free)
#define _flow_ __cleanup(flow__free_p)

/*
 * The state before instruction `i`; `reached` is false if no way goes there, or neither it nor any
 * that a way goes to from there was asked for.
 */
void flow__at(const struct flow *f, size_t i, struct flow_state *out);

/* The slot at `at`, or NULL if nothing was written there on every way. */
const struct flow_slot *flow_state__slot(const struct flow_state *s, int64_t at);

#endif /* QPROF_PLAN_FLOW_H */
