/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The lines of `record --slow`: printed while the recording goes on, and never waited for. */
#ifndef QPROF_RECORD_SLOW_LINES_H
#define QPROF_RECORD_SLOW_LINES_H

#include "analyze/explained.h"
#include "base/writer_thread.h"
#include "trace/self_time.h"
#include "trace/trace.h"

struct slow_lines {
	struct writer_thread *to; /* owned by the recorder; NULL: none are printed */
	uint64_t least_ns;
	struct explained explained; /* intervals that lines were printed about */
	/* As in struct recorder_options. */
	int (*name)(void *ctx, pid_t pid, const char *crate, uint64_t key, char **out);
	void *name_ctx;
	uint64_t key; /* of the span that is being recorded, or 0 */
	uint64_t named_since_ns;
	uint32_t n_named; /* names that were looked for since then */
	uint64_t n_left_out;
};

/*
 * Print a line if the interval is slow and explains its time (analyze/explained.h); `p` is its
 * process, or NULL, `label` its name.
 */
void slow_lines__see(struct slow_lines *l, const struct trace_span *s,
		     const struct trace_times *times, const struct trace_process *p,
		     const char *label);

/* At the end: print how many lines were left out, if any. */
void slow_lines__print_left_out(const struct slow_lines *l);

void slow_lines__clear(struct slow_lines *l);

#endif /* QPROF_RECORD_SLOW_LINES_H */
