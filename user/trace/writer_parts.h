/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the files of the writer share: writer.c (spans, tallies and what is of the whole file),
 * name_writer.c (what these refer to) and sample_writer.c. trace/writer.h declares the rest.
 */
#ifndef QPROF_TRACE_WRITER_PARTS_H
#define QPROF_TRACE_WRITER_PARTS_H

#include <errno.h>

#include "trace/batch_threads.h"
#include "trace/chunk_sink.h"
#include "trace/function_table.h"
#include "trace/id_map.h"
#include "trace/index_codec.h"
#include "trace/interner.h"
#include "trace/job_table.h"
#include "trace/labels.h"
#include "trace/place_table.h"
#include "trace/sample_codec.h"
#include "trace/span_codec.h"
#include "trace/stack_table.h"

struct name_writer {
	struct interner strings;
	struct kinds kinds;
	struct u64_map label_of; /* name << 8 | kind -> string id of the label on disk */
	uint32_t n_processes;
	struct thread_set threads;    /* with those of spans */
	struct u64_map mapped_blocks; /* space << 32 | id / QPT_MAP_BLOCK of those in use */
	uint64_t n_mapped;
	struct function_list functions;
	struct pending new_strings;
	struct pending new_labels;
	struct pending new_processes;
	struct pending new_threads;
	struct u64_map foreign; /* string ids in new_foreign, now or before */
	struct pending new_foreign;
	struct pending new_mappings;
	uint32_t mappings_space;
	struct id_map_next mappings_next;
	struct pending new_places;
	struct trace_place last_place;
	uint32_t n_places;
	struct pending new_lines;
	struct pending new_keys;
	struct u64_map files; /* string ids of the libraries in new_files, now or before */
	struct pending new_files;
};

struct sample_writer {
	struct stack_writer stacks;
	struct job_table jobs; /* that wait to become one chunk */
	struct llvm_table llvm;
	struct sample_codec *codec;
	struct trace_sample *batch; /* samples that wait to become one chunk */
	uint32_t n_batch;
	uint32_t first_stack; /* that of the first sample in the batch */
	bool begun;	      /* SAMPLING was written */
};

struct trace_writer {
	struct chunk_sink sink;
	struct name_writer names;
	struct sample_writer samples;
	struct span_codec *codec;
	struct trace_span *batch; /* spans that wait to become one chunk */
	uint32_t n_batch;
	uint64_t n_spans; /* written */
	struct batch_summer summer;
	struct pending tallies;
	struct pending results;
	struct pending symbols;
	struct pending rebuilt;
	uint32_t n_symbols;
	struct trace_losses losses;
	bool losses_given;
	bool losses_changed; /* since they were written */
};

/* Write all names, functions and the like that wait. */
int trace_writer__flush_names(struct trace_writer *w);

/* Write all samples, stacks and jobs that wait, after the names that they refer to. */
int trace_writer__flush_samples(struct trace_writer *w);

/* As trace_writer__disk_label(), of a kind other than TRACE_KIND_QUERY. */
int trace_writer__label_of_kind(struct trace_writer *w, uint32_t *label, uint8_t kind);

/*
 * Replace a name by the label that stands for the name and the kind on disk. The label of a query
 * is its name. Any other is a string of its own that has both, such as "type_of (QueryBlocked)", so
 * that a reader without kinds tells them apart too. -EINVAL for an unknown kind.
 */
static inline int trace_writer__disk_label(struct trace_writer *w, uint32_t *label, uint8_t kind)
{
	return kind == TRACE_KIND_QUERY ? 0 : trace_writer__label_of_kind(w, label, kind);
}

void trace_writer__destroy_names(struct trace_writer *w);
void trace_writer__destroy_samples(struct trace_writer *w);

#endif /* QPROF_TRACE_WRITER_PARTS_H */
