/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Which items of a trace its reader returns. */
#ifndef QPROF_TRACE_FILTER_H
#define QPROF_TRACE_FILTER_H

#include "trace/trace.h"

/* Times are on the trace's clock. */
struct trace_filter {
	/* Leaves out spans and samples that end before it. A sample is a moment, or a time off the
	 * CPU. */
	uint64_t from_ns;
	uint64_t to_ns; /* leaves out those that start after it; UINT64_MAX: no limit */
	/*
	 * Selects processes, with their threads, spans, samples and tallies; NULL selects all. The
	 * reader asks again after each change of the process's record.
	 */
	bool (*process)(void *ctx, const struct trace_process *p);
	/*
	 * Selects labels of spans and tallies by text, and samples by the label of the
	 * innermost interval on their stack; NULL selects all. Asked once per label.
	 */
	bool (*label)(void *ctx, const char *text);
	void *ctx;
	/*
	 * Number the processes that are left from 0 on, as if the file held no others. Functions of
	 * the reader that take a process, or a span, take these numbers.
	 */
	bool renumber;
};

#endif /* QPROF_TRACE_FILTER_H */
