// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/replay.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "trace/chunk_stream.h"
#include "trace/span_codec.h"

/* A chunk of spans, and the lowest and highest process in it. */
struct span_chunk {
	uint64_t offset;
	uint32_t first, last;
};

struct trace_replay {
	const struct trace_reader *reader;
	struct chunk_stream stream;
	struct span_codec *codec;
	struct span_chunk *chunks; /* those before known_end */
	uint32_t n_chunks, capacity;
	uint64_t known_end;
	uint64_t end;  /* where the reader was */
	uint32_t next; /* in chunks */
	uint32_t first, last;
	const struct trace_span *batch; /* what is left of the current chunk */
	uint32_t n_batch;
};

int trace_replay__new(const struct trace_reader *r, struct trace_replay **out)
{
	_trace_replay_ struct trace_replay *p = calloc(1, sizeof(*p));
	int err = p ? span_codec__new(&p->codec) : -ENOMEM;

	if (!err)
		err = trace_reader__reopen(r, &p->stream);
	if (err)
		return err;
	p->reader = r;
	p->known_end = p->stream.first_chunk;
	*out = take_ptr(p);
	return 0;
}

void trace_replay__begin(struct trace_replay *p, uint32_t first, uint32_t last)
{
	p->first = first;
	p->last = last;
	p->next = 0;
	p->n_batch = 0;
	p->end = trace_reader__stats(p->reader).whole_bytes;
}

/* 1, or 0 if this is no such chunk; -ENOMEM. */
static int read_chunk(struct trace_replay *p, uint64_t offset)
{
	const struct span_limits limits = trace_reader__span_limits(p->reader);
	const struct byte_reader *in = &p->stream.payload;
	const char *why;
	int err = chunk_stream__seek(&p->stream, offset) ?: chunk_stream__next(&p->stream);

	if (err == -ENOMEM)
		return err;
	if (err || p->stream.stopped || p->stream.header.type != QPT_SPANS)
		return 0;
	err = span_codec__decode(p->codec, in->at, in->end - in->at, &limits, &p->batch,
				 &p->n_batch, &why);
	return err ? (err == -ENOMEM ? err : 0) : 1;
}

/* Read the next chunk of spans that is not known yet. 1; 0: there is none; -ENOMEM. */
static int discover(struct trace_replay *p)
{
	struct chunk_stream *s = &p->stream;

	while (p->known_end < p->end) {
		uint64_t at = p->known_end;
		struct span_chunk chunk;
		int err;

		if (chunk_stream__seek(s, at) || !chunk_stream__next_header(s))
			return 0;
		p->known_end = at + QPT_CHUNK_HEADER_SIZE + s->header.stored;
		if (s->header.type != QPT_SPANS)
			continue;
		err = read_chunk(p, at);
		if (err <= 0)
			return err;
		chunk = (struct span_chunk){.offset = at, .first = UINT32_MAX};
		for (uint32_t i = 0; i < p->n_batch; i++) {
			uint32_t process = p->batch[i].process;

			chunk.first = process < chunk.first ? process : chunk.first;
			chunk.last = process > chunk.last ? process : chunk.last;
		}
		err = array__add(&p->chunks, &p->n_chunks, &p->capacity, &chunk);
		p->next = p->n_chunks;
		return err ?: 1;
	}
	return 0;
}

/* Likewise, one that may have what is wanted. */
static int next_chunk(struct trace_replay *p)
{
	while (p->next < p->n_chunks) {
		const struct span_chunk *chunk = &p->chunks[p->next++];

		if (chunk->offset >= p->end)
			return 0;
		if (chunk->first <= p->last && chunk->last >= p->first)
			return read_chunk(p, chunk->offset);
	}
	return discover(p);
}

int trace_replay__next(struct trace_replay *p, struct trace_span *span)
{
	int more = 1;

	while (!p->n_batch && more > 0)
		more = next_chunk(p);
	if (more <= 0)
		return more;
	*span = *p->batch++;
	p->n_batch--;
	trace_reader__resolve(p->reader, span);
	return 1;
}

void trace_replay__free(struct trace_replay *p)
{
	if (!p)
		return;
	chunk_stream__destroy(&p->stream);
	span_codec__free(p->codec);
	free(p->chunks);
	free(p);
}
