/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The common part of the formats with a time axis. Processes and threads are announced before their
 * first interval or sample, intervals of a thread nest, counters give the number of open intervals
 * over time and the memory of each process that was touched, and the shortest intervals are left
 * out to meet the size limit.
 *
 * Intervals of queries without probes are those that samples met, with TRACE_SPAN_SAMPLED.
 *
 * Memory: per process, thread, interval that no other encloses yet (export/nesting.h), and sampled
 * page fault (export/memory_growth.h). With sampled intervals, as export/span_merge.h says.
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

/* The name of the counter of memory, which each process has that faults were sampled of. */
#define TIMELINE_MEMORY "memory touched"

/* The counter's name. */
const char *timeline_counter_text(enum timeline_counter counter);

/* How a span with flags ended: "unwound", "left" or "open"; or "sampled" (TRACE_SPAN_SAMPLED). */
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
	/* A sample; or NULL. */
	int (*sample)(void *ctx, const struct timeline_thread *t, const struct trace_sample *s);
	/* Every item as it was read, before any other callback for it; or NULL. */
	int (*item)(void *ctx, const struct trace_item *item);
	/* The counter has this value from `at_ns` on. Called after all spans; or NULL. */
	int (*counter)(void *ctx, enum timeline_counter counter, uint64_t at_ns, double value);
	/*
	 * So many bytes had become resident in a process by `at_ns`, from 0 at its start, or the
	 * capture's, on. Called after all spans, for one process after another, in the order of
	 * time; or NULL.
	 */
	int (*memory)(void *ctx, const struct timeline_process *p, uint64_t at_ns, uint64_t bytes);
};

/* Read job->r and call the format's functions. */
int timeline_run(struct export_job *job, const struct timeline_format *format, void *ctx);

#endif /* QPROF_EXPORT_TIMELINE_H */
