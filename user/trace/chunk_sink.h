/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A trace file being written, chunk by chunk: compression, checksums, the indexes, the mark of the
 * unfinished. Knows nothing of what is in the chunks. After an error every later call returns the
 * same error, and the file keeps its mark.
 */
#ifndef QPROF_TRACE_CHUNK_SINK_H
#define QPROF_TRACE_CHUNK_SINK_H

#include <zstd.h>

#include "base/file_writer.h"
#include "trace/index_codec.h"

struct chunk_sink {
	struct file_writer file;
	struct index_builder index;
	struct byte_buffer stored; /* chunk header and payload, as they go to the file */
	struct byte_buffer index_payload;
	ZSTD_CCtx *zstd;
};

/*
 * Create `path`, which must not exist, and write the header. `*s` needs destroying in any case; an
 * error leaves no file.
 */
int chunk_sink__open(struct chunk_sink *s, const char *path);

/*
 * Write a chunk, in one write(2): a kill leaves a whole one or a cut one. `spans` sums up a SPANS
 * payload and is NULL for others. Now and then an INDEX chunk follows.
 */
int chunk_sink__write(struct chunk_sink *s, uint8_t type, const struct byte_buffer *payload,
		      const struct batch_summary *spans);

/*
 * Write the last index and END, whose payload is QPT_END_SIZE bytes but for the place of the index,
 * which is filled in; then clear the mark, sync and close.
 */
int chunk_sink__finish(struct chunk_sink *s, uint8_t end[QPT_END_SIZE]);

void chunk_sink__destroy(struct chunk_sink *s);

#endif /* QPROF_TRACE_CHUNK_SINK_H */
