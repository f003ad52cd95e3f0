/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The processes of a trace that is read, by index. Their texts are the string table's. */
#ifndef QPROF_TRACE_PROCESS_LIST_H
#define QPROF_TRACE_PROCESS_LIST_H

#include "trace/trace.h"

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

#endif /* QPROF_TRACE_PROCESS_LIST_H */
