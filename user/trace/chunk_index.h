/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The index of a trace that can seek: the offsets of the names, and a summary of each chunk. It
 * only decides which chunks are read. Each chunk that is read is checked as without an index.
 */
#ifndef QPROF_TRACE_CHUNK_INDEX_H
#define QPROF_TRACE_CHUNK_INDEX_H

#include "base/cleanup.h"
#include "trace/chunk_stream.h"
#include "trace/index_codec.h"

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

#endif /* QPROF_TRACE_CHUNK_INDEX_H */
