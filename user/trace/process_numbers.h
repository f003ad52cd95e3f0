/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * New numbers, without gaps, for the processes that a filter leaves: a reader of items expects
 * each new process to have the next index.
 */
#ifndef QPROF_TRACE_PROCESS_NUMBERS_H
#define QPROF_TRACE_PROCESS_NUMBERS_H

#include "trace/trace.h"

/* All zeroes gives no new numbers. */
struct process_numbers {
	bool on;
	uint32_t *number_of; /* by index in the file: number + 1; 0: none yet */
	uint32_t n_indices;
	struct trace_process **at; /* by number; copies whose texts are the original's */
	uint32_t n, capacity;
	uint32_t *index_of; /* by number */
	uint32_t index_capacity;
};

/*
 * Replace the index of the process in an item; a process itself gets a number. False for what
 * belongs to a process without one, which is to be left out. -ENOMEM in *err.
 */
bool process_numbers__translate(struct process_numbers *p, struct trace_item *item, int *err);

/* The index in the file of a process; itself without new numbers, or of TRACE_NO_PROCESS. */
uint32_t process_numbers__index(const struct process_numbers *p, uint32_t number);

void process_numbers__destroy(struct process_numbers *p);

/* The processes of a trace that is read, by index. Their texts are the string table's. */

/* All zeroes is an empty list. */
struct process_list {
	struct trace_process **at; /* an entry keeps its address as the list grows */
	uint32_t n;
	uint32_t capacity;
};

/*
 * Set the entry of `record`, whose index is at most `n`; index `n` appends one. Returns the entry,
 * or NULL without memory.
 */
struct trace_process *process_list__set(struct process_list *l, const struct trace_process *record);

void process_list__destroy(struct process_list *l);

#endif /* QPROF_TRACE_PROCESS_NUMBERS_H */
