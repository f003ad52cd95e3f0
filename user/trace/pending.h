/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Records that wait to become one chunk. */
#ifndef QPROF_TRACE_PENDING_H
#define QPROF_TRACE_PENDING_H

#include "trace/chunk_sink.h"

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

#endif /* QPROF_TRACE_PENDING_H */
