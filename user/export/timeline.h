/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The common part of the formats with a time axis. Processes and threads are announced before their
 * first interval or sample, intervals of a thread nest, counters give the number of open intervals
 * over time and the memory of each process that was touched, and the shortest intervals are left
 * out to meet the size limit.
 *
 * Intervals of queries without probes are those that samples met, with TRACE_SPAN_SAMPLED.
 *
 * Memory: per process, thread, interval that no other encloses yet, and sampled
 * page fault. With sampled intervals, as export/span_merge.h says.
 */
#ifndef QPROF_EXPORT_TIMELINE_H
#define QPROF_EXPORT_TIMELINE_H

#include <stdint.h>

#include "base/table.h"
#include "export/job.h"
#include "trace/trace.h"

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

/*
 * Makes the intervals of a thread nest, for readers that fail otherwise. Captured intervals nest
 * already and are left unchanged; other traces may hold anything.
 */

struct nesting_thread;

/* All zeroes is empty. */
struct nesting {
	TABLE(struct nesting_thread) threads; /* by tid */
};

/*
 * Take the next interval of a thread, start <= end, at the `depth` that the trace gives. Returns 1
 * if it was shortened or moved, because it ended before the previous interval or overlapped an
 * earlier one without enclosing it; else 0, or -ENOMEM. Memory is per thread and per interval that
 * no other encloses yet.
 */
int nesting__fit(struct nesting *n, uint32_t tid, uint16_t depth, uint64_t *start, uint64_t *end);

void nesting__destroy(struct nesting *n);

/*
 * Puts the starts of a thread's intervals into an order that a stable sort by time keeps correct.
 *
 * Spans arrive in the order of their ends, children before parents. A viewer that draws separate
 * starts and ends sorts them by time, and keeps the order of the file for equal times. So if a
 * child starts together with its parent, the parent's start must be written first, although the
 * parent arrives later. The first children of each open interval are kept for that, as many as the
 * spans are nested deep.
 */

struct begin;

/* State of one thread; all zeroes is empty. */
struct begins {
	struct begin *kept;
	uint32_t n;
	uint32_t capacity;
};

/* Write the start of `span`: 0 or a negative errno. */
typedef int (*begins_fn)(void *ctx, const struct trace_span *span);

/*
 * Take the next span, which is longer than 0 ns, and call `write` for each start whose position is
 * now known. 0, -ENOMEM, or the error of `write`.
 */
int begins__span(struct begins *b, const struct trace_span *span, begins_fn write, void *ctx);

/* No more spans: write the kept starts. */
int begins__finish(struct begins *b, begins_fn write, void *ctx);

void begins__destroy(struct begins *b);

/*
 * The number of intervals that are open at a time, as a mean over each of at most
 * PARALLELISM_BUCKETS equal buckets of time. A bucket lasts 1 ms, doubled as often as needed.
 * Intervals may come in any order; memory does not depend on their number.
 */

#define PARALLELISM_BUCKETS 4096u

struct parallelism {
	uint64_t base_ns;
	uint64_t width_ns;			/* of a bucket */
	uint32_t used;				/* buckets with any interval */
	uint64_t busy_ns[PARALLELISM_BUCKETS];	/* of intervals that begin or end in it */
	int64_t whole[PARALLELISM_BUCKETS + 1]; /* intervals that fill it, less the bucket before */
};

/* Time before `base_ns` does not count. */
void parallelism__init(struct parallelism *p, uint64_t base_ns);

/* start_ns <= end_ns */
void parallelism__add(struct parallelism *p, uint64_t start_ns, uint64_t end_ns);

/* From `at_ns` on, `mean` intervals are open. 0 or a negative errno. */
typedef int (*parallelism_fn)(void *ctx, uint64_t at_ns, double mean);

/* Call `put` for each change, in the order of time; the last is to 0. 0, or the error of `put`. */
int parallelism__each(const struct parallelism *p, parallelism_fn put, void *ctx);

/*
 * How much memory page faults have made resident in each process over time, by sampled faults,
 * which come in no order. It only grows: what is freed is not seen. 24 bytes for each sample.
 */

/* More samples of a process share a point. */
#define MEMORY_GROWTH_POINTS 4096u

struct memory_fault {
	uint64_t at_ns;
	uint64_t bytes;
	uint32_t process; /* index */
};

/* All zeroes is empty. */
struct memory_growth {
	struct memory_fault *at;
	uint32_t n;
	uint32_t capacity;
};

/* 0 or -ENOMEM. */
int memory_growth__add(struct memory_growth *g, const struct memory_fault *fault);

/*
 * Call `put` with sums: the bytes of a process up to and with this time. Processes in the order of
 * their indices, times ascending. 0, or the error of `put`.
 */
typedef int (*memory_growth_fn)(void *ctx, const struct memory_fault *sum);
int memory_growth__each(struct memory_growth *g, memory_growth_fn put, void *ctx);

void memory_growth__destroy(struct memory_growth *g);

#endif /* QPROF_EXPORT_TIMELINE_H */
