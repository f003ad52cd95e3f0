/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The queries that a thread is in, from two sources: what it was seen to enter, which is exact and
 * has a time, and the calls on its stack, which also tell what it entered before anybody looked.
 *
 * sp joins them. What was entered lies in the frame of a function that is on the stack still: the
 * one that its sp is in. If there is none, its end was not seen, and it is over.
 */
#ifndef QPROF_STUCK_MERGE_H
#define QPROF_STUCK_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "stuck/places.h"

/* Seen to be entered. */
struct entered {
	uint64_t sp;
	uint64_t start_ns;
	const char *name; /* a query's, or another label */
	uint8_t kind;	  /* enum wire_kind */
};

/* A call on the stack. */
struct native_call {
	uint64_t sp;
	struct place place;
};

#define STUCK_NO_CALL UINT32_MAX

struct stuck_row {
	const char *name; /* as given; NULL: some query */
	uint8_t kind;	  /* enum wire_kind */
	bool exact;	  /* seen to be entered: start_ns is known */
	uint64_t start_ns;
	uint32_t call; /* that it was found at, or STUCK_NO_CALL */
};

struct stuck_rows {
	struct stuck_row *items; /* the outermost first */
	uint32_t n, capacity;
};

/*
 * `entered` has the outermost first, `calls` the innermost; `whole`: the calls go as far as the
 * thread's first. Without calls all that was entered is taken to be going on. 0 or -ENOMEM.
 */
int stuck_merge(const struct entered *entered, uint32_t n_entered, const struct native_call *calls,
		uint32_t n_calls, bool whole, struct stuck_rows *out);

void stuck_rows__clear(struct stuck_rows *rows);

#endif /* QPROF_STUCK_MERGE_H */
