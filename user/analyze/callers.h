/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Who asked for queries: executions by the function that their request came from. Fed with spans as
 * the summary is; locations are resolved at the end, each once. Memory is by location, some 250
 * bytes for each: a trace has no more of them than spans and bytes of functions, and no other
 * limit. Knows no output format.
 */
#ifndef QPROF_ANALYZE_CALLERS_H
#define QPROF_ANALYZE_CALLERS_H

#include "trace/trace.h"

struct callers;

struct caller_row {
	const char *function; /* whose it is as the locator says; NULL: the caller is not known */
	uint64_t count;
	uint64_t unwound;
	uint64_t total_ns; /* times without what our probes took, as far as the spans say */
	uint64_t self_ns;
	uint64_t max_ns;
	/* The line that most of them came from, and how many did; NULL: no line is known of any. */
	const char *file;
	uint32_t line;
	uint64_t line_count;
	uint32_t lines; /* different ones */
};

/* What a locindex stands for: trace_reader__location(). Texts outlive the rows. */
struct caller_locator {
	const void *ctx;
	bool (*locate)(const void *ctx, uint32_t locindex, struct trace_location *out);
};

/* 0, or -ENOMEM. */
int callers__new(struct callers **out);

/* Count a span, with what is computed filled in. -ENOMEM. */
int callers__span(struct callers *c, const struct trace_span *span);

/*
 * One row per function, by its name, and one for executions whose caller is not known; in no
 * particular order. To be freed with free(). -ENOMEM.
 */
int callers__rows(const struct callers *c, const struct caller_locator *locator,
		  struct caller_row **rows, size_t *n);

void callers__free(struct callers *c);
DEFINE_CLEANUP(struct callers, callers__free)
#define _callers_ __cleanup(callers__free_p)

#endif /* QPROF_ANALYZE_CALLERS_H */
