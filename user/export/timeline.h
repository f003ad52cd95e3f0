/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the formats with a time axis have in common: processes and threads are told before their
 * first interval, intervals of a thread nest, counters say how much went on at a time, and what
 * would make the file too large is left out, the shortest first.
 *
 * Memory: by processes, threads, and intervals that nothing encloses yet (export/nesting.h).
 */
#ifndef QPROF_EXPORT_TIMELINE_H
#define QPROF_EXPORT_TIMELINE_H

#include "export/job.h"

struct timeline_process {
	const struct trace_process *process; /* the reader's */
	/* Its pid; or, as an exec and a reused pid make two processes of one, another number. */
	uint32_t pid;
	char *title; /* as it was told last; NULL: not yet */
};

struct timeline_thread {
	uint32_t index; /* dense from 0 */
	uint32_t tid;
	const struct timeline_process *process;
};

enum timeline_counter {
	TIMELINE_PROCESSES,
	TIMELINE_THREADS,
	TIMELINE_COUNTERS,
};

/* What the counter is called. */
const char *timeline_counter_text(enum timeline_counter counter);

/* A format. All of them return 0 or a negative errno. */
struct timeline_format {
	uint32_t span_bytes; /* about what a span takes */
	/* New, or its title has changed. */
	int (*process)(void *ctx, const struct timeline_process *p);
	/* New, or (a name that is not NULL) its name. */
	int (*thread)(void *ctx, const struct timeline_thread *t, const char *name);
	/* A span; an instant if it ends where it starts. */
	int (*span)(void *ctx, const struct timeline_thread *t, const struct trace_span *span);
	/* Every item, just as it was read, before it is told in other ways; or NULL. */
	int (*item)(void *ctx, const struct trace_item *item);
	/* The counter has this value from `at_ns` on. Called when all spans have been. Or NULL. */
	int (*counter)(void *ctx, enum timeline_counter counter, uint64_t at_ns, double value);
};

/* Read job->r and call a format with what is in it. */
int timeline_run(struct export_job *job, const struct timeline_format *format, void *ctx);

#endif /* QPROF_EXPORT_TIMELINE_H */
