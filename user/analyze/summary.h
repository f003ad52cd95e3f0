/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Counts and times per (process, query) and per query. The live capture and the reader of a trace
 * both feed items into it. Knows no output format.
 */
#ifndef QPROF_ANALYZE_SUMMARY_H
#define QPROF_ANALYZE_SUMMARY_H

#include "analyze/sampled.h"
#include "base/table.h"
#include "trace/trace.h"

/*
 * All intervals with one label, of the query of that name or of the activity: rustc has both of
 * some names. Other kinds of intervals are added to executions as measureme's summarize does: all
 * count for self_ns; all but hashing, which is inside an execution, count for total_ns. Off-CPU
 * intervals have no row. Times exclude probe time, as far as it is known (struct trace_times).
 * Probe time is subtracted from the sum, not from each span, because some spans are shorter than
 * the average cost of their probes.
 */
struct summary_row {
	uint32_t label;	  /* string id */
	bool is_activity; /* or of a kind that is private to a file */
	uint64_t count;	  /* executions that ran while recording */
	uint64_t unwound; /* executions with trace_span__is_unfinished() */
	uint64_t begun;	  /* intervals with trace_span__began_before() */
	uint64_t total_ns;
	uint64_t self_ns;
	uint64_t max_ns;       /* of one execution; 0 without any */
	uint64_t min_ns;       /* as max_ns */
	uint64_t executed_ns;  /* total_ns of executions alone */
	uint64_t raw_total_ns; /* with probe time */
	uint64_t raw_self_ns;
	uint64_t clamped; /* processes in which probe time exceeded self_ns, which is then 0 */
	uint64_t hits;	  /* requests answered without an execution */
	uint64_t blocked_ns;
	uint64_t load_ns;
	uint64_t hashing_ns;
	uint64_t off_ns;      /* off-CPU time within raw_total_ns */
	uint64_t self_off_ns; /* off-CPU time within raw_self_ns */
	/* Of self_ns, on the CPU: the sum of those of the processes, each at least 0 (on_cpu_ns()).
	 */
	uint64_t self_cpu_ns;
	/*
	 * Of a query, as the compilers had them in memory: its results, and those among them that
	 * may be no executions, because they were fed or loaded.
	 */
	uint64_t results;
	uint64_t results_unsure;
	bool results_missing; /* there may be more: not all that a compiler had are known */
	/* The same two, of those compilers that have no recorded execution. */
	uint64_t results_beside; /* without what is unsure */
	uint64_t unsure_beside;
	uint64_t loads; /* see struct reuse */
	uint64_t loaded;
	/*
	 * Kinds of its intervals, 1 << enum trace_kind; all kinds private to a file share one bit.
	 */
	uint32_t kinds;
	struct sample_sums samples; /* of the query, whose executions may not be recorded */
	uint64_t sampled_max_ns;    /* of an execution that several samples met; 0: of none */
	/* The rest is set by summary__rows(). */
	uint64_t sampled_error_ns; /* sample_sum__error() of CPU time: self, and total */
	uint64_t sampled_total_error_ns;
	/*
	 * The self time that is known best, and its standard error; without the probes' time. On
	 * the CPU if it is by samples, as it is in all rows where not all queries have probes.
	 */
	uint64_t best_self_ns;
	uint64_t best_error_ns;
	uint64_t best_cpu_ns; /* its part on the CPU; all of it if off-CPU time is unknown */
	uint8_t self_by;      /* enum summary_self */
};

/* How the self time is known. */
enum summary_self {
	SUMMARY_SELF_SPANS,   /* by intervals: exact */
	SUMMARY_SELF_SAMPLES, /* by samples alone: time on the CPU */
};

/* True for a phase or another activity, false for a query. */
static inline bool summary_row__is_activity(const struct summary_row *row)
{
	return row->kinds == 1u << TRACE_KIND_ACTIVITY;
}

/*
 * The name of the first of these kinds: a query's row also has intervals of waiting, loading and
 * hashing. A row without intervals is a query, because only queries have cache hits or samples.
 * NULL: the kind is private to a file.
 */
static inline const char *summary_kind_text(uint32_t kinds)
{
	return trace_kind_text(kinds ? (unsigned int)__builtin_ctz(kinds) : TRACE_KIND_QUERY);
}

static inline const char *summary_row__kind(const struct summary_row *row)
{
	return summary_kind_text(row->kinds);
}

/*
 * The mark of the time of a query that was not executed: " (loaded)", from the last build, and so
 * on; an empty text if it was.
 */
static inline const char *summary_row__instead(const struct summary_row *row)
{
	if (row->count || !row->raw_self_ns)
		return "";
	if (row->kinds & 1u << TRACE_KIND_LOAD)
		return " (loaded)";
	if (row->kinds & 1u << TRACE_KIND_BLOCKED)
		return " (waited for)";
	return row->kinds & 1u << TRACE_KIND_HASHING ? " (hashed)" : "";
}

/* True if `results` are the executions of a query of which no interval was recorded. */
static inline bool summary_row__is_counted(const struct summary_row *row)
{
	return !row->count && row->results && !row->results_unsure && !row->results_missing;
}

/* Recorded executions, with what the results of other compilers are; 0: not known, or none. */
static inline uint64_t summary_row__executions(const struct summary_row *row)
{
	if (row->count)
		return row->count + row->results_beside;
	return summary_row__is_counted(row) ? row->results : 0;
}

/* Mean time of an execution; 0 without any. */
static inline uint64_t summary_row__mean_ns(const struct summary_row *row)
{
	return row->count ? row->executed_ns / row->count : 0;
}

/* Of struct summary_row's kinds. */
static inline uint32_t summary_kind_bit(unsigned int kind)
{
	return 1u << (kind < TRACE_KIND_OTHER ? kind : TRACE_KIND_OTHER);
}

/* Kinds of intervals that are an activity's, as in struct summary_row. */
static inline bool summary_kinds_are_activity(uint32_t kinds)
{
	return (kinds & (1u << TRACE_KIND_ACTIVITY | 1u << TRACE_KIND_OTHER)) != 0;
}

/*
 * Results that an incremental compile reused from the previous one, in one process. docs/events.md
 * lists which of them can be determined.
 */
struct reuse {
	uint64_t executed; /* query executions with a span */
	bool unprobed;	   /* some queries had no probes: there were more executions */
	uint64_t loads;	   /* results looked for in the cache on disk */
	uint64_t loaded;   /* lower bound: loads not followed by an execution of the query */
	/*
	 * Lower bound of the results in the graph of this compile, reused or not. 0: unknown,
	 * because several threads numbered results, which leaves gaps.
	 */
	uint64_t results;
};

/* True if an execution without a span may have followed a load. `loaded` is then no lower bound. */
static inline bool reuse__may_miss(const struct reuse *r)
{
	return r->unprobed;
}

/* True if reuse__unseen() is valid. */
static inline bool reuse__knows_unseen(const struct reuse *r)
{
	return r->results && !r->unprobed;
}

/* Results that were neither executed nor loaded. */
static inline uint64_t reuse__unseen(const struct reuse *r)
{
	uint64_t seen = r->executed + r->loaded;

	return r->results > seen ? r->results - seen : 0;
}

/* Separates loads that found something from those that did not. All zeroes is empty. */
struct load_tracks {
	TABLE(struct load_track) tracks; /* by process << 32 | tid */
};

/*
 * Add a span; spans of a thread come in the order of their ends. Returns 1 if the span is an
 * execution right after a load of the same query, so that the load found nothing; else 0 or
 * -ENOMEM.
 */
int load_tracks__span(struct load_tracks *l, const struct trace_span *span);

void load_tracks__destroy(struct load_tracks *l);

struct summary;

/* 0, or -ENOMEM. */
int summary__new(struct summary **out);
/*
 * Do not copy the texts of processes, because they outlive the summary, as a reader's texts do:
 * many processes of a trace share one text. Call it before adding the first process.
 */
void summary__borrow_texts(struct summary *s);
/* Add or update a process; `p` is copied. Indices must be dense from 0, else -EINVAL. */
int summary__process(struct summary *s, const struct trace_process *p);
/*
 * Add a span. Spans of one thread must come in end order. 0, -ENOMEM, or -EINVAL if the span's
 * process is unknown or it ends before it starts.
 */
int summary__span(struct summary *s, const struct trace_span *span,
		  const struct trace_times *times);

/*
 * Add a tally, after its process. Cache hits go to the rows, others to the list. Errors as
 * summary__span().
 */
int summary__tally(struct summary *s, const struct trace_tally *t);

/* The process ran when the sample was taken, and was recorded. -EINVAL as above. */
int summary__sample(struct summary *s, const struct trace_sample *sample);

/*
 * Add the samples of a label, after its process; `kinds` as in struct summary_row. Errors as
 * summary__span().
 */
int summary__samples(struct summary *s, uint32_t process, uint32_t label, uint32_t kinds,
		     const struct sample_sums *sums);

/*
 * Add an interval of analyze/sampled_intervals.h, after its process; it is no execution. Errors as
 * summary__span().
 */
int summary__sampled_interval(struct summary *s, const struct trace_span *span);

/* Take off what summary__samples() added. */
void summary__forget_samples(struct summary *s);

/*
 * Whether of some compiler no results were read: it may have executed any query. Only where no
 * query has probes does that matter.
 */
bool summary__misses_results(const struct summary *s);

/* The trace has samples, or could have. */
void summary__set_sampled(struct summary *s);
bool summary__is_sampled(const struct summary *s);

/* Compilers were read from outside (TRACE_SOURCE_OUTSIDE). */
void summary__set_outside(struct summary *s);
bool summary__is_outside(const struct summary *s);

/* Not all queries have probes, so that the self times of intervals hold times of others. */
void summary__set_unwatched(struct summary *s);
bool summary__is_unwatched(const struct summary *s);

/*
 * Fold a process that has ended; no more items of it may follow. Its rows are merged into those of
 * all processes and its texts are freed. Probe time is then subtracted from the merged sum, not per
 * process. About 200 bytes per process are kept. 0 or -ENOMEM.
 */
int summary__fold(struct summary *s, uint32_t process);

/* As compile_only_queries(); also works for a folded process. */
bool summary__only_queried(const struct summary *s, uint32_t process);

/* Something was recorded or sampled of process `i`; also works for a folded process. */
bool summary__recorded(const struct summary *s, uint32_t i);

uint32_t summary__n_processes(const struct summary *s);
/* NULL past the end. Valid until the next summary__process(). */
const struct trace_process *summary__process_at(const struct summary *s, uint32_t i);

/*
 * Rows of one process (by index), or the sums over all (SUMMARY_ALL), sorted by self time on the
 * CPU (best_cpu_ns), then by label id and kind. The caller frees the array; *n is its length.
 * -ENOMEM, or -EINVAL if the process is unknown.
 */
#define SUMMARY_ALL UINT32_MAX
int summary__rows(const struct summary *s, uint32_t process, struct summary_row **rows, size_t *n);

/*
 * Call `take` for each query and activity of a process, also for those that have no row, in no
 * particular order, with what was counted of it and none of the rest. 0, -EINVAL, or the first
 * value that is not 0.
 */
int summary__each(const struct summary *s, uint32_t process,
		  int (*take)(void *ctx, const struct summary_row *row), void *ctx);

struct summary_counts {
	/*
	 * Executions of queries: recorded, or, of those of which none is, by the compilers' tables
	 * where not all queries have probes.
	 */
	uint64_t queries;
	uint64_t unsure;     /* results in these tables that may be no executions */
	uint64_t activities; /* passes, and parts of them */
};

static inline void summary_counts__add(struct summary_counts *to, const struct summary_row *row)
{
	*(row->is_activity ? &to->activities : &to->queries) += row->count;
}

/* Of a process, or SUMMARY_ALL; the headline of every output. Errors as summary__rows(). */
int summary__counts(const struct summary *s, uint32_t process, struct summary_counts *counts);

/* Results that process `i` reused from the last compile. The process must be known. */
struct reuse summary__reuse(const struct summary *s, uint32_t i);

/*
 * Tallies that are in no row, in the order of arrival, per process. Owned by the summary; valid
 * until the next summary__tally().
 */
const struct trace_tally *summary__tallies(const struct summary *s, size_t *n);

/* Intervals whose end is an upper bound (TRACE_SPAN_LEFT), without off-CPU intervals. */
uint64_t summary__left(const struct summary *s);
uint64_t summary__left_off(const struct summary *s); /* off-CPU intervals only */

/* Number of spans, without off-CPU intervals. */
uint64_t summary__spans(const struct summary *s);

/* The latest known time. */
uint64_t summary__end_ns(const struct summary *s);

/* Sum of the run times of all processes; if an end is unknown, up to the last span or sample. */
uint64_t summary__wall_ns(const struct summary *s);

void summary__free(struct summary *s);
DEFINE_CLEANUP(struct summary, summary__free)
#define _summary_ __cleanup(summary__free_p)

#endif /* QPROF_ANALYZE_SUMMARY_H */
