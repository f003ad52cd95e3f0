/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Sampled stacks in Perfetto's trace format, as its own profiler of stacks writes them: a
 * PerfSample for each sample, with the thread that it is of; its stack, the frames in it, their
 * functions and files are sent once. Samples of CPU time and of page faults are two packet
 * sequences, as those of two profilers. Frames are code, and in brackets the queries that their
 * code shows.
 *
 * Viewers count samples. Those of waits are none in the file, as each stands for another time: they
 * are slices, whose stacks are texts.
 *
 * Memory: 16 to 32 bytes for each entry of stacks, place and function that was sent.
 */
#ifndef QPROF_EXPORT_PERFETTO_SAMPLES_H
#define QPROF_EXPORT_PERFETTO_SAMPLES_H

#include "base/cleanup.h"
#include "export/timeline.h"

struct perfetto_samples;

/* 0 or -ENOMEM. */
int perfetto_samples__new(struct export_job *job, struct perfetto_samples **out);

/* How often was sampled; before all samples. */
void perfetto_samples__set(struct perfetto_samples *s, const struct trace_sampling *sampling);

/* Write a sample, if it is in the format. 0, -ENOMEM, or out__error(). */
int perfetto_samples__add(struct perfetto_samples *s, const struct timeline_thread *t,
			  const struct trace_sample *sample);

/* Where a thread waited. */
struct perfetto_wait {
	uint32_t function; /* its number */
	const char *name; /* of the function that asked for it: the innermost that is not general */
	char *stack;	  /* all functions and intervals, the innermost first, a line each; owned */
};

/* The stack is that of a sample. False: it is empty, or there is no memory. */
bool perfetto_samples__wait(struct perfetto_samples *s, uint32_t stack, struct perfetto_wait *out);

void perfetto_samples__free(struct perfetto_samples *s);

#endif /* QPROF_EXPORT_PERFETTO_SAMPLES_H */
