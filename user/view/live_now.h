/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The queries that running compilers are in, below the live table: a line or a JSON object each. */
#ifndef QPROF_VIEW_LIVE_NOW_H
#define QPROF_VIEW_LIVE_NOW_H

#include <stdio.h>

#include "analyze/summary.h"
#include "view/json.h"
#include "view/top_now.h"

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
void live_now__json(const struct live_now *found, size_t n, struct json *j);

#endif /* QPROF_VIEW_LIVE_NOW_H */
