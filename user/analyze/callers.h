/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Callers: query executions by the function that requested them. Takes the same spans as the
 * summary. Each location is resolved once, at the end. Memory use is about 300 bytes per location
 * and query; a trace has no more of these than spans, and there is no other limit.
 * Knows no output format.
 */
#ifndef QPROF_ANALYZE_CALLERS_H
#define QPROF_ANALYZE_CALLERS_H

#include "trace/trace.h"

struct callers;

struct caller_row {
	const char *function; /* name of the calling function, from the locator; NULL: unknown */
	uint64_t count;
	uint64_t unwound;
	uint64_t total_ns; /* Times without probe time, as far as it is known. */
	uint64_t self_ns;
	uint64_t cpu_ns; /* of self_ns on the CPU: analyze/on_cpu.h */
	uint64_t max_ns;
	/* The line with the most executions, and their number; NULL: no line is known. */
	const char *file;
	uint32_t line;
	uint64_t line_count;
	uint32_t lines; /* number of different lines */
};

/* Resolves a locindex: trace_reader__location(). Texts must outlive the rows. */
struct caller_locator {
	const void *ctx;
	bool (*locate)(const void *ctx, uint32_t locindex, struct trace_location *out);
};

/* 0, or -ENOMEM. */
int callers__new(struct callers **out);

/* Count a span. -ENOMEM. */
int callers__span(struct callers *c, const struct trace_span *span,
		  const struct trace_times *times);

/*
 * One row per function name, and one for executions with an unknown caller, in no particular order.
 * Free with free(). -ENOMEM.
 */
int callers__rows(const struct callers *c, const struct caller_locator *locator,
		  struct caller_row **rows, size_t *n);

void callers__free(struct callers *c);
DEFINE_CLEANUP(struct callers, callers__free)
#define _callers_ __cleanup(callers__free_p)

#endif /* QPROF_ANALYZE_CALLERS_H */
