/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads a trace file as a stream of chunks whose checksums are right; their content is the
 * caller's. The stream stops for good at the first problem, and remembers it.
 */
#ifndef QPROF_TRACE_CHUNK_STREAM_H
#define QPROF_TRACE_CHUNK_STREAM_H

#include <stdio.h>
#include <zstd.h>

#include "base/cleanup.h"
#include "trace/bytes.h"
#include "trace/chunk.h"
#include "trace/expansion.h"
#include "trace/index_codec.h"

struct chunk_stream {
	FILE *file;
	uint64_t offset;      /* of the next byte to read */
	uint64_t first_chunk; /* where it begins */
	uint64_t chunk_at;    /* where the current chunk begins */
	uint64_t whole_end;   /* where the last chunk that was taken ends */
	int io_error;	      /* negative errno of a read that failed, or 0 */
	bool finished;	      /* the header says that the writer ended cleanly */
	bool stopped;
	bool ended;	   /* stopped at its end */
	bool damaged;	   /* stopped at content that must be rejected */
	char problem[200]; /* empty: none */
	struct chunk_header header;
	struct byte_reader payload; /* of the current chunk, decompressed */
	uint8_t *stored;
	uint32_t stored_capacity;
	uint8_t *raw;
	uint32_t raw_capacity;
	ZSTD_DCtx *zstd;
	struct expansion *expansion; /* the owner's; NULL: it is not bounded */
};

/*
 * Open `path` and read the file header into `*s`, which needs destroying in any case. Errors as
 * trace_reader__open().
 */
int chunk_stream__open(struct chunk_stream *s, const char *path, const char **why);

/*
 * Read the next chunk into s->header and s->payload. 0, also when there is none because the stream
 * has stopped; -ENOMEM; or -E2BIG if it expands to too much. The end of the file is a problem too:
 * chunks end with QPT_END.
 */
int chunk_stream__next(struct chunk_stream *s);

/* Whether the file can seek, and so can be opened again. */
bool chunk_stream__can_seek(const struct chunk_stream *s);

/* The stream can seek. */
uint64_t chunk_stream__file_size(const struct chunk_stream *s);

/* Continue at the chunk at `offset`, whatever the problem was. 0, or -EINVAL if it cannot seek. */
int chunk_stream__seek(struct chunk_stream *s, uint64_t offset);

/* Read only the header of the next chunk into s->header; false if there is none. Then seek. */
bool chunk_stream__next_header(struct chunk_stream *s);

/*
 * Skip the chunk at the current offset if it has this type and so many bytes of payload; else
 * change nothing. The stream can seek and has not stopped. Negative errno.
 */
int chunk_stream__skip(struct chunk_stream *s, uint8_t type, uint32_t stored, bool *skipped);

/* The current chunk has been taken: the file is sound up to here. */
void chunk_stream__taken(struct chunk_stream *s);

/* The content of the current chunk is wrong. */
void chunk_stream__damaged(struct chunk_stream *s, const char *how);

/* The last chunk was taken: nothing may follow. */
void chunk_stream__end(struct chunk_stream *s);

void chunk_stream__destroy(struct chunk_stream *s);

/*
 * The index of a trace that can seek: the offsets of the names, and a summary of each chunk. It
 * only decides which chunks are read. Each chunk that is read is checked as without an index.
 */

struct chunk_index;

/*
 * Find the INDEX chunks and the chunks of names, by the headers of all chunks. `stream` is for the
 * index alone, and outlives it. 0, also if the file is damaged and only a part was found; or
 * -ENOMEM.
 */
int chunk_index__find(struct chunk_stream *stream, struct chunk_index **out);

/* Offsets of the STRINGS, MAPPINGS, PLACES, FUNCTIONS and LINES chunks, ascending. */
const uint64_t *chunk_index__names(const struct chunk_index *ix, size_t *n);

/* Whether there are, or may be, MAPPINGS, PLACES or LINES: names that may follow their first use.
 */
bool chunk_index__has_late_names(const struct chunk_index *ix);

/* Bytes that the compressed payloads expand to, as their headers say. */
uint64_t chunk_index__expanded(const struct chunk_index *ix);

/*
 * The index entry of the chunk at `offset`; NULL if there is none, or (*err) without memory.
 * Offsets must ascend from call to call. Valid until the next call.
 */
const struct index_entry *chunk_index__at(struct chunk_index *ix, uint64_t offset, int *err);

/* The last entry proved wrong: ignore the rest of its INDEX chunk. */
void chunk_index__disbelieve(struct chunk_index *ix);

/* Whether a used INDEX chunk is malformed or wrong, or does not follow the one before it. */
bool chunk_index__is_wrong(const struct chunk_index *ix);

/* Where the last INDEX chunk begins; 0: there is none. */
uint64_t chunk_index__last(const struct chunk_index *ix);

void chunk_index__free(struct chunk_index *ix);
DEFINE_CLEANUP(struct chunk_index, chunk_index__free)
#define _chunk_index_ __cleanup(chunk_index__free_p)

#endif /* QPROF_TRACE_CHUNK_STREAM_H */
