/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writes a trace file chunk by chunk: compression, checksums, the index, and the mark of a file
 * that is not finished. The content of a payload is the caller's. After an error every later call
 * returns the same error, and the file keeps its mark.
 */
#ifndef QPROF_TRACE_CHUNK_SINK_H
#define QPROF_TRACE_CHUNK_SINK_H

#include <zstd.h>

#include "base/file_writer.h"
#include "trace/index_codec.h"

struct chunk_sink {
	struct file_writer file;
	struct index_builder index;
	struct byte_buffer stored;  /* chunk header and payload, as they go to the file */
	struct byte_buffer payload; /* of the caller: see chunk_sink__payload() */
	struct byte_buffer index_payload;
	ZSTD_CCtx *zstd;
	uint64_t expanded; /* bytes of the payloads that were compressed */
	uint64_t results;  /* bytes of all payloads of QPT_RESULTS */
};

/*
 * Create `path`, which must not exist, and write the header. `*s` needs destroying in any case; an
 * error leaves no file.
 */
int chunk_sink__open(struct chunk_sink *s, const char *path);

/* An empty buffer, in which to build the payload of the next chunk. */
struct byte_buffer *chunk_sink__payload(struct chunk_sink *s);

/*
 * Write a chunk, in one write(2): a kill leaves a whole chunk or a cut one. `spans` is the summary
 * of a SPANS payload, and NULL for others. An INDEX chunk follows when there are enough entries.
 */
int chunk_sink__write(struct chunk_sink *s, uint8_t type, const struct byte_buffer *payload,
		      const struct batch_summary *spans);

/*
 * Write the last index and the END chunk, after filling in the offset of the index in `end`. *fd is
 * then the caller's, for trace_seal(), and nothing more can be written.
 */
int chunk_sink__end(struct chunk_sink *s, uint8_t end[QPT_END_SIZE], int *fd);

/*
 * The last step of writing a trace, which waits for the disk. Sync a trace that has its END chunk,
 * clear the mark of a file that is not finished, and close `fd`, in any case. 0 or a negative
 * errno: then the file keeps its mark.
 */
int trace_seal(int fd);

/* The same, and seal it. */
int chunk_sink__finish(struct chunk_sink *s, uint8_t end[QPT_END_SIZE]);

void chunk_sink__destroy(struct chunk_sink *s);

/* Records that wait to become one chunk. */

#define PENDING_MOST (64u << 10) /* bytes of records before they become a chunk */

/* All zeroes is empty. */
struct pending {
	struct byte_buffer body;
	uint32_t n;
};

/* Count a record that was appended to `body`. True if it is time for a chunk. */
static inline bool pending__add(struct pending *p)
{
	p->n++;
	return p->body.size >= PENDING_MOST;
}

/*
 * Write a chunk of the records, if there are any: `head` if it is not NULL, their number, and the
 * records. 0, and none is left then; or the sink's error.
 */
int pending__write(struct pending *p, struct chunk_sink *sink, enum qpt_chunk_type type,
		   const uint32_t *head);

#endif /* QPROF_TRACE_CHUNK_SINK_H */
