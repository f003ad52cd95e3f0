/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * One export of a trace into one stream, in any format. docs/export.md describes the formats.
 *
 * There are two families. A *timeline* (perfetto, html) shows every interval, with the raw times
 * that the trace holds. A *sum* (counts, folded, pprof, speedscope) subtracts probe costs, as a
 * report does: its self times add up to those of `report`, or with `raw` to those of `report
 * --raw`.
 *
 * To read this directory, begin with these files, in this order:
 *
 *   job.h        what an export is asked for, and the function of each format
 *   out.c        the stream that all formats but measureme write to, and compression
 *   timeline.c   reads a trace for a format of intervals: processes, threads, counters, limits
 *   perfetto.c   writes such a timeline; html.c writes one with a report and stacks around it
 *   flame.c      merges the intervals of a trace into stacks, and subtracts probe costs
 *   folded.c     writes such stacks in the fewest lines; pprof.c and speedscope.c do the same
 *
 * measureme.c stands apart: it writes a directory with a file for each process.
 */
#ifndef QPROF_EXPORT_JOB_H
#define QPROF_EXPORT_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "export/out.h"
#include "trace/reader.h"

/* Stands in the files, and in the message after one is written. */
#define EXPORT_PRIVACY "holds paths, command lines and names of what was compiled"
/* The same of a format that has no paths and command lines. */
#define EXPORT_PRIVACY_ROWS "holds the names of the machine and of what was compiled"

/* The largest page that a browser should have to open, bytes; not applied without limits. */
#define EXPORT_PAGE_MOST (96u << 20)

struct export_job {
	struct trace_reader *r; /* newly opened */
	/*
	 * Another newly opened reader of the same file, to find the intervals to leave out. NULL:
	 * the export keeps the first intervals.
	 */
	struct trace_reader *survey;
	struct out *out;
	bool raw;      /* sums: times include probe costs */
	bool keys;     /* merged stacks: a query with another key is another frame */
	bool by_item;  /* merged stacks: modules, items and queries, not callers */
	uint8_t cause; /* merged stacks: sampled ones of this enum trace_sample_cause; 0: queries */
	bool wall;     /* merged stacks: times hold those off the CPU */
	bool short_names; /* of functions in sampled stacks */
	bool chosen;	  /* the readers return some processes only, which were asked for */
	const struct build *whole; /* of a page: with `chosen`, all; NULL: not known */
	/*
	 * Timelines: the approximate size limit, valid while names and tables are small next to the
	 * intervals; 0: none. out__limit() is for all formats.
	 */
	uint64_t max_bytes;
	uint64_t reserved; /* the part of max_bytes for data that follows the intervals */

	/* Results. */
	uint64_t written;	   /* intervals and instants, or different stacks, or rows */
	bool cpu_by_samples;	   /* times are CPU time by samples; set by export_counts() */
	uint64_t sampled;	   /* of these, intervals that samples met */
	uint64_t left_out;	   /* intervals left out for the size limit */
	uint64_t samples_left_out; /* samples, for the same reason */
	uint64_t least_ns;	   /* the shortest duration that is kept; 0: no minimum */
	uint64_t adjusted;	   /* intervals shortened or moved because they overlapped others */
};

/*
 * Write a format. 0 or a negative errno; write errors are also in out__error(). The caller flushes.
 * Memory: docs/export.md.
 */
int export_html(struct export_job *job);
int export_counts(struct export_job *job);
int export_jsonl(struct export_job *job); /* -ENODATA: no crate was compiled */
int export_perfetto(struct export_job *job);
int export_folded(struct export_job *job);
int export_pprof(struct export_job *job);
int export_speedscope(struct export_job *job);

#endif /* QPROF_EXPORT_JOB_H */
