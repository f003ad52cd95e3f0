/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The payload of an INDEX chunk: one entry for each chunk since the INDEX chunk before it, in the
 * order of the file.
 */
#ifndef QPROF_TRACE_INDEX_CODEC_H
#define QPROF_TRACE_INDEX_CODEC_H

#include "trace/batch_summary.h"
#include "trace/bytes.h"

struct index_entry {
	uint64_t offset; /* of the chunk */
	uint8_t type;
	uint32_t stored;	    /* bytes of its payload */
	struct batch_summary spans; /* of a SPANS chunk */
};

/* Builds a payload. */
struct index_builder {
	struct byte_buffer entries;
	uint32_t n;
	uint64_t first;	   /* offset of the first chunk that has an entry */
	uint64_t previous; /* offset of the INDEX chunk before, or 0 */
	uint64_t last_start_ns;
};

/* Add an entry for the next chunk; `spans` is for SPANS only. Fails as byte_buffer does. */
void index_builder__add(struct index_builder *b, uint8_t type, uint32_t stored,
			const struct batch_summary *spans);

/* Append the payload of the INDEX chunk. Fails as above. */
void index_builder__payload(const struct index_builder *b, struct byte_buffer *out);

/* The INDEX chunk was written at `offset`; the next chunk will be at `end`. */
void index_builder__next(struct index_builder *b, uint64_t offset, uint64_t end);

/* Reads a payload. */
struct index_cursor {
	struct byte_reader in; /* bad: the payload is malformed */
	uint64_t previous;     /* as in index_builder */
	uint64_t offset;       /* of the next entry's chunk */
	uint64_t left;	       /* entries */
	uint64_t last_start_ns;
};

/* Begin to read the payload of an INDEX chunk. */
struct index_cursor index_cursor__begin(struct byte_reader payload);

/* Read the next entry; false after the last, and if it is malformed. */
bool index_cursor__next(struct index_cursor *c, struct index_entry *entry);

#endif /* QPROF_TRACE_INDEX_CODEC_H */
