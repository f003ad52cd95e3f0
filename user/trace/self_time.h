/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Self time of spans that come in the order of their ends: a span's duration less that of the spans
 * it encloses directly. The depth says which those are.
 *
 * Where records were lost, the spans of a lost one count for the next that encloses them, and a
 * self time is never less than 0.
 *
 * And what our own probes took of both. A span has two hits, at its start and at its end, and each
 * of them lies partly before and partly after its reading of the clock. A span's own time holds the
 * inner parts of its own hits, and the outer parts of those of its children; its duration holds
 * all of both hits of every span in it. The estimate is what that many hits cost on average: to be
 * taken off sums. Taken off each span, and never more than there is, it would leave too much.
 *
 * And how much of both the thread was off the CPU. Spans that say so (TRACE_KIND_OFF_CPU) are no
 * children: they have no probes and no time of their own, and leave that of their parents alone.
 */
#ifndef QPROF_TRACE_SELF_TIME_H
#define QPROF_TRACE_SELF_TIME_H

#include "base/cleanup.h"
#include "trace/trace.h"

struct self_time;

/* 0, or -ENOMEM. */
int self_time__new(struct self_time **out);

/*
 * What the probes cost: spans from now on are given their part of it. Without a call, or if it was
 * not measured or is not in the times (any more), that is 0.
 */
void self_time__set_costs(struct self_time *st, const struct trace_costs *costs);

/* What is computed of a span; see struct trace_span. */
struct own_times {
	uint64_t self_ns;
	uint64_t probe_ns;
	uint64_t self_probe_ns;
	struct trace_off off;
};

/*
 * What is computed of a span, by the spans of its process and thread that came before. 0 or
 * -ENOMEM. Memory is by thread and depth, not by span.
 */
int self_time__of(struct self_time *st, const struct trace_span *span, struct own_times *times);

/* The same, filled in, and what is no part of a span. */
int self_time__span(struct self_time *st, struct trace_span *span, struct trace_off *off);

/* Free what is kept of a process: no span of it will come. */
void self_time__forget(struct self_time *st, uint32_t process);

void self_time__free(struct self_time *st);
DEFINE_CLEANUP(struct self_time, self_time__free)
#define _self_time_ __cleanup(self_time__free_p)

#endif /* QPROF_TRACE_SELF_TIME_H */
