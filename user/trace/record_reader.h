/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads the records of a trace that are not spans: processes, threads, tallies and results, of
 * which a chunk holds a list, and losses, costs and how a recording samples.
 */
#ifndef QPROF_TRACE_RECORD_READER_H
#define QPROF_TRACE_RECORD_READER_H

#include "trace/batch_threads.h"
#include "trace/name_tables.h"
#include "trace/process_numbers.h"
#include "trace/trace.h"

/* With `names` set and the rest zero, nothing was read yet. */
struct record_reader {
	struct name_tables *names; /* the owner's */
	struct process_list processes;
	struct thread_set threads; /* the owner adds those of spans */
	uint8_t type;		   /* of the current list */
	uint32_t n_left;	   /* records of the list that were not read yet */
	uint32_t *items;	   /* of the last results */
	/* Read so far; as in struct trace_stats. */
	uint64_t n_names;
	uint64_t n_lost;
};

/*
 * Begin the list of a chunk of type QPT_PROCESSES, _THREADS, _TALLIES, _RESULTS or _REBUILT.
 * -EBADMSG, with a text for a person in `*why`, if it is empty.
 */
int record_reader__begin(struct record_reader *r, uint8_t type, struct byte_reader *in,
			 const char **why);

/*
 * Read the next record of the list. 0; -EBADMSG, with a text for a person in `*why`, if it is
 * malformed: nothing has changed then; or -ENOMEM.
 */
int record_reader__next(struct record_reader *r, struct byte_reader *in, struct trace_item *item,
			const char **why);

/* Read the payload of a chunk of one record. 0 or -EBADMSG, as above. */
int record_reader__losses(struct record_reader *r, struct byte_reader *in, struct trace_item *item,
			  const char **why);
int record_reader__costs(struct byte_reader *in, struct trace_item *item, const char **why);
int record_reader__overhead(struct byte_reader *in, struct trace_item *item, const char **why);
int record_reader__part(struct byte_reader *in, struct trace_item *item, const char **why);
int record_reader__sampling(struct byte_reader *in, struct trace_item *item, const char **why);

void record_reader__destroy(struct record_reader *r);

#endif /* QPROF_TRACE_RECORD_READER_H */
