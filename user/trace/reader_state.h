/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What a reader of a trace holds. For reader.c and reader_records.c only. */
#ifndef QPROF_TRACE_READER_STATE_H
#define QPROF_TRACE_READER_STATE_H

#include "trace/chunk_index.h"
#include "trace/function_table.h"
#include "trace/id_map.h"
#include "trace/labels.h"
#include "trace/reader.h"
#include "trace/span_codec.h"
#include "trace/string_table.h"
#include "trace/thread_set.h"

/* What a filter said of a process or a label; 0: it has not been asked. */
enum verdict {
	VERDICT_NO = 1,
	VERDICT_YES = 2,
};

struct trace_reader {
	struct chunk_stream stream;
	struct chunk_stream ahead; /* the same file, to look around in */
	struct chunk_index *index; /* NULL if the file cannot seek */
	uint64_t ahead_end;	   /* names in chunks before here are in the tables already */
	struct trace_info info;
	struct string_table *strings;
	uint32_t n_strings; /* up to the current chunk; the table may hold more */
	struct id_map *mapped;
	struct labels labels;
	struct function_table *functions;
	uint32_t n_functions;		  /* up to the current chunk; the table may hold more */
	struct trace_process **processes; /* their texts are the strings' */
	uint32_t n_processes;
	uint32_t processes_capacity;
	struct thread_set threads;
	struct span_codec *codec;
	const struct trace_span *batch; /* spans of the current chunk still to be given out */
	uint32_t n_batch;
	uint32_t n_records; /* of a chunk of processes, threads, tallies, decisions; still to be
			       read */
	struct trace_filter filter;
	bool filtered;
	bool checks_index;
	bool index_is_wrong; /* END says that it is elsewhere */
	struct batch_summer summer;
	uint8_t *process_verdicts;
	uint32_t n_process_verdicts;
	uint8_t *label_verdicts;
	uint32_t n_label_verdicts;
	struct trace_stats stats;
};

/*
 * The chunks that spans refer to. Each takes or begins what is in the current chunk: 0, or -ENOMEM.
 * What is malformed stops the stream.
 */
int reader__take_strings(struct trace_reader *r);
int reader__take_mappings(struct trace_reader *r);
int reader__take_labels(struct trace_reader *r);
int reader__take_functions(struct trace_reader *r);
int reader__take_lines(struct trace_reader *r);
void reader__begin_records(struct trace_reader *r);
/* Take one record; `*item` is left as it is if it is malformed. */
int reader__take_process(struct trace_reader *r, struct trace_item *item);
int reader__take_thread(struct trace_reader *r, struct trace_item *item);
void reader__take_tally(struct trace_reader *r, struct trace_item *item);
void reader__take_decision(struct trace_reader *r, struct trace_item *item);
void reader__take_losses(struct trace_reader *r, struct trace_item *item);
void reader__take_costs(struct trace_reader *r, struct trace_item *item);
void reader__take_end(struct trace_reader *r);

/* Read all names there are, so that a virtual id has its text from the first span on. */
int reader__look_ahead(struct trace_reader *r, const char *path);

/* Whether the filter wants it. */
bool reader__wants_process(struct trace_reader *r, uint32_t process);
bool reader__wants_span(struct trace_reader *r, const struct trace_span *s);
bool reader__wants_tally(struct trace_reader *r, const struct trace_tally *t);
bool reader__wants_decision(struct trace_reader *r, const struct trace_decision *d);
/* Whether the filter may want anything of the chunk. */
bool reader__wants_batch(struct trace_reader *r, const struct batch_summary *b);

/* The process's record has changed: ask the filter again. */
void reader__forget_verdict(struct trace_reader *r, uint32_t process);

#endif /* QPROF_TRACE_READER_STATE_H */
