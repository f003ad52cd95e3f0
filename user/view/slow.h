/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A line for each interval that took long, as soon as it has ended (record --slow). */
#ifndef QPROF_VIEW_SLOW_H
#define QPROF_VIEW_SLOW_H

#include <stdio.h>

#include "trace/trace.h"

/* True of an interval of the compiler's own that took `least_ns` or more without our probes. */
bool slow_is(const struct trace_span *s, uint64_t least_ns);

/*
 * Print one line about it, `name` being its label. On a terminal it replaces the line that the
 * cursor is in the first column of, such as cargo's progress. Written at once: others write there
 * too. 0 or a negative errno.
 */
int slow_print(FILE *out, const struct trace_span *s, const struct trace_off *off,
	       const struct trace_process *p, const char *name);

#endif /* QPROF_VIEW_SLOW_H */
