/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The times, processes and labels of a batch of spans, for an index: a reader that looks for others
 * does not need to read the batch.
 */
#ifndef QPROF_TRACE_BATCH_SUMMARY_H
#define QPROF_TRACE_BATCH_SUMMARY_H

#include "qprof/trace_format.h"
#include "trace/trace.h"

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

#endif /* QPROF_TRACE_BATCH_SUMMARY_H */
