/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The payload of a SPANS chunk: one batch of spans, grouped by thread, in columns. It needs nothing
 * from the chunks before it but the counts of strings, processes and locations.
 */
#ifndef QPROF_TRACE_SPAN_CODEC_H
#define QPROF_TRACE_SPAN_CODEC_H

#include "base/cleanup.h"
#include "trace/batch_threads.h"
#include "trace/bytes.h"
#include "trace/trace.h"

struct span_codec;

/* 0, or -ENOMEM. */
int span_codec__new(struct span_codec **out);

/*
 * Append the encoded batch to `out`. 1 <= n <= QPT_SPANS_MAX. Spans of one thread keep their order.
 * 0, or -ENOMEM, which leaves `out` half written.
 */
int span_codec__encode(struct span_codec *c, const struct trace_span *spans, uint32_t n,
		       struct byte_buffer *out);

/* The counts of a file so far: spans may refer to numbers below these. */
struct span_limits {
	uint32_t processes;
	uint32_t strings;
	uint32_t locations; /* at least 1: TRACE_NO_LOCATION may always be */
};

/*
 * Decode a payload. On success the spans are the codec's until the next call. -ENOMEM;
 * -EBADMSG, with a text for a person in `*why`, if any value of the batch is malformed.
 */
int span_codec__decode(struct span_codec *c, const uint8_t *data, size_t size,
		       const struct span_limits *limits, const struct trace_span **spans,
		       uint32_t *n, const char **why);

/* Add the threads of the batch that was encoded or decoded last; errors as thread_set__add(). */
int span_codec__add_threads(const struct span_codec *c, struct thread_set *to);

void span_codec__free(struct span_codec *c);
DEFINE_CLEANUP(struct span_codec, span_codec__free)
#define _span_codec_ __cleanup(span_codec__free_p)

#endif /* QPROF_TRACE_SPAN_CODEC_H */
