/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Self time of spans that come in the order of their ends: a span's duration less that of the spans
 * it encloses directly. The depth says which those are.
 *
 * Where records were lost, the spans of a lost one count for the next that encloses them, and a
 * self time is never less than 0.
 */
#ifndef QPROF_TRACE_SELF_TIME_H
#define QPROF_TRACE_SELF_TIME_H

#include "base/cleanup.h"
#include "trace/trace.h"

struct self_time;

int self_time__new(struct self_time **out);

/*
 * Fill in span->self_ns, by the spans of its process and thread that came before. 0 or -ENOMEM.
 * Memory is by thread and depth, not by span.
 */
int self_time__span(struct self_time *st, struct trace_span *span);

/* The same, leaving the span as it is. */
int self_time__of(struct self_time *st, const struct trace_span *span, uint64_t *self_ns);

/* Free what is kept of a process: no span of it will come. */
void self_time__forget(struct self_time *st, uint32_t process);

void self_time__free(struct self_time *st);
DEFINE_CLEANUP(struct self_time, self_time__free)
#define _self_time_ __cleanup(self_time__free_p)

#endif /* QPROF_TRACE_SELF_TIME_H */
