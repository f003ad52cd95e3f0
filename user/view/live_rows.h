/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The rows of a live table of samples: with the numbers of executions that are known by now. */
#ifndef QPROF_VIEW_LIVE_ROWS_H
#define QPROF_VIEW_LIVE_ROWS_H

#include <stdio.h>

#include "base/table.h"
#include "view/view.h"
#include "analyze/summary.h"
#include "view/columns.h"
#include "view/top_now.h"

struct live_row {
	uint32_t label; /* TRACE_NO_STRING: in no query or other interval that is known */
	uint8_t kind;	/* enum trace_kind */
	struct sample_sum self, total;
	/* Of a query, its results, as struct summary_row; else intervals. 0: not known, or none. */
	uint64_t count;
	uint64_t unsure;
	bool at_least; /* of what still runs, or of what was not read, there may be more */
	bool is_rated;
	uint64_t rate; /* of `count`, per second */
};

static inline uint64_t live_row__key(uint32_t label, bool is_activity)
{
	return (uint64_t)label << 1 | is_activity;
}

/*
 * By falling self time, then by falling counts; without rates. state->samples is set. The caller
 * frees them. 0 or -ENOMEM.
 */
int live_rows__make(const struct live_state *state, struct live_row **rows, uint32_t *n);

struct live_rate {
	uint64_t count;
	uint64_t rate;
};

/* All zeroes is empty; free `rates` with table__destroy(). */
struct live_rates {
	uint64_t rounds;	       /* of struct live_results, when they were made last */
	uint64_t last_ns;	       /* 0: they were not */
	bool is_known;		       /* they were made twice */
	TABLE(struct live_rate) rates; /* by live_row__key() */
};

/* Rates of the rows, which change with each round of readings alone. 0 or -ENOMEM. */
int live_rates__set(struct live_rates *all, const struct live_state *state, struct live_row *rows,
		    uint32_t n);

/* The queries that running compilers are in, below the live table: a line or a JSON object each. */

/* A compiler that runs, and what it is in. Both are borrowed. */
struct live_now {
	const struct trace_process *process;
	const struct top_now *in;
};

/*
 * Those of `nows` (NULL: none) whose compilers still run, in the order in which these began.
 * Returns their number.
 */
size_t live_now__find(const struct top_nows *nows, const struct summary *s,
		      struct live_now found[TOP_NOW_MAX]);

/* Print `n` lines of at most `columns`: "regex_syntax  typeck(regex_syntax::..)". 0 or -ENOMEM. */
int live_now__print(const struct live_now *found, size_t n, size_t columns, const char *indent,
		    FILE *out);

/* Add the array "now"; the name of its crate is compile_name(). */
void live_now__columns(struct columns *c, const struct live_now *found, size_t n);

#endif /* QPROF_VIEW_LIVE_ROWS_H */
