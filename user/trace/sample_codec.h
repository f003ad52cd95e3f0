/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The payload of a SAMPLES chunk: one batch of samples, grouped by thread, in columns. It needs
 * nothing from the chunks before it but the counts of strings, processes and entries of stacks.
 */
#ifndef QPROF_TRACE_SAMPLE_CODEC_H
#define QPROF_TRACE_SAMPLE_CODEC_H

#include "base/cleanup.h"
#include "trace/bytes.h"
#include "trace/thread_set.h"
#include "trace/trace.h"

struct sample_codec;

/* 0, or -ENOMEM. */
int sample_codec__new(struct sample_codec **out);

/*
 * Append the encoded batch to `out`. 1 <= n <= QPT_SAMPLES_MAX. Samples of one thread keep their
 * order, and their labels are as on disk. `stacks` is about the number of the first sample's stack.
 * 0, or -ENOMEM, which leaves `out` half written.
 */
int sample_codec__encode(struct sample_codec *c, const struct trace_sample *samples, uint32_t n,
			 uint32_t stacks, struct byte_buffer *out);

/* The counts of a file so far: samples may refer to numbers below these. */
struct sample_limits {
	uint32_t processes;
	uint32_t strings;
	uint32_t stacks; /* entries + 1: TRACE_NO_STACK may always be */
	uint32_t jobs;
	uint32_t llvm;
};

/*
 * Decode a payload. On success the samples are the codec's until the next call. -ENOMEM; -EBADMSG,
 * with a text for a person in `*why`, if any value of the batch is malformed.
 */
int sample_codec__decode(struct sample_codec *c, const uint8_t *data, size_t size,
			 const struct sample_limits *limits, const struct trace_sample **samples,
			 uint32_t *n, const char **why);

/* Add the threads of the batch that was encoded or decoded last; errors as thread_set__add(). */
int sample_codec__add_threads(const struct sample_codec *c, struct thread_set *to);

void sample_codec__free(struct sample_codec *c);
DEFINE_CLEANUP(struct sample_codec, sample_codec__free)
#define _sample_codec_ __cleanup(sample_codec__free_p)

#endif /* QPROF_TRACE_SAMPLE_CODEC_H */
