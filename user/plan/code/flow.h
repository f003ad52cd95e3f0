/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What is known at the points of a function, on every path to them: states of a domain are
 * propagated forward until nothing changes. A domain says what a state is, what an instruction does
 * to it, and what is left where paths join. The domains: the contents of registers and slots
 * (below), and where the key of a query is (mine/body_key.h).
 *
 * A function's sp at an instruction is the same on every path. A path with another sp does not
 * exist: it comes from reading past the end of a switch's table. So switches are followed last.
 */
#ifndef QPROF_PLAN_CODE_FLOW_H
#define QPROF_PLAN_CODE_FLOW_H

#include "plan/code/walk.h"

struct fixpoint_domain {
	size_t size; /* of a state */
	/* Keep the state before each instruction. Else those at the starts of blocks are kept, and
	 * others computed on request. */
	bool each;
	void (*apply)(const void *arg, void *state, const struct code_insn *insn);
	/* True if `to` changed. Not called for a path with another sp: that changes nothing. */
	bool (*join)(const void *arg, void *to, const void *from);
	/* An indirect jump there leaves the function. NULL: none is known to. */
	bool (*is_left)(const void *state);
	/*
	 * A switch that could not be read may go to any block that nothing else leads to. What is
	 * known there; NULL: such blocks are not followed.
	 */
	void (*forget)(const void *state, void *out);
};

struct fixpoint;

/*
 * For the function that `w` walks. Only what is needed for the states before the instructions for
 * which `asks` is true will be followed; all if it is NULL. Returns 0 or -ENOMEM.
 */
int fixpoint__new(const struct walk *w, uint64_t entry, const struct fixpoint_domain *domain,
		  const void *arg, bool (*asks)(const void *asked, size_t i), const void *asked,
		  struct fixpoint **out);
void fixpoint__free(struct fixpoint *f);
DEFINE_CLEANUP(struct fixpoint, fixpoint__free)
#define _fixpoint_ __cleanup(fixpoint__free_p)

/* A path leads to instruction `i` (SIZE_MAX: to none) in this state. Then run. */
void fixpoint__reach(struct fixpoint *f, size_t i, const void *state);
void fixpoint__run(struct fixpoint *f);

/* The state before the instruction at the start of the block around `i`; NULL: no path leads there.
 */
const void *fixpoint__state(const struct fixpoint *f, size_t i);

/* The state before instruction `i` into *out; false: no path leads there. */
bool fixpoint__at(const struct fixpoint *f, size_t i, void *out);

/* ---- Contents of registers and slots -----------------------------------------------------------
 */

/*
 * The values of registers and stack slots at a point of a function, on every path to it: constants,
 * addresses of slots, the function's own arguments. A value on which paths disagree, or that code
 * outside the function may have changed, is unknown.
 */

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

/*
 * Follow the function that `w` walks from its entry, as far as needed for the states before the
 * instructions for which `asks` is true; all if `asks` is NULL. Returns 0 or -ENOMEM.
 */
int flow__new(const struct walk *w, uint64_t entry, bool (*asks)(const void *arg, size_t i),
	      const void *arg, struct fixpoint **out);

/*
 * The state before instruction `i`. `reached` is false if no path leads there, or if it was not
 * needed.
 */
void flow__at(const struct fixpoint *f, size_t i, struct flow_state *out);

/* The state at the entry, and what one instruction does to a state. */
void flow_state__enter(struct flow_state *s);
void flow_state__apply(struct flow_state *s, const struct code_insn *insn);

/* The slot at `at`, or NULL unless it was written on every path. */
const struct flow_slot *flow_state__slot(const struct flow_state *s, int64_t at);

#endif /* QPROF_PLAN_CODE_FLOW_H */
