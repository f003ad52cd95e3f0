/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A line for each long interval, printed as soon as it ends (record --slow). */
#ifndef QPROF_VIEW_SLOW_H
#define QPROF_VIEW_SLOW_H

#include <stdio.h>

#include "trace/trace.h"

/* True for an interval of the compiler itself. */
bool slow_is_interval(const struct trace_span *s);

/* How long it took, without probe time. */
uint64_t slow_ns(const struct trace_span *s, const struct trace_times *times);

/* As trace_times.self_ns: what is known is that of an activity and of the queries in it. */
#define SLOW_WITH_QUERIES UINT64_MAX

/*
 * Print one line about `s` to `to`; `name` is its label; times->self_ns may be SLOW_WITH_QUERIES;
 * `item` what it was about, or NULL. If `screen`, where the line will appear, is a terminal, the
 * line replaces the one with the cursor in its first column, such as cargo's progress. 0 or
 * -ENOMEM.
 */
int slow_print(FILE *to, FILE *screen, const struct trace_span *s, const struct trace_times *times,
	       const struct trace_process *p, const char *name, const char *item);

#endif /* QPROF_VIEW_SLOW_H */
