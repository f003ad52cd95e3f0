/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The payload of a SAMPLES chunk: one batch of samples, grouped by thread, in columns. It needs
 * nothing from the chunks before it but the counts of strings, processes and entries of stacks.
 */
#ifndef QPROF_TRACE_SAMPLE_CODEC_H
#define QPROF_TRACE_SAMPLE_CODEC_H

#include "base/cleanup.h"
#include "trace/batch_threads.h"
#include "trace/bytes.h"
#include "trace/record_reader.h"
#include "trace/trace.h"
#include "trace/verdicts.h"

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

/* Reads the samples of a trace: those of one chunk at a time. */

/* With the owner's members set and the rest zero, nothing was read yet. */
struct sample_reader {
	struct name_tables *names;     /* the owner's */
	struct record_reader *records; /* the owner's */
	struct verdicts *verdicts;     /* the owner's */
	struct sample_codec *codec;
	const struct trace_sample *batch; /* samples of the chunk that were not returned yet */
	uint32_t n_batch;
	bool begun; /* how the recording samples was read */
	bool light; /* and stacks of page faults are cut on purpose */
	/* Read so far; as in struct trace_stats. */
	uint64_t n;
	uint64_t n_cut;
};

/*
 * Read the payload of a SAMPLING chunk into *item, or begin the batch of a SAMPLES chunk. 0;
 * -EBADMSG, with a text for a person in `*why`, if it is malformed; or -ENOMEM.
 */
int sample_reader__sampling(struct sample_reader *r, struct byte_reader *in,
			    struct trace_item *item, const char **why);
int sample_reader__begin(struct sample_reader *r, const struct byte_reader *in, const char **why);

/* Return the next sample of the batch that is wanted; `*item` is not set if there is none. */
void sample_reader__next(struct sample_reader *r, struct trace_item *item);

void sample_reader__destroy(struct sample_reader *r);

#endif /* QPROF_TRACE_SAMPLE_CODEC_H */
