/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The payload of an INDEX chunk: one entry for each chunk since the INDEX chunk before it, in the
 * order of the file.
 */
#ifndef QPROF_TRACE_INDEX_CODEC_H
#define QPROF_TRACE_INDEX_CODEC_H

#include "qprof/trace_format.h"
#include "trace/bytes.h"
#include "trace/trace.h"

/*
 * The times, processes and labels of a batch of spans, for an index: a reader that looks for others
 * does not need to read the batch.
 */

struct batch_summary {
	uint32_t n;	   /* spans */
	uint64_t start_ns; /* the earliest start */
	uint64_t end_ns;   /* the latest end */
	/* Ascending and distinct. None: there are too many to list, so it may be any. */
	uint32_t n_processes;
	uint32_t n_labels;
	uint32_t processes[QPT_INDEX_PROCESSES];
	uint32_t labels[QPT_INDEX_LABELS];
};

/* Makes summaries; all zeroes is a fresh one. */
struct batch_summer {
	struct batch_summary summary;
	uint32_t *seen_in; /* by string id: the number of the last batch that had it as a label */
	uint32_t n_seen_in;
	uint32_t batch; /* number of the current one */
};

/* Sum up a batch of a file with `n_strings` strings. 0 or -ENOMEM; the result is s->summary. */
int batch_summer__sum(struct batch_summer *s, const struct trace_span *spans, uint32_t n,
		      uint32_t n_strings);

/* Whether a summary that an index holds leaves out nothing of what the batch holds. */
bool batch_summary__covers(const struct batch_summary *indexed, const struct batch_summary *actual);

void batch_summer__destroy(struct batch_summer *s);

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
