/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The work of each thread, and its last interval. Takes the same items as the summary; knows no
 * output format.
 */
#ifndef QPROF_ANALYZE_THREADS_H
#define QPROF_ANALYZE_THREADS_H

#include "trace/trace.h"

struct thread_row {
	uint32_t process; /* index */
	uint32_t tid;
	const char *name; /* or NULL */
	uint64_t count;	  /* intervals */
	uint64_t self_ns; /* of all intervals, without probe time, as far as it is known */
	uint64_t cpu_ns;  /* its part on the CPU: analyze/on_cpu.h */
	uint64_t self_off_ns;
	uint32_t last_label; /* of the last interval: string id, or TRACE_NO_STRING */
	uint32_t last_invocation;
	uint64_t last_ns; /* its end */
};

struct threads;

/* 0, or -ENOMEM. */
int threads__new(struct threads **out);

/* Set a thread's name; it is not copied and must outlive the threads. 0 or -ENOMEM. */
int threads__name(struct threads *t, const struct trace_thread *thread);

/* Count a span; off-CPU spans are ignored. 0 or -ENOMEM. */
int threads__span(struct threads *t, const struct trace_span *span,
		  const struct trace_times *times);

/* Note the thread of a sample. 0 or -ENOMEM. */
int threads__sample(struct threads *t, const struct trace_sample *sample);

/* Threads, in the order in which they first appeared. */
uint32_t threads__n(const struct threads *t);
struct thread_row threads__at(const struct threads *t, uint32_t i);

void threads__free(struct threads *t);
DEFINE_CLEANUP(struct threads, threads__free)
#define _threads_ __cleanup(threads__free_p)

#endif /* QPROF_ANALYZE_THREADS_H */
