/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The rows and the result of a comparison (compare.h). */
#ifndef QPROF_ANALYZE_COMPARE_ROWS_H
#define QPROF_ANALYZE_COMPARE_ROWS_H

#include <stdlib.h>

#include "analyze/compare_units.h"
#include "analyze/spread.h"
#include "base/array.h"

enum compare_side { COMPARE_BASE, COMPARE_NEW, COMPARE_N_SIDES };

enum compare_metric {
	COMPARE_SELF,  /* ns, without time blocked on another thread's execution */
	COMPARE_TOTAL, /* ns, including called queries; for a crate, the run time of its compiler */
	/* Executions of queries; exact, and equal in every build of the same source. */
	COMPARE_COUNT,
	/* Of crates and of the build, not of queries; 0: unknown. */
	COMPARE_CPU, /* ns, of all threads; see compare_result.without_cost */
	/* ns: a crate's compiler; the build from its first compiler to its last. */
	COMPARE_WALL,
	COMPARE_PEAK, /* bytes: the most that one compiler had resident */
	/* Results of queries, whether they had probes or not: build_process.results. */
	COMPARE_RESULTS,
	COMPARE_N_METRICS,
};

/* Wall time depends on what else ran on the machine: fewer traces on a side say nothing of it. */
#define COMPARE_WALL_TRACES 3
#define COMPARE_NOISE_MOST  500000 /* millionths; with more noise no verdict is worth anything */

/* The name of the row of passes that have none. */
#define COMPARE_UNKNOWN_PASS "(unknown)"

/* The name of the row of what no item is around. */
#define COMPARE_NO_ITEM "(no item)"

/* Texts and JSON call them so: "self", "cpu". */
static inline const char *compare_metric_name(enum compare_metric metric)
{
	static const char *const names[COMPARE_N_METRICS] = {
		[COMPARE_SELF] = "self",      [COMPARE_TOTAL] = "total", [COMPARE_COUNT] = "count",
		[COMPARE_CPU] = "cpu",	      [COMPARE_WALL] = "wall",	 [COMPARE_PEAK] = "peak",
		[COMPARE_RESULTS] = "results"};

	return names[metric];
}

static inline bool compare_metric_is_time(enum compare_metric metric)
{
	return metric != COMPARE_COUNT && metric != COMPARE_PEAK && metric != COMPARE_RESULTS;
}

/* Whether queries have none, only compilers and the build. */
static inline bool compare_metric_is_of_crates(enum compare_metric metric)
{
	return metric == COMPARE_CPU || metric == COMPARE_WALL || metric == COMPARE_PEAK ||
	       metric == COMPARE_RESULTS;
}

/* The tables of a comparison, beside the build and its crates, in the order of the output. */
enum compare_of {
	COMPARE_OF_ITEMS,   /* by path */
	COMPARE_OF_QUERIES, /* of crates */
	/* CPU time in LLVM, by samples, of all crates: */
	COMPARE_OF_PASSES,
	COMPARE_OF_GENERICS, /* definitions, with all their instances, by path */
	COMPARE_OF_INSTANCES,
	COMPARE_TABLES,
};

static inline bool compare_is_of_llvm(enum compare_of of)
{
	return of == COMPARE_OF_PASSES || of == COMPARE_OF_GENERICS || of == COMPARE_OF_INSTANCES;
}

/* One row of the comparison; metrics are spreads over the traces of each side. */
struct compare_row {
	const struct compare_unit *unit; /* NULL: all crates, or an item */
	bool is_build;			 /* it is all that was recorded */
	enum compare_of table;		 /* if it has a query */
	const char *query;		 /* NULL: the whole crate; else its name, or its path */
	const char *file; /* where an item begins, in the new build if it is there; or NULL */
	uint32_t line;
	uint32_t kinds;		  /* of a query: summary_row.kinds, of both sides */
	bool in[COMPARE_N_SIDES]; /* present in at least one trace of that side */
	bool significant;	  /* the metric of the rules changed significantly */
	/* 1 << enum compare_metric: known on both sides; and of these, changed significantly. */
	uint8_t known;
	uint8_t changed;
	/* Of those that did not: would have, if what recording cost were known exactly. */
	uint8_t doubted;
	bool too_noisy; /* these two as in compare_result, of the noise it was judged with */
	uint64_t noise_ppm;
	/*
	 * True if the metric of the rules is known on both sides. A row that is not compared is
	 * never significant.
	 */
	bool compared;
	struct spread of[COMPARE_N_METRICS][COMPARE_N_SIDES];
	/*
	 * Of whole crates: how differently long their threads waited for a CPU, in the traces with
	 * the most and the least of it.
	 */
	uint64_t preempted_ns;
	/*
	 * Of whole crates: what recording added to their CPU times, and how far the traces are
	 * apart in it; and in all that it may have added to wall times.
	 */
	bool knows_recording; /* of all traces; otherwise these are unknown */
	uint64_t recording_ns[COMPARE_N_SIDES];
	uint64_t recording_apart_ns;
	uint64_t recording_apart_wall_ns;
	/* The part of it that may be in the change of a time, or be hidden by it. */
	uint64_t cost_noise_ns[COMPARE_N_METRICS];
	/* Of a query of a crate: the self time of the crate, in the trace with the most of it. */
	uint64_t crate_self_ns;
	/* Probe time that was subtracted from self time: the most in one trace. */
	uint64_t probes_ns;
	/* How times are known, in any trace of that side: enum compare_by, ORed. */
	uint8_t by[COMPARE_N_SIDES];
	/*
	 * Standard error of the change of a time, by the numbers of samples: of the trace with the
	 * largest error on each side. 0: no samples are in it.
	 */
	uint64_t error_ns[COMPARE_N_METRICS];
};

enum compare_by {
	COMPARE_BY_SPANS = 1,
	/* Time on the CPU; comparable with that of intervals if all self times are on the CPU. */
	COMPARE_BY_SAMPLES = 2,
	/* The number of executions is not known. */
	COMPARE_UNCOUNTED = 4,
};

struct compare_rules {
	/* Of a row of queries, COMPARE_SELF takes the place of one that only crates have. */
	enum compare_metric metric;
	/* No time or number of executions is judged: the builds did different work. */
	bool different_work;
	/*
	 * Recording added different times to what compilers took. If these are unknown, CPU and
	 * wall times are not judged.
	 */
	bool different_recording;
	/* Base has so many builds that their range is the noise, however few the new side has. */
	bool base_has_noise;
	/* The sides are builds of a history, and not traces. */
	bool of_history;
	/* Smaller changes are ignored. Times only; the percentage is of the base build. */
	uint64_t min_ns;
	uint64_t min_ppm;
};

/* The metric of rows of queries. */
static inline enum compare_metric compare_rules__of_queries(const struct compare_rules *rules)
{
	return compare_metric_is_of_crates(rules->metric) ? COMPARE_SELF : rules->metric;
}

static inline bool compare_row__knows(const struct compare_row *row, enum compare_metric metric)
{
	return row->known >> metric & 1;
}

static inline bool compare_row__changed(const struct compare_row *row, enum compare_metric metric)
{
	return row->changed >> metric & 1;
}

static inline bool compare_row__is_doubted(const struct compare_row *row,
					   enum compare_metric metric)
{
	return row->doubted >> metric & 1;
}

static inline int64_t compare_row__change(const struct compare_row *row, enum compare_metric metric)
{
	return spread_change(&row->of[metric][COMPARE_BASE], &row->of[metric][COMPARE_NEW]);
}

struct compare_table {
	struct compare_row *rows; /* significant rows first, then by the size of the change */
	uint32_t n, capacity;
};

struct compare_result {
	bool has_items; /* all traces have some */
	bool has_llvm;	/* all traces know what LLVM did, and in some it ran */
	bool on_cpu;	/* self times are */
	/* Queries whose executions are not known in all traces: no sum has them. */
	size_t n_uncounted;
	bool without_cost; /* CPU times are without what recording added */
	bool mixed_cpu;	   /* some traces know CPU times by samples only: they are not judged */
	struct compare_rules rules;
	uint32_t traces[COMPARE_N_SIDES];
	/*
	 * Used for times if a side has fewer than SPREAD_TRUSTED traces: the noise of self times,
	 * in millionths, from rows with equal execution counts on both sides (spread_noise()); at
	 * least 5 %. A sum of rows is significant if it changes by more than twice the noise; a
	 * single row, by more than three times the noise and also by more than its probe time,
	 * which is an estimate too.
	 */
	bool noise_is_estimated;
	/*
	 * How long threads waited for a CPU, of the time that they ran, in millionths: in the trace
	 * with the most of it. On a busy machine they share caches and cores, so half of that,
	 * at most 60 %, counts as noise if the estimate is less.
	 */
	uint64_t busy_ppm;
	bool is_noise_of_busy;
	uint64_t estimated_ppm;		     /* the estimate, also where it is not used */
	uint64_t noise_ppm;		     /* UINT64_MAX: unknown */
	size_t n_crates_in[COMPARE_N_SIDES]; /* that a side has */
	size_t n_crates_in_both;
	/* Less than half of the crates are in both, so nothing of the whole build is judged. */
	bool few_crates;
	/*
	 * The noise is unknown or larger than COMPARE_NOISE_MOST: a change of a time is significant
	 * only if it exceeds five times as much as else, and without one nothing is known.
	 */
	bool too_noisy;
	struct compare_row build;
	struct compare_row *crates; /* one per unit; sorted as those of tables */
	uint32_t n_crates, crates_capacity;
	/* Of items one per path, of queries one per unit and query. */
	struct compare_table tables[COMPARE_TABLES];
};

/* The rows of one kind. */
static inline struct compare_table compare_result__table(const struct compare_result *r,
							 enum compare_of of)
{
	return r->tables[of];
}

/* Add a row to those of its kind. 0 or -ENOMEM. */
static inline int compare_result__add(struct compare_result *r, const struct compare_row *row)
{
	struct compare_table *to = &r->tables[row->table];

	if (row->query)
		return array__add(&to->rows, &to->n, &to->capacity, row);
	if (row->is_build)
		r->build = *row;
	return row->is_build ? 0 : array__add(&r->crates, &r->n_crates, &r->crates_capacity, row);
}

static inline void compare_result__clear(struct compare_result *r)
{
	free(r->crates);
	for (int of = 0; of < COMPARE_TABLES; of++)
		free(r->tables[of].rows);
	*r = (struct compare_result){};
}
#define _compare_result_ __cleanup(compare_result__clear)

#endif /* QPROF_ANALYZE_COMPARE_ROWS_H */
