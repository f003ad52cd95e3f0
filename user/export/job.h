/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * One export of a trace into one stream, in any format: docs/export.md tells what is where in each.
 *
 * Two families. A *timeline* (perfetto, chrome) shows every interval, with the raw times that the
 * trace holds. A *sum* (counts, folded, svg, pprof, speedscope) takes off what our own probes took,
 * as a report does: its self times add up to those of `report`, or with `raw` of `report --raw`.
 */
#ifndef QPROF_EXPORT_JOB_H
#define QPROF_EXPORT_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "export/out.h"
#include "trace/reader.h"

/* In files, and said when one was written. */
#define EXPORT_PRIVACY "holds paths, command lines and names of what was compiled"

struct export_job {
	struct trace_reader *r; /* fresh */
	/* Another fresh one of the same file, to find out what fits. NULL: what comes first does.
	 */
	struct trace_reader *survey;
	struct out *out;
	bool raw;	    /* sums: times with what our own probes took */
	uint64_t max_bytes; /* timelines: about the most to write; 0: no limit */
	uint64_t reserved;  /* of them, for what comes behind the intervals */

	/* What has been done. */
	uint64_t written;  /* intervals and instants, or different stacks, or rows */
	uint64_t left_out; /* intervals that did not fit */
	uint64_t least_ns; /* and were shorter than this; 0: no such rule */
	uint64_t adjusted; /* intervals that overlapped others, and were cut to nest */
};

/*
 * Write a format. 0 or a negative errno; those of writing are out__error()'s. What is left is to
 * flush. Memory: docs/export.md.
 */
int export_html(struct export_job *job);
int export_counts(struct export_job *job);
int export_perfetto(struct export_job *job);
int export_chrome(struct export_job *job);
int export_folded(struct export_job *job);
int export_svg(struct export_job *job);
int export_pprof(struct export_job *job);
int export_speedscope(struct export_job *job);

#endif /* QPROF_EXPORT_JOB_H */
