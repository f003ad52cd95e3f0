/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The output of a recording: the live view and the slow intervals while it runs, and a summary at
 * the end. A reader that is slow or gone does not delay the recording.
 */
#ifndef QPROF_RECORD_LIVE_OUTPUT_H
#define QPROF_RECORD_LIVE_OUTPUT_H

#include <stdio.h>

#include "base/writer_thread.h"
#include "record/slow_lines.h"
#include "view/view.h"

/* The caller sets `to`, `wait`, and, if its `least_ns` is not 0, what `slow` asks for. */
struct live_output {
	FILE *to;
	/* As in struct recorder_options. */
	bool (*wait)(void *ctx, int fd);
	void *wait_ctx;
	struct live_view *view;
	struct writer_thread *writer; /* writes to `to`; NULL: that is no descriptor */
	struct slow_lines slow;	      /* to stderr, maybe by the same writer */
	int err;		      /* of the live view, which is not drawn any more */
};

/* `prints`: there will be a summary even if `mode` is LIVE_NONE. Negative errno. */
int live_output__open(struct live_output *o, enum live_mode mode, bool prints);

/* Draw one interval. An error is printed once, or not at all if the reader went away. */
void live_output__draw(struct live_output *o, const struct live_state *state);

/*
 * Restore the terminal until the next interval, and wait a limited time for the output: a terminal
 * that the user has stopped stays as it is.
 */
void live_output__leave_terminal(struct live_output *o);

/*
 * Wait until all output is written, and print the summary that `summary` writes; NULL: there is
 * none. Returns 0, the first error, which was printed, or -ETIME if not all was written. A reader
 * that is gone is no error, nor is a closed stderr.
 */
int live_output__finish(struct live_output *o, int (*summary)(void *ctx, FILE *to), void *ctx);

void live_output__destroy(struct live_output *o);

/* The line that ends a recording, and one about its hits. */
struct closing_line {
	uint64_t queries, others, hits; /* intervals that were recorded */
	bool sampled;			/* stacks were sampled */
	uint64_t samples;
	uint64_t samples_cut;  /* of these, those whose stack does not reach its thread's start */
	uint64_t samples_lost; /* that are not in the trace, or without their stack */
	/*
	 * Hits of queries that were not executed in this build: the result was loaded from the last
	 * build, or fed.
	 */
	uint64_t unknown_hits;
	uint32_t compilers;
	uint64_t lost;
	const char *place; /* of the trace */
	uint64_t bytes;
};

void closing_line__print(const struct closing_line *l);

#endif /* QPROF_RECORD_LIVE_OUTPUT_H */
