/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A reader's filter, and its remembered answers for each process and each label. */
#ifndef QPROF_TRACE_VERDICTS_H
#define QPROF_TRACE_VERDICTS_H

#include "trace/index_codec.h"
#include "trace/name_tables.h"
#include "trace/process_numbers.h"
#include "trace/trace.h"

/* With `names` and `processes` set and the rest zero, there is no filter yet. */
struct verdicts {
	struct name_tables *names;	      /* the reader's */
	const struct process_list *processes; /* the reader's */
	struct trace_filter filter;
	bool filtered; /* false: everything is wanted, and nothing below needs to be called */
	uint8_t *of_process;
	uint32_t n_of_process;
	uint8_t *of_label;
	uint32_t n_of_label;
	/* By an entry's number: the innermost interval that it is in, another entry, or 0. */
	uint32_t *interval_of;
	uint32_t n_interval_of, interval_capacity;
};

/* Use a filter from now on, and forget the answers of the one before. */
void verdicts__set_filter(struct verdicts *v, const struct trace_filter *filter);

/* The record of a process has changed: ask the filter again. */
void verdicts__forget_process(struct verdicts *v, uint32_t process);

/* Whether the filter wants a span whose label is as on disk. */
bool verdicts__want_span(struct verdicts *v, const struct trace_span *s);

/* Whether the filter wants a sample. With labels, one whose stack shows no interval is not. */
bool verdicts__want_sample(struct verdicts *v, const struct trace_sample *s);

/* Whether the filter wants a thread, a tally or a process. */
bool verdicts__want_record(struct verdicts *v, const struct trace_item *item);

/* Whether the filter may want a span of this chunk. */
bool verdicts__want_batch(struct verdicts *v, const struct batch_summary *b);

void verdicts__destroy(struct verdicts *v);

#endif /* QPROF_TRACE_VERDICTS_H */
