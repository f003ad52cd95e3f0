/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Two builds, each recorded once or several times, side by side: which query of which crate takes
 * longer, or is executed more often. Fed with the summaries of traces; knows no output format.
 */
#ifndef QPROF_ANALYZE_COMPARE_H
#define QPROF_ANALYZE_COMPARE_H

#include "analyze/compare_units.h"
#include "analyze/spread.h"
#include "analyze/summary.h"

enum compare_side { COMPARE_BASE, COMPARE_NEW, COMPARE_N_SIDES };

enum compare_metric {
	COMPARE_SELF,  /* ns, without waiting for another thread's execution */
	COMPARE_TOTAL, /* ns, with the queries it called; of a crate the time its compiler ran */
	COMPARE_COUNT, /* executions: exact, the same in every build of the same source */
	COMPARE_N_METRICS,
};

/* What of a metric is compared, over the traces of each side. */
struct compare_row {
	const struct compare_unit *unit; /* NULL: all crates */
	const char *query;		 /* NULL: all of it */
	bool in[COMPARE_N_SIDES];	 /* in one trace of that side at least */
	bool significant;		 /* the change of the metric that the rules name */
	/*
	 * Whether the metric that the rules name is known on both sides. Else nothing of it is
	 * significant: executions were estimated; or (times of a query) not recorded.
	 */
	bool compared;
	uint64_t counted;   /* executions without a span, exactly, which are in the count; */
	uint64_t estimated; /* and about, which are not: the most in a trace */
	bool rough;	    /* there are estimates, if only of none */
	struct spread of[COMPARE_N_METRICS][COMPARE_N_SIDES];
	/* What probes took of its self time, and is not in it: the most in a trace. */
	uint64_t probes_ns;
};

struct compare_rules {
	enum compare_metric metric;
	/* A smaller change is none. Times only; the second is of the build of the base. */
	uint64_t min_ns;
	uint64_t min_millipercent;
};

static inline int64_t compare_row__change(const struct compare_row *row, enum compare_metric metric)
{
	return spread_change(&row->of[metric][COMPARE_BASE], &row->of[metric][COMPARE_NEW]);
}

struct compare;

/* How many traces each side will have: at least one. */
int compare__new(uint32_t n_base, uint32_t n_new, struct compare **out);

/* Texts for the string ids of a summary. */
struct compare_names {
	const void *ctx;
	const char *(*text)(const void *ctx, uint32_t id);
};

/* Add the next trace of a side; nothing of it is kept. -ENOMEM; -EINVAL for one too many. */
int compare__trace(struct compare *c, enum compare_side side, const struct summary *s,
		   const struct compare_names *names);

struct compare_result {
	struct compare_rules rules;
	uint32_t traces[COMPARE_N_SIDES];
	bool has_estimates[COMPARE_N_SIDES]; /* then it is not known what was not executed */
	/*
	 * With fewer than SPREAD_TRUSTED traces on a side, times: what self times waver by of rows
	 * that were executed equally often on both sides, in 1/100000 (spread_noise()), at least
	 * 5 %. A sum of rows has to change by twice as much to be significant; a single row by
	 * thrice, and by what the probes took of it, which is an estimate too.
	 */
	bool noise_is_estimated;
	uint64_t noise_millipercent; /* UINT64_MAX: it cannot be told */
	struct compare_row build;
	struct compare_row *crates; /* one per unit; as `rows` */
	size_t n_crates;
	/* One per unit and query: significant ones first, then by how much they changed. */
	struct compare_row *rows;
	size_t n_rows;
};

/*
 * After the last trace. Texts are those of `c`. To be cleared with compare_result__clear(), also
 * after a failure: -ENOMEM.
 */
int compare__result(struct compare *c, const struct compare_rules *rules,
		    struct compare_result *out);
void compare_result__clear(struct compare_result *r);
#define _compare_result_ __cleanup(compare_result__clear)

/*
 * The sum of what `pick` picks: of rows with a query, of those without (a whole unit), or of the
 * one without a unit either (the build). Returns how many were picked, or -ENOMEM.
 */
typedef bool compare_pick(const void *ctx, const struct compare_unit *unit, const char *query);
int compare__sum(const struct compare *c, const struct compare_result *r, compare_pick *pick,
		 const void *ctx, struct compare_row *out);

void compare__free(struct compare *c);
DEFINE_CLEANUP(struct compare, compare__free)
#define _compare_ __cleanup(compare__free_p)

#endif /* QPROF_ANALYZE_COMPARE_H */
