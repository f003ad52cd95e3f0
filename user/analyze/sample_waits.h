/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The waits of threads, by the stacks with which they left the CPU: the kind of the wait as the
 * innermost functions show it, the function that asked for it, and the query. Knows no output
 * format.
 */
#ifndef QPROF_ANALYZE_SAMPLE_WAITS_H
#define QPROF_ANALYZE_SAMPLE_WAITS_H

#include "analyze/code_name.h"
#include "analyze/samples.h"

enum sample_wait {
	SAMPLE_WAIT_OTHER, /* a system call that is none of these */
	SAMPLE_WAIT_LOCK,  /* a lock, or a condition: another thread's message or result */
	SAMPLE_WAIT_JOBSERVER,
	SAMPLE_WAIT_THREAD, /* the end of a thread */
	SAMPLE_WAIT_CHILD,  /* the end of a process: the linker */
	SAMPLE_WAIT_READ,   /* a pipe, or a file */
	SAMPLE_WAIT_WRITE,
	SAMPLE_WAIT_POLL,
	SAMPLE_WAIT_SLEEP,
	SAMPLE_WAIT_MAPPING, /* memory is mapped or unmapped */
	SAMPLE_WAIT_FILE,    /* a file is opened, closed, looked up */
	SAMPLE_WAIT_PAGE,    /* in no system call: a page of memory or of a file */
	SAMPLE_WAIT_KINDS,
};

/* Stable machine name ("lock"), or NULL past the end; and one for people ("a lock or message"). */
const char *sample_wait_name(unsigned int wait);
const char *sample_wait_text(unsigned int wait);

struct sample_wait_row {
	uint8_t wait;
	uint32_t function; /* that asked for it, and is not general; CODE_NO_FUNCTION: none */
	uint32_t query;	   /* the innermost interval, as a function; or CODE_NO_FUNCTION */
	struct sample_sum sum;
};

struct sample_waits {
	struct code_functions functions;
	struct sample_sum of[SAMPLE_WAIT_KINDS];
	struct sample_wait_row *rows; /* the largest value first */
	uint32_t n_rows;
	struct sample_sum all; /* with those without a stack */
};

struct sample_waits_options {
	struct trace_texts texts;
	bool (*wants)(const void *ctx, const char *label); /* of the innermost interval; or NULL */
	const void *ctx;
};

/* The texts and the source of `sums` must outlive it. Destroy it in any case. 0 or -ENOMEM. */
int sample_waits__make(struct sample_waits *w, const struct stack_sums *sums,
		       const struct sample_waits_options *options);

void sample_waits__destroy(struct sample_waits *w);
#define _sample_waits_ __cleanup(sample_waits__destroy)

#endif /* QPROF_ANALYZE_SAMPLE_WAITS_H */
