// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare_judge.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"

#define NOISE_LEAST   50000  /* ppm */
#define NOISE_OF_PEAK 100000 /* ppm */
#define PART_OF_BUSY  2
/* Above COMPARE_NOISE_MOST, as a busy machine may have any time. */
#define NOISE_OF_BUSY	 600000 /* ppm */
#define FACTOR_OF_SUMS	 2
#define FACTOR_OF_ROWS	 3
#define FACTOR_OF_ERRORS 4
/* An estimate of so much noise is a bad one. */
#define FACTOR_IF_TOO_NOISY 5
#define CHANCE_OF_CRATE	    200
/* A probe may cost so many times as much where other programs use the caches. */
#define PROBES_OF_BUSY 3
#define LEAST_OF_BUSY  100000 /* ppm */
#define MILLION	       1000000

/* For times that depend on what else ran on the machine. */
static bool are_enough(const struct compare_result *r)
{
	return r->traces[COMPARE_BASE] >= COMPARE_WALL_TRACES &&
	       r->traces[COMPARE_NEW] >= COMPARE_WALL_TRACES;
}

static bool is_cost_compared(const struct compare_result *r, const struct compare_row *row,
			     enum compare_metric metric)
{
	if (r->rules.different_recording && !r->without_cost &&
	    (metric == COMPARE_CPU || metric == COMPARE_WALL))
		return false;
	if (metric == COMPARE_CPU && r->mixed_cpu)
		return false;
	if (metric == COMPARE_WALL && !are_enough(r))
		return false;
	for (int side = 0; side < COMPARE_N_SIDES; side++)
		if (row->in[side] && !row->of[metric][side].median)
			return false;
	return true;
}

static bool is_compared(const struct compare_result *r, const struct compare_row *row,
			enum compare_metric metric, bool has_query)
{
	uint8_t base = row->by[COMPARE_BASE], new = row->by[COMPARE_NEW];

	if (r->rules.different_work || (r->few_crates && row->is_build))
		return false;
	if (compare_metric_is_of_crates(metric))
		return !has_query && is_cost_compared(r, row, metric);
	if (metric == COMPARE_COUNT)
		return !((base | new) & COMPARE_UNCOUNTED);
	/* Both sides must be known alike. Waiting is not in the times of samples. */
	if (base && new && !(base & new & ~COMPARE_UNCOUNTED) &&
	    !(r->on_cpu && metric == COMPARE_SELF))
		return false;
	return metric != COMPARE_TOTAL || has_query || are_enough(r);
}

/* The size that a change of a time must exceed besides the noise. */
static uint64_t least_of(const struct compare_result *r, const struct compare_row *row,
			 enum compare_metric metric, bool is_sum)
{
	uint64_t base = r->build.of[metric][COMPARE_BASE].median;
	uint64_t least = r->rules.min_ns;
	uint64_t part = (uint64_t)((long double)base * r->rules.min_ppm / MILLION);

	if (part > least)
		least = part;
	/* Estimates of the probes' time, and what only a short query has more of by chance. */
	if (r->noise_is_estimated && !is_sum)
		least += row->probes_ns * (r->busy_ppm > LEAST_OF_BUSY ? PROBES_OF_BUSY : 1) +
			 row->crate_self_ns / CHANCE_OF_CRATE;
	if (metric == COMPARE_WALL || metric == COMPARE_TOTAL)
		least += row->preempted_ns;
	return least + FACTOR_OF_ERRORS * row->error_ns[metric];
}

/*
 * The time that recording may have added to one side more than to the other. Paired builds took up
 * to one and a half times the cost that was reported (docs/overhead.md). So half of what the costs
 * are apart may be left in a CPU time that they were taken out of, and one and a half times as much
 * is in a wall time, of which nothing was taken out.
 */
static uint64_t cost_noise(const struct compare_result *r, const struct compare_row *row,
			   enum compare_metric metric)
{
	if (!r->without_cost)
		return 0;
	if (metric == COMPARE_CPU)
		return row->recording_apart_ns / 2;
	return metric == COMPARE_WALL
		       ? row->recording_apart_wall_ns + row->recording_apart_wall_ns / 2
		       : 0;
}

static bool is_changed(const struct compare_result *r, const struct compare_row *row,
		       enum compare_metric metric, bool is_sum, uint64_t cost_noise)
{
	const struct spread *base = &row->of[metric][COMPARE_BASE];
	const struct spread *new = &row->of[metric][COMPARE_NEW];
	struct spread_limits limits = {};
	uint64_t factor = is_sum ? FACTOR_OF_SUMS : FACTOR_OF_ROWS;

	if (r->too_noisy)
		factor *= FACTOR_IF_TOO_NOISY;
	if (metric == COMPARE_PEAK)
		limits.noise_ppm = NOISE_OF_PEAK;
	else if (metric != COMPARE_COUNT && metric != COMPARE_RESULTS) {
		limits.least = least_of(r, row, metric, is_sum) + cost_noise;
		if (__builtin_mul_overflow(r->noise_ppm, factor, &limits.noise_ppm))
			limits.noise_ppm = UINT64_MAX;
	}
	return spread_differs(base, new, &limits);
}

void compare_judge__row(const struct compare_result *r, struct compare_row *row, bool has_query,
			bool is_sum)
{
	enum compare_metric metric =
		has_query ? compare_rules__of_queries(&r->rules) : r->rules.metric;

	row->known = row->changed = row->doubted = 0;
	row->too_noisy = r->too_noisy;
	row->noise_ppm = r->noise_ppm;
	for (unsigned int m = 0; m < COMPARE_N_METRICS; m++) {
		bool known = is_compared(r, row, m, has_query);
		uint64_t noise = cost_noise(r, row, m);
		bool changed = known && is_changed(r, row, m, is_sum, noise);

		row->cost_noise_ns[m] = noise;
		row->known |= known << m;
		row->changed |= changed << m;
		row->doubted |= (known && !changed && is_changed(r, row, m, is_sum, 0)) << m;
	}
	row->compared = compare_row__knows(row, metric);
	row->significant = compare_row__changed(row, metric);
}

void compare_judge__by_estimate(struct compare_result *r)
{
	r->noise_is_estimated = true;
	r->noise_ppm = r->estimated_ppm;
	r->too_noisy = r->noise_ppm > COMPARE_NOISE_MOST;
}

static int estimate_noise(struct compare_result *r)
{
	const struct compare_table *queries = &r->tables[COMPARE_OF_QUERIES];
	_free_ struct spread_pair *pairs = calloc(queries->n + 1UL, sizeof(*pairs));
	uint64_t busy = r->busy_ppm / PART_OF_BUSY;
	size_t n = 0;

	if (!pairs)
		return -ENOMEM;
	for (size_t i = 0; i < queries->n; i++) {
		const struct compare_row *row = &queries->rows[i];

		if (!compare_row__change(row, COMPARE_COUNT))
			pairs[n++] = (struct spread_pair){
				row->of[COMPARE_SELF][COMPARE_BASE].median,
				row->of[COMPARE_SELF][COMPARE_NEW].median,
				row->error_ns[COMPARE_SELF],
			};
	}
	r->estimated_ppm = spread_noise(pairs, n);
	if (r->estimated_ppm < NOISE_LEAST)
		r->estimated_ppm = NOISE_LEAST;
	if (busy > NOISE_OF_BUSY)
		busy = NOISE_OF_BUSY;
	r->is_noise_of_busy = r->estimated_ppm < busy;
	if (r->is_noise_of_busy)
		r->estimated_ppm = busy;
	if (!r->rules.base_has_noise &&
	    spread_is_thin(r->traces[COMPARE_BASE], r->traces[COMPARE_NEW]))
		compare_judge__by_estimate(r);
	return 0;
}

static int compare_texts(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : !a - !b;
}

static int compare_rows(const void *a, const void *b, void *metric_p)
{
	const struct compare_row *x = a, *y = b;
	enum compare_metric metric = *(const enum compare_metric *)metric_p;
	int64_t dx = compare_row__change(x, metric), dy = compare_row__change(y, metric);
	/* Unsigned, because the smallest number cannot be negated. */
	uint64_t ax = dx < 0 ? -(uint64_t)dx : (uint64_t)dx;
	uint64_t ay = dy < 0 ? -(uint64_t)dy : (uint64_t)dy;

	if (x->significant != y->significant)
		return y->significant - x->significant;
	if (ax != ay)
		return ax < ay ? 1 : -1;
	return compare_texts(x->unit ? x->unit->name : NULL, y->unit ? y->unit->name : NULL)
		       ?: compare_texts(x->query, y->query);
}

static void judge(struct compare_result *r, struct compare_row *rows, size_t n, bool are_sums)
{
	enum compare_metric metric =
		are_sums ? r->rules.metric : compare_rules__of_queries(&r->rules);

	for (size_t i = 0; i < n; i++)
		compare_judge__row(r, &rows[i], !are_sums, are_sums);
	if (n)
		qsort_r(rows, n, sizeof(*rows), compare_rows, &metric);
}

int compare_judge__result(struct compare_result *r)
{
	int err = estimate_noise(r);

	if (err)
		return err;
	for (size_t i = 0; i < r->n_crates; i++) {
		const bool *in = r->crates[i].in;

		r->n_crates_in[COMPARE_BASE] += in[COMPARE_BASE];
		r->n_crates_in[COMPARE_NEW] += in[COMPARE_NEW];
		r->n_crates_in_both += in[COMPARE_BASE] && in[COMPARE_NEW];
	}
	r->few_crates = r->n_crates_in_both < r->n_crates - r->n_crates_in_both;
	compare_judge__row(r, &r->build, false, true);
	judge(r, r->crates, r->n_crates, true);
	for (int of = 0; of < COMPARE_TABLES; of++)
		judge(r, r->tables[of].rows, r->tables[of].n, false);
	return 0;
}
