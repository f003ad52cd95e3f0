/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Mining: finds the probe sites inside one function by what its code does, never by fixed offsets.
 *
 * Start here. A header of this directory shows the machine code that its .c file recognises.
 * These six matter most, in this order:
 *
 *	body.h		the body of a query: where it calls the provider, and where that returned
 *	guards.h	intervals that are no queries: activities, waits, loads, hashing, timers
 *	owners.h	the functions that hold addresses, their callers, the profiler's functions
 *	keys.h		which register or slot has a query's key at a site
 *	layout.h	where the compiler keeps names, source files and lines: rows of facts
 *	vtables.h	the vtables of queries, by which tables.h finds results and active jobs
 *
 * The others extend one of these: between.h and load_callers.h have the functions between a body
 * and a provider or a guard, cold_sides.h the arguments of guards, memory_keys.h keys in memory.
 * hits.h (cache hits) and llvm.h (passes of LLVM) stand alone. sites.h chooses among the sites.
 * plan/build.c says which finder runs when. Most use flow.h, eval.h and shape.h of plan/code.
 *
 * A body (an instance of rustc's try_execute_query) holds, for each place where it runs a
 * provider, the remains of rustc's own self-profiler:
 *
 *	testb $bit, mask(%tcx)          the event filter, zero in a normal run
 *	jne   cold                      the MASK site: executed just before each provider call
 *	movq  $0, D(%rsp)               "no guard"; the cold side calls cold_call(&D, ..) instead
 *	...   call provider ...
 *	mov   D(%rsp), %rax
 *	mov   %id, E(%rsp)              the invocation id, for the cold side below
 *	test  %rax, %rax
 *	jne   cold                      the END site: executed each time the provider has returned
 *
 * The guard's slot D is read off the cold side's call; from the mask site on, every path through
 * the code is walked until it meets a test of D. Only if no path leaves the function without
 * one are the ends called exact.
 */
#ifndef QPROF_PLAN_MINE_BODY_H
#define QPROF_PLAN_MINE_BODY_H

#include "plan/code/decode.h"
#include "plan/code/flow.h"
#include "plan/mine/frames.h"

/* ---- The vtable of a query ------------------------------------------------------------------- */

/*
 * Finds the query that a body is about to run: the location of the query's vtable just before the
 * call, and the offset of the provider's address in it. Derived from the indirect call by which the
 * body runs the provider.
 */

struct mined_vtable {
	uint8_t reg;	/* in this register, or WIRE_REG_NONE */
	int32_t slot;	/* else in the u64 this many bytes above sp, or VTABLE_NO_SLOT */
	int32_t offset; /* of the provider in the vtable, bytes; negative: nothing is known */
};

#define VTABLE_NO_SLOT (-1)

extern const struct mined_vtable vtable_none;

/* The value of that place in a state of the function; unknown if it, or the place, is. */
struct flow_value mined_vtable__value(const struct mined_vtable *vt, const struct flow_state *at);

/*
 * Set reg or slot to where the value is in that state: in one of the registers `regs`, as bits, or
 * else on the stack. False: that is not known.
 */
bool mined_vtable__place(struct mined_vtable *vt, const struct flow_state *at, struct flow_value v,
			 uint16_t regs);
/* ---- Bodies --------------------------------------------------------------------------------- */

#define MINE_MAX_SITES 16
#define MINE_MAX_CALLS 64

/* Where an END site finds the invocation id. */
struct mined_id {
	uint8_t reg;  /* in this register, or WIRE_REG_NONE */
	int32_t slot; /* else in the u32 this many bytes above sp, or MINE_NO_SLOT */
};

#define MINE_NO_SLOT (-1)

struct mined_site {
	uint64_t addr;
	struct mined_id id;	    /* END only */
	struct mined_vtable vtable; /* MASK only */
	bool emulated;
};

struct mined_body {
	struct mined_site masks[MINE_MAX_SITES];
	struct mined_site ends[MINE_MAX_SITES];
	size_t n_masks;
	size_t n_ends;
	bool masks_exact;    /* the mask sites are complete */
	uint64_t mask_disp;  /* of the filter, 0 if its test was not recognised */
	const char *problem; /* static text: why the ends are not exact; NULL if they are */
	/* Functions that it calls between a mask site and its ends, each once. */
	uint64_t calls[MINE_MAX_CALLS];
	bool provides[MINE_MAX_CALLS]; /* the call is of one that calls the provider (between.h) */
	size_t n_calls;
	bool more_calls; /* than are noted */
	/* It calls others there whose address it reads: at these offsets, or elsewhere. */
	int64_t offsets[MINE_MAX_SITES];
	size_t n_offsets;
	bool calls_others;
};

/* rustc's EventFilter::QUERY_PROVIDERS. */
#define MINE_QUERY_PROVIDERS 2

/* Addresses of the functions a body's cold sides call to start a query's guard. */
struct mine_cold {
	const uint64_t *addrs;
	size_t n;
	/* They start guards of other kinds too: a query's stands behind MINE_QUERY_PROVIDERS. */
	bool any_kind;
};

/*
 * Mine one body from its entry. The parts that run within executions are added to `frames`, which
 * may be NULL. Returns 0 or -ENOMEM; `problem` names the part that could not be found.
 */
int mine_body(const struct elf_image *img, const struct code *code, uint64_t entry,
	      const struct mine_cold *cold, struct frame_drafts *frames, struct mined_body *out);

/* Where the start of a function can be probed at the lowest cost. */
struct mined_entry {
	uint64_t addr;
	int32_t pushed; /* bytes pushed between the function's entry and this site */
	bool emulated;	/* false: only the entry itself, single-stepped, sees every call */
};

/*
 * The first emulated instruction on the straight line from `entry`: every call executes it once.
 * Falls back to the entry itself. Returns 0 or -EFAULT (no code there).
 */
int mine_entry(struct code_decoder *d, uint64_t entry, struct mined_entry *out);

/*
 * Bytes of stack that a function takes below its return address, if its prologue is straight-line
 * code; -ENOTSUP if the prologue moves sp by an unknown amount, -EFAULT (no code there).
 */
int mine_frame(struct code_decoder *d, uint64_t entry);

#endif /* QPROF_PLAN_MINE_BODY_H */
