/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Samples of the stacks of compilers: takes care that the kernel half knows which files each of
 * them has mapped, and has the unwind tables of these.
 *
 * Mappings are read when a compiler is found, again when it maps more code, and again when a stack
 * ended at an address that is in no mapping. A compiler whose mappings change all the time is
 * read less and less often.
 */
#ifndef QPROF_CAPTURE_SAMPLING_H
#define QPROF_CAPTURE_SAMPLING_H

#include "capture/toolchain_files.h"
#include "capture/kernel.h"
#include "capture/broker.h"
#include "capture/session_sink.h"

struct sampling;

/*
 * All that is referred to outlives the result; tables are made in the background, at this nice
 * value. No sample is taken before sampling__start(). Prints one line on failure.
 */
int sampling__open(const struct sampling_options *opt, const struct kernel_samples *k,
		   struct broker *broker, const struct session_sink *sink, int nice,
		   struct sampling **out);

/*
 * The functions below, but for sampling__start(), accept NULL, for a session without samples: they
 * do nothing, and return 0.
 */

/* Begin the tables of files that no compiler has mapped yet. -ENOMEM, or an error of the sink. */
int sampling__foresee(struct sampling *s, const struct toolchain_files *files);

/* Wait for these, for at most so long: stacks end in a file whose table is being made. */
void sampling__await_foreseen(struct sampling *s, uint64_t most_ns);

/* A library of compilers was attached to; or, with NULL, is not any more. */
void sampling__library(struct sampling *s, uint8_t lib, struct library_file *file);

/* A compiler was found. It runs, or waits for its probes. */
int sampling__expect(struct sampling *s, pid_t pid);

/* The same, of a compiler that has run for some time. */
int sampling__expect_running(struct sampling *s, pid_t pid);

/* True if the tables of all that a compiler has mapped are there, or never will be. */
bool sampling__is_ready(const struct sampling *s, pid_t pid);

/* A process has mapped code of any file. */
void sampling__mapped(struct sampling *s, pid_t pid);

/* A record has arrived: to be called for each. 0, or the sink's error. */
int sampling__take(struct sampling *s, const struct record *r);

/* Take tables that are ready, and look at processes again. To be called after each drain. */
int sampling__settle(struct sampling *s);

/* Polls readable when sampling__settle() has something to do; -1 without samples. */
int sampling__fd(const struct sampling *s);

/*
 * Begin to take samples. -ENODATA: the kernel half takes none of those that were asked for; other
 * errors are of perf events (perf_refusal.h), without which it takes no others than waits. Prints
 * nothing.
 */
int sampling__start(struct sampling *s);
void sampling__stop(struct sampling *s);

/* Set the counters that this half counts. */
void sampling__count(const struct sampling *s, uint64_t counters[WIRE_COUNTER_MAX]);

void sampling__free(struct sampling *s);
DEFINE_CLEANUP(struct sampling, sampling__free)
#define _sampling_ __cleanup(sampling__free_p)

#endif /* QPROF_CAPTURE_SAMPLING_H */
