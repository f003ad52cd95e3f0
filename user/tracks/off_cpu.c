// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/off_cpu.h"

const char *off_cpu__text(const struct wire_off_cpu *r)
{
	static const char *const texts[WIRE_OFF_MAX] = {
		[WIRE_OFF_PREEMPTED] = TRACE_OFF_PREEMPTED,
		[WIRE_OFF_WAITING] = TRACE_OFF_WAITING,
		[WIRE_OFF_UNINTERRUPTIBLE] = TRACE_OFF_UNINTERRUPTIBLE,
	};
	const wire_u32 flags = WIRE_SPAN_OPEN | WIRE_SPAN_LEFT;

	if (r->end_ns < r->start_ns || r->flags & ~flags || r->reason >= WIRE_OFF_MAX)
		return NULL;
	return texts[r->reason];
}

struct trace_span off_cpu__span(const struct wire_off_cpu *r)
{
	return (struct trace_span){
		.start_ns = r->start_ns,
		.end_ns = r->end_ns,
		.tid = r->tid,
		.invocation = TRACE_NO_INVOCATION,
		.depth = r->depth,
		.flags = (r->flags & WIRE_SPAN_LEFT ? TRACE_SPAN_LEFT : 0) |
			 (r->flags & WIRE_SPAN_OPEN ? TRACE_SPAN_OPEN : 0),
		.kind = TRACE_KIND_OFF_CPU,
	};
}
