/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The common part of the formats with a time axis. Processes and threads are announced before their
 * first interval, intervals of a thread nest, counters give the number of open intervals over time,
 * and the shortest intervals are left out to meet the size limit.
 *
 * Memory: per process, thread, and interval that no other encloses yet (export/nesting.h).
 */
#ifndef QPROF_EXPORT_TIMELINE_H
#define QPROF_EXPORT_TIMELINE_H

#include "export/job.h"

struct timeline_process {
	const struct trace_process *process; /* owned by the reader */
	/* Its pid, or another number if an exec or a reused pid makes two processes of one pid. */
	uint32_t pid;
	char *title; /* as passed last; NULL: not yet */
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

/* The counter's name. */
const char *timeline_counter_text(enum timeline_counter counter);

/* How a span with flags ended: "unwound", "left" or "open". */
const char *timeline_end_text(const struct trace_span *s);

/* The callbacks of a format. All return 0 or a negative errno. */
struct timeline_format {
	uint32_t span_bytes; /* approximate size of a span */
	/* A new process, or a changed title. */
	int (*process)(void *ctx, const struct timeline_process *p);
	/* A new thread, or, if `name` is not NULL, its name. */
	int (*thread)(void *ctx, const struct timeline_thread *t, const char *name);
	/* A span; an instant if it ends where it starts. */
	int (*span)(void *ctx, const struct timeline_thread *t, const struct trace_span *span);
	/* Every item as it was read, before any other callback for it; or NULL. */
	int (*item)(void *ctx, const struct trace_item *item);
	/* The counter has this value from `at_ns` on. Called after all spans; or NULL. */
	int (*counter)(void *ctx, enum timeline_counter counter, uint64_t at_ns, double value);
};

/* Read job->r and call the format's functions. */
int timeline_run(struct export_job *job, const struct timeline_format *format, void *ctx);

#endif /* QPROF_EXPORT_TIMELINE_H */
