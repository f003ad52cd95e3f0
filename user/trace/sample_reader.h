/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads the samples of a trace: those of one chunk at a time. */
#ifndef QPROF_TRACE_SAMPLE_READER_H
#define QPROF_TRACE_SAMPLE_READER_H

#include "trace/item.h"
#include "trace/record_reader.h"
#include "trace/sample_codec.h"
#include "trace/verdicts.h"

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

#endif /* QPROF_TRACE_SAMPLE_READER_H */
