/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The way around in a trace that can seek: where the names are, and what is known of a chunk before
 * it is read. What it says decides what is read, never what is in it: a chunk that is read is
 * checked as ever.
 */
#ifndef QPROF_TRACE_CHUNK_INDEX_H
#define QPROF_TRACE_CHUNK_INDEX_H

#include "base/cleanup.h"
#include "trace/chunk_stream.h"
#include "trace/index_codec.h"

struct chunk_index;

/*
 * Find the INDEX chunks and those with names, by the headers of all chunks. Reads by `stream`,
 * which must be the index's alone, and outlive it. 0, also if the file is damaged and little was
 * found; or -ENOMEM.
 */
int chunk_index__find(struct chunk_stream *stream, struct chunk_index **out);

/* Offsets of the STRINGS, MAPPINGS, FUNCTIONS and LINES chunks, ascending. */
const uint64_t *chunk_index__names(const struct chunk_index *ix, size_t *n);

/* True if there are, or may be, MAPPINGS or LINES: names that come after what has them. */
bool chunk_index__has_late_names(const struct chunk_index *ix);

/*
 * What an INDEX chunk tells of the chunk at `offset`; NULL if none does, or (*err) without memory.
 * Offsets must ascend from call to call. Valid until the next call.
 */
const struct index_entry *chunk_index__at(struct chunk_index *ix, uint64_t offset, int *err);

/*
 * The INDEX chunk that told of the chunk at hand was caught at saying what is not so: nothing else
 * that it says is given out.
 */
void chunk_index__disbelieve(struct chunk_index *ix);

/* True if an INDEX chunk that was asked is malformed, lies, or does not join the one before it. */
bool chunk_index__is_wrong(const struct chunk_index *ix);

/* Where the last INDEX chunk begins; 0: there is none. */
uint64_t chunk_index__last(const struct chunk_index *ix);

void chunk_index__free(struct chunk_index *ix);
DEFINE_CLEANUP(struct chunk_index, chunk_index__free)
#define _chunk_index_ __cleanup(chunk_index__free_p)

#endif /* QPROF_TRACE_CHUNK_INDEX_H */
