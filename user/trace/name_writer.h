/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writes what the spans and tallies of a trace refer to: strings, labels, processes, threads,
 * mappings, places, files, functions, lines. Records wait until their chunk is full,
 * or until name_writer__flush(), which comes before each chunk that refers to them.
 *
 * The functions without a comment are as those of trace_writer, which this is a part of.
 */
#ifndef QPROF_TRACE_NAME_WRITER_H
#define QPROF_TRACE_NAME_WRITER_H

#include <errno.h>

#include "trace/function_list.h"
#include "trace/id_map.h"
#include "trace/interner.h"
#include "trace/labels.h"
#include "trace/pending.h"
#include "trace/place_table.h"
#include "trace/thread_set.h"

/* With `sink` set and the rest zero, nothing was written yet. */
struct name_writer {
	struct chunk_sink *sink; /* the owner's */
	struct interner strings;
	struct kinds kinds;
	struct u64_map label_of; /* name << 8 | kind -> string id of the label on disk */
	uint32_t n_processes;
	struct thread_set threads;    /* the owner adds those of spans */
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

/* Write all records that wait. */
int name_writer__flush(struct name_writer *w);

int name_writer__intern(struct name_writer *w, const char *text, uint32_t *id);
int name_writer__compose(struct name_writer *w, const struct trace_piece *pieces, uint32_t n,
			 uint32_t *id);
int name_writer__text(const struct name_writer *w, uint32_t id, char **text);
int name_writer__key_type(struct name_writer *w, uint32_t label, const char *type);
int name_writer__foreign(struct name_writer *w, uint32_t id);
int name_writer__map(struct name_writer *w, const struct trace_mapping *m);
int name_writer__place(struct name_writer *w, const struct trace_place *place);
int name_writer__process(struct name_writer *w, const struct trace_process *p);
int name_writer__thread(struct name_writer *w, const struct trace_thread *t);
int name_writer__function(struct name_writer *w, const struct trace_function *f);
int name_writer__lines(struct name_writer *w, uint32_t first, const struct trace_line *rows,
		       size_t n);
int name_writer__kind(struct name_writer *w, const char *text, uint8_t *kind);

/* As name_writer__disk_label(), of a kind other than TRACE_KIND_QUERY. */
int name_writer__label_of_kind(struct name_writer *w, uint32_t *label, uint8_t kind);

/*
 * Replace a name by the label that stands for the name and the kind on disk. The label of a query
 * is its name. Any other is a string of its own that has both, such as "type_of (QueryBlocked)", so
 * that a reader without kinds tells them apart too. -EINVAL for an unknown kind.
 */
static inline int name_writer__disk_label(struct name_writer *w, uint32_t *label, uint8_t kind)
{
	return kind == TRACE_KIND_QUERY ? 0 : name_writer__label_of_kind(w, label, kind);
}

void name_writer__destroy(struct name_writer *w);

#endif /* QPROF_TRACE_NAME_WRITER_H */
