/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What a writer of a trace holds. For writer.c, writer_names.c and writer_records.c only. */
#ifndef QPROF_TRACE_WRITER_STATE_H
#define QPROF_TRACE_WRITER_STATE_H

#include <errno.h>

#include "qprof/trace_format.h"
#include "trace/chunk_sink.h"
#include "trace/function_list.h"
#include "trace/id_map.h"
#include "trace/interner.h"
#include "trace/labels.h"
#include "trace/span_codec.h"
#include "trace/thread_set.h"
#include "trace/writer.h"

/* Records that wait to become one chunk. */
struct pending {
	struct byte_buffer body;
	uint32_t n;
};

struct trace_writer {
	struct chunk_sink sink;
	struct interner strings;
	uint32_t n_processes;
	uint64_t n_spans;
	uint64_t n_mapped;
	struct u64_map mapped_blocks; /* space << 32 | id / QPT_MAP_BLOCK of those in use */
	struct pending new_strings;
	struct pending new_labels;
	struct pending new_decisions;
	struct pending new_processes;
	struct pending new_threads;
	struct thread_set threads;
	struct pending new_mappings;
	uint32_t mappings_space;
	struct id_map_next mappings_next;
	struct pending tallies;
	struct function_list functions;
	struct pending new_lines;
	struct kinds kinds;
	struct u64_map label_of; /* name << 8 | kind -> string id of the label on disk */
	struct trace_span *batch;
	uint32_t n_batch;
	struct batch_summer summer;
	struct trace_losses losses;
	bool losses_given;
	bool losses_changed;
	struct span_codec *codec;
	struct byte_buffer raw;
};

/* Every later call returns `err` too. Returns it. */
static inline int writer__fail(struct trace_writer *w, int err)
{
	return file_writer__fail(&w->sink.file, err);
}

/* What spans refer to goes out before them, and strings before all. */
int writer__write_names(struct trace_writer *w);

/* A record was added to `p`, which is one of the names; to the functions; to the tallies. */
int writer__added(struct trace_writer *w, struct pending *p);
int writer__added_function(struct trace_writer *w);
int writer__added_tally(struct trace_writer *w);

/*
 * Give a name and a kind, which have none yet, the label that stands for both on disk. It is a
 * string of its own, of the two, so that readers that do not know of kinds tell them apart too:
 * "type_of (QueryBlocked)".
 */
int writer__add_label(struct trace_writer *w, uint32_t name, uint8_t kind, uint32_t *id);

/* Replace a name by the label that stands for it and the kind on disk. */
static inline int writer__label(struct trace_writer *w, uint32_t *label, uint8_t kind)
{
	uint32_t name = *label;

	if (kind == TRACE_KIND_QUERY)
		return 0;
	if (kind >= TRACE_KIND_OTHER + w->kinds.n_other || name & TRACE_VIRTUAL)
		return -EINVAL;
	*label = u64_map__get(&w->label_of, (uint64_t)name << 8 | kind);
	return *label == U64_MAP_NONE ? writer__add_label(w, name, kind, label) : 0;
}

#endif /* QPROF_TRACE_WRITER_STATE_H */
