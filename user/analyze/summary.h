/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Counts and times per (process, query) and per query. Fed by the live capture and by the reader
 * of a trace alike. Knows no output format.
 */
#ifndef QPROF_ANALYZE_SUMMARY_H
#define QPROF_ANALYZE_SUMMARY_H

#include "analyze/reuse.h"
#include "trace/trace.h"

/*
 * Everything with one label. Kinds of intervals beside executions are added up as measureme's
 * summarize does: all count for self_ns, and all but hashing, which is inside an execution, for
 * total_ns. Of intervals off the CPU there is no row.
 *
 * Times are without what our probes took of them, as far as the spans say (trace/self_time.h). Of
 * a sum, not of each span: some are shorter than their probes take on average.
 */
struct summary_row {
	uint32_t label;	  /* string id */
	uint64_t count;	  /* executions that started in the capture */
	uint64_t unwound; /* of them, those of trace_span__is_unfinished() */
	uint64_t total_ns;
	uint64_t self_ns;
	uint64_t max_ns;       /* of an execution; 0 without any */
	uint64_t min_ns;       /* likewise */
	uint64_t executed_ns;  /* total_ns of executions alone */
	uint64_t raw_total_ns; /* with what the probes took */
	uint64_t raw_self_ns;
	uint64_t clamped; /* processes in which the probes' part was more than self_ns: it is 0 */
	uint64_t hits;	  /* requests answered without an execution */
	uint64_t blocked_ns;
	uint64_t load_ns;
	uint64_t hashing_ns;
	uint64_t off_ns;      /* of raw_total_ns, off the CPU */
	uint64_t self_off_ns; /* of raw_self_ns */
	/*
	 * Executions that have no span, to keep within a budget: neither in count nor in a time of
	 * this row, but in the self times of those who called them.
	 */
	uint64_t counted;      /* exactly */
	uint64_t estimated;    /* not even counted: how many they may have been */
	uint64_t estimated_ns; /* what both may have taken; the first by the mean of the recorded */
	bool rough; /* there is an estimate, if only of none: it is not known how many there were */
	uint64_t loads; /* see struct reuse */
	uint64_t loaded;
	/* Kinds of its intervals, 1 << enum trace_kind; those of one file only are one. */
	uint32_t kinds;
};

/* Nothing of a query, but a phase, or another activity. */
static inline bool summary_row__is_activity(const struct summary_row *row)
{
	return row->kinds == 1u << TRACE_KIND_ACTIVITY;
}

/* Of an execution; 0 without any. */
static inline uint64_t summary_row__mean_ns(const struct summary_row *row)
{
	return row->count ? row->executed_ns / row->count : 0;
}

/* Executions without a span, of which nothing tells how long they took. */
static inline bool summary_row__is_untimed(const struct summary_row *row)
{
	return (row->counted || row->rough) && !row->raw_total_ns && !row->estimated_ns;
}

struct summary;

/* 0, or -ENOMEM. */
int summary__new(struct summary **out);
/*
 * The texts of processes will outlive the summary, as those of a reader do, and are not copied:
 * many processes of a trace share one text. Before the first process.
 */
void summary__borrow_texts(struct summary *s);
/* Add or update a process; `p` is copied. Indices are dense from 0: else -EINVAL. */
int summary__process(struct summary *s, const struct trace_process *p);
/*
 * 0, -ENOMEM, or -EINVAL for a span of a process that was not announced.
 * Spans of one thread must come in end order. self_ns and what the probes took are taken as given,
 * and so is `off`; if that is NULL, all is derived from depth (for readers of a trace).
 */
int summary__span(struct summary *s, const struct trace_span *span, const struct trace_off *off);

/* As self_time__set_costs(), for what is computed. */
void summary__set_costs(struct summary *s, const struct trace_costs *costs);

/*
 * Add a tally, after its process: cache hits and executions without a span to the rows, others to
 * the list. Errors as above.
 */
int summary__tally(struct summary *s, const struct trace_tally *t);

uint32_t summary__n_processes(const struct summary *s);
/* NULL past the end. Valid until the next summary__process(). */
const struct trace_process *summary__process_at(const struct summary *s, uint32_t i);

/*
 * Rows of one process (its index), or of all summed (SUMMARY_ALL), sorted by self time then label
 * id. The array is the caller's to free; its length goes to *n. -ENOMEM, or -EINVAL for a process
 * that was not announced.
 */
#define SUMMARY_ALL UINT32_MAX
int summary__rows(const struct summary *s, uint32_t process, struct summary_row **rows, size_t *n);

/* To be called before summary__reuse() is: before `from_ns`, loads were not watched. */
void summary__loads_watched(struct summary *s, uint64_t from_ns);

/* What process `i`, which must have been announced, took over from the last compile. */
struct reuse summary__reuse(const struct summary *s, uint32_t i);

/*
 * The tallies that are in no row, in the order in which they came; per process. The summary's
 * own, until the next summary__tally().
 */
const struct trace_tally *summary__tallies(const struct summary *s, size_t *n);

/* Intervals of which the end is an upper bound (TRACE_SPAN_LEFT), without those off the CPU. */
uint64_t summary__left(const struct summary *s);
uint64_t summary__left_off(const struct summary *s); /* and only those */

/* Without those off the CPU. */
uint64_t summary__spans(const struct summary *s);

/* The latest time that is known of. */
uint64_t summary__end_ns(const struct summary *s);

/* From their starts to their ends, or to their last spans' if those are not known; summed. */
uint64_t summary__wall_ns(const struct summary *s);

void summary__free(struct summary *s);
DEFINE_CLEANUP(struct summary, summary__free)
#define _summary_ __cleanup(summary__free_p)

#endif /* QPROF_ANALYZE_SUMMARY_H */
