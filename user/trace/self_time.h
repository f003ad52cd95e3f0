/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Computes the self time of spans that come in the order of their ends: a span's duration less the
 * durations of the spans it encloses directly, which their depth identifies. Where a record was
 * lost, its children count as children of the next span that encloses them. A self time is at least
 * 0.
 *
 * Also computed is the part of duration and self time that our own probes took. A span has two
 * hits, at its start and at its end; each begins before its reading of the clock and ends after it.
 * A span's self time contains the inner parts of its own hits and the outer parts of its children's
 * hits; its duration contains all hits of every span in it. The estimate is the average cost of
 * that many hits. Subtract it from sums: subtracted from each span, and limited by its time, it
 * would leave too much.
 *
 * The third is the time that the thread was off the CPU. Spans of TRACE_KIND_OFF_CPU are no
 * children: they have no probes and no self time, and do not reduce that of their parents.
 */
#ifndef QPROF_TRACE_SELF_TIME_H
#define QPROF_TRACE_SELF_TIME_H

#include "base/cleanup.h"
#include "trace/trace.h"

struct self_time;

/* 0, or -ENOMEM. */
int self_time__new(struct self_time **out);

/*
 * Set the cost of the probes, of which the spans from now on get their part. The part is 0 without
 * a call, if the cost was not measured, or if the times do not contain it.
 */
void self_time__set_costs(struct self_time *st, const struct trace_costs *costs);

/*
 * Compute the times of a span from the earlier spans of its thread. 0 or -ENOMEM. Memory grows with
 * threads and depth, not with spans.
 */
int self_time__span(struct self_time *st, const struct trace_span *span, struct trace_times *times);

/* Free the state of a process that has no more spans. */
void self_time__forget(struct self_time *st, uint32_t process);

void self_time__free(struct self_time *st);
DEFINE_CLEANUP(struct self_time, self_time__free)
#define _self_time_ __cleanup(self_time__free_p)

#endif /* QPROF_TRACE_SELF_TIME_H */
