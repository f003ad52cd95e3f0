/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Compare two builds, each recorded once or several times: which query of which crate takes longer
 * or is executed more often. Takes the summaries of traces; knows no output format.
 */
#ifndef QPROF_ANALYZE_COMPARE_H
#define QPROF_ANALYZE_COMPARE_H

#include "analyze/compare_units.h"
#include "analyze/items.h"
#include "analyze/spread.h"
#include "analyze/summary.h"
#include "analyze/unrecorded.h"

enum compare_side { COMPARE_BASE, COMPARE_NEW, COMPARE_N_SIDES };

enum compare_metric {
	COMPARE_SELF,  /* ns, without time blocked on another thread's execution */
	COMPARE_TOTAL, /* ns, including called queries; for a crate, the run time of its compiler */
	COMPARE_COUNT, /* executions; exact, and equal in every build of the same source */
	COMPARE_N_METRICS,
};

/* The name of the row of what no item is around. */
#define COMPARE_NO_ITEM "(no item)"

/* One row of the comparison; metrics are spreads over the traces of each side. */
struct compare_row {
	const struct compare_unit *unit; /* NULL: all crates, or an item */
	const char *query;		 /* NULL: the whole crate; of an item its path */
	const char *file; /* where an item begins, in the new build if it is there; or NULL */
	uint32_t line;
	uint32_t kinds;		  /* of a query: summary_row.kinds, of both sides */
	bool in[COMPARE_N_SIDES]; /* present in at least one trace of that side */
	bool significant;	  /* the metric of the rules changed significantly */
	/*
	 * True if the metric of the rules is known on both sides. A row that is not compared is
	 * never significant. Executions may be only estimated, and times of a query not recorded.
	 */
	bool compared;
	/*
	 * Executions without a span. The exact number is included in the count, the estimated is
	 * not. Each is the largest of any trace.
	 */
	struct unrecorded unrecorded;
	/*
	 * Of a query: it had no probes in a trace of that side, so its executions are unknown. Of
	 * the build: some query had none in some trace, and the count has none of these.
	 */
	bool unprobed[COMPARE_N_SIDES];
	struct spread of[COMPARE_N_METRICS][COMPARE_N_SIDES];
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
};

struct compare_rules {
	enum compare_metric metric;
	/* Smaller changes are ignored. Times only; the percentage is of the base build. */
	uint64_t min_ns;
	uint64_t min_ppm;
};

static inline int64_t compare_row__change(const struct compare_row *row, enum compare_metric metric)
{
	return spread_change(&row->of[metric][COMPARE_BASE], &row->of[metric][COMPARE_NEW]);
}

struct compare;

/* `n_base` and `n_new` are the numbers of traces of the sides; both at least one. */
int compare__new(uint32_t n_base, uint32_t n_new, struct compare **out);

/*
 * Add the next trace of a side; `s` is not kept. -ENOMEM; -EINVAL for a trace too many; -E2BIG if
 * the names of queries are more, or longer, than one trace may hold.
 */
int compare__trace(struct compare *c, enum compare_side side, const struct summary *s,
		   const struct trace_texts *names);

/*
 * The same, but its rows are items instead of queries, paired by path. All traces are added in this
 * way, or none. With executions that were not recorded, no item is compared: they may have been
 * about it.
 */
int compare__trace_items(struct compare *c, enum compare_side side, const struct summary *s,
			 struct items *items, const struct trace_texts *names);

/*
 * A query had no probes in the trace that is added last, or next, on this side. Its executions are
 * not compared, and in no sum. Self times of all traces are then those on the CPU, as far as it is
 * known when threads were off it. -ENOMEM.
 */
int compare__unprobed(struct compare *c, enum compare_side side, const char *query);

struct compare_result {
	bool by_item;
	bool on_cpu; /* self times are */
	struct compare_rules rules;
	uint32_t traces[COMPARE_N_SIDES];
	bool has_estimates[COMPARE_N_SIDES]; /* a missing row may have been executed */
	/*
	 * Used for times if a side has fewer than SPREAD_TRUSTED traces: the noise of self times,
	 * in millionths, from rows with equal execution counts on both sides (spread_noise()); at
	 * least 5 %. A sum of rows is significant if it changes by more than twice the noise; a
	 * single row, by more than three times the noise and also by more than its probe time,
	 * which is an estimate too.
	 */
	bool noise_is_estimated;
	uint64_t noise_ppm; /* UINT64_MAX: unknown */
	struct compare_row build;
	struct compare_row *crates; /* one per unit; sorted as `rows` */
	size_t n_crates;
	/* One per unit and query, or per item: significant rows first, then by the size of the
	 * change. */
	struct compare_row *rows;
	size_t n_rows;
};

/*
 * Call after the last trace. Texts belong to `c`. Clear with compare_result__clear(), even after a
 * failure. -ENOMEM.
 */
int compare__result(struct compare *c, const struct compare_rules *rules,
		    struct compare_result *out);
void compare_result__clear(struct compare_result *r);
#define _compare_result_ __cleanup(compare_result__clear)

/*
 * Sum the rows for which `pick` returns true: rows with a query, rows of whole units, or the row of
 * the whole build. Returns the number of rows, or -ENOMEM.
 */
typedef bool compare_pick(const void *ctx, const struct compare_unit *unit, const char *query);
int compare__sum(const struct compare *c, const struct compare_result *r, compare_pick *pick,
		 const void *ctx, struct compare_row *out);

void compare__free(struct compare *c);
DEFINE_CLEANUP(struct compare, compare__free)
#define _compare_ __cleanup(compare__free_p)

#endif /* QPROF_ANALYZE_COMPARE_H */
