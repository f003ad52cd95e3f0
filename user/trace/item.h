/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* One item of a trace, as its reader returns it. */
#ifndef QPROF_TRACE_ITEM_H
#define QPROF_TRACE_ITEM_H

#include "trace/trace.h"

enum trace_item_kind {
	TRACE_ITEM_END = 0,
	TRACE_ITEM_SPAN,
	TRACE_ITEM_PROCESS, /* new or updated */
	TRACE_ITEM_LOSSES,
	TRACE_ITEM_THREAD, /* its name, new or changed */
	TRACE_ITEM_COSTS,
	TRACE_ITEM_OVERHEAD, /* replaces the one before */
	TRACE_ITEM_PART,     /* at most one counts */
	TRACE_ITEM_REBUILT,
	TRACE_ITEM_TALLY,
	TRACE_ITEM_RESULTS,
	TRACE_ITEM_SAMPLING, /* before all samples, at most once */
	TRACE_ITEM_SAMPLE,
};

struct trace_item {
	enum trace_item_kind kind;
	union {
		struct trace_span span;
		const struct trace_process *process; /* the reader's; valid until it is freed */
		struct trace_losses losses;
		struct trace_thread thread; /* its name is valid until the reader is freed */
		struct trace_costs costs;
		struct trace_overhead overhead;
		uint32_t part; /* of a build that has several traces; from 1 */
		struct trace_rebuilt rebuilt;
		struct trace_tally tally;
		struct trace_results results; /* its list is valid until the next item */
		struct trace_sampling sampling;
		struct trace_sample sample;
	};
};

#endif /* QPROF_TRACE_ITEM_H */
