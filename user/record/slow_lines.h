/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The lines of `record --slow`: printed while the recording goes on, and never waited for. A
 * compiler that has exited before its line was printed cannot be asked for the name of the item any
 * more: the line waits for the names that the kernel half copied when the compiler was done.
 */
#ifndef QPROF_RECORD_SLOW_LINES_H
#define QPROF_RECORD_SLOW_LINES_H

#include "analyze/within.h"
#include "base/writer_thread.h"
#include "record/item_output.h"
#include "analyze/summary.h"
#include "trace/self_time.h"
#include "trace/trace.h"

/* Lines that wait for a name; more are printed without one. */
#define SLOW_LINES_HELD 64

struct slow_held {
	struct trace_span span;
	struct trace_times times;
	char *label; /* owned */
};

struct slow_lines {
	struct writer_thread *to; /* owned by the recorder; NULL: none are printed */
	uint64_t least_ns;
	const struct summary *processes; /* of the recorder */
	struct explained explained;	 /* intervals that lines were printed about */
	struct explained sampled;	 /* likewise, of those with TRACE_SPAN_SAMPLED */
	/* As in struct recorder_options. */
	int (*name)(void *ctx, pid_t pid, const char *crate, uint64_t key, char **out);
	void *name_ctx;
	uint64_t key;	 /* of the span that is being recorded, or 0 */
	bool forgot_key; /* it had one that is not known any more: its name may come */
	bool by_samples; /* self times are not known: they hold those of queries */
	uint64_t named_since_ns;
	uint32_t n_named; /* names that were looked for since then */
	struct slow_held held[SLOW_LINES_HELD];
	uint32_t n_held;
	uint64_t n_left_out;
};

/*
 * Print a line if the interval is slow and explains its time (analyze/within.h); `label` is its
 * name.
 */
void slow_lines__see(struct slow_lines *l, const struct trace_span *s,
		     const struct trace_times *times, const char *label);

/* Executions have names now, whose texts `items` knows: print the lines that waited for them. */
void slow_lines__named(struct slow_lines *l, const struct trace_mapping *m,
		       const struct item_output *items);

/* No more names come of a process, or of any (TRACE_NO_PROCESS): print its lines without one. */
void slow_lines__over(struct slow_lines *l, uint32_t process);

/* At the end: print how many lines were left out, if any. */
void slow_lines__print_left_out(const struct slow_lines *l);

void slow_lines__clear(struct slow_lines *l);

#endif /* QPROF_RECORD_SLOW_LINES_H */
