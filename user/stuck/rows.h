/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Joins what is known of a thread's queries and other intervals from two sources. The kernel half
 * recorded entries, which are exact and have a time. The frames on the stack (plan/frames.h) also
 * show what was entered before the watch began.
 *
 * The stack pointer joins the two. An entry lies in the frame of a function that is still on the
 * stack: the frame that contains the entry's sp. If there is no such frame, or if that frame does
 * not show an execution, then the query has ended and its end was not recorded.
 */
#ifndef QPROF_STUCK_ROWS_H
#define QPROF_STUCK_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "plan/frames.h"

/* An interval whose entry was recorded. */
struct entered {
	uint64_t sp;
	uint64_t start_ns;
	const char *name; /* of a query, or another label */
	uint32_t number;  /* of the query; or of the guard, of an activity */
	uint8_t kind;	  /* enum wire_kind */
	uint64_t key;	  /* wire_key() of a query's, or 0 */
};

/* One that the stack shows. */
struct shown {
	struct plan_shown at; /* its frames are indices of calls */
	const char *name;     /* NULL: unknown */
	uint64_t key;	      /* of a query's, as of an entry */
};

#define STUCK_NO_CALL UINT32_MAX

struct stuck_row {
	const char *name; /* as given; NULL: unknown */
	uint8_t kind;	  /* enum wire_kind */
	bool exact;	  /* the entry was recorded: start_ns is known */
	uint64_t start_ns;
	uint32_t call; /* the call where it was found, or STUCK_NO_CALL */
	uint64_t key;  /* of a query, or 0 */
	char *item;    /* what the key names, owned by the rows; or NULL */
	/* Of one that only the stack shows: as in struct plan_shown. */
	uint32_t query, guard;
};

struct stuck_rows {
	struct stuck_row *items; /* the outermost first */
	uint32_t n, capacity;
};

struct stuck_sources {
	const struct entered *entered; /* the outermost first */
	uint32_t n_entered;
	const struct shown *shown; /* the outermost first */
	uint32_t n_shown;
	const uint64_t *calls; /* the sp of each, the innermost first */
	uint32_t n_calls;
	bool whole; /* the calls reach the thread's first one */
};

/* Without calls, all entries are assumed to be running. 0 or -ENOMEM. */
int stuck_rows__find(const struct stuck_sources *from, struct stuck_rows *out);

void stuck_rows__clear(struct stuck_rows *rows);

#endif /* QPROF_STUCK_ROWS_H */
