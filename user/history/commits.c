// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/commits.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyze/change_points.h"
#include "analyze/compare_judge.h"
#include "base/array.h"
#include "base/diag.h"
#include "history/commit_rows.h"
#include "history/trend_points.h"

/* With so many builds of base the noise is theirs, and need not be estimated. */
#define MANY_BUILDS 10
/* Times by samples have an error as of samples that are so far apart. */
#define SAMPLE_NS 5000000.0L

struct commits {
	const struct history_build *const *builds;
	size_t n_base, n;
	struct commit_rows *rows;
	struct compare_result result;
};

/* The sums of some pairs, one for each build. */
struct sums {
	struct commit_cell *cells;
	uint64_t *values; /* scratch */
};

static void sums__clear(struct sums *s)
{
	free(s->cells);
	free(s->values);
}

static int sums__init(struct sums *s, const struct commits *c)
{
	*s = (struct sums){
		.cells = calloc(c->n, sizeof(*s->cells)),
		.values = calloc(c->n, sizeof(*s->values)),
	};
	return s->cells && s->values ? 0 : -ENOMEM;
}

static void sums__add(struct sums *s, const struct commits *c, uint32_t pair)
{
	const struct commit_cell *from = commit_rows__cells(c->rows, pair);

	for (size_t i = 0; i < c->n; i++) {
		struct commit_cell *to = &s->cells[i];
		uint64_t peak = to->of[COMPARE_PEAK];

		for (int m = 0; m < COMPARE_N_METRICS; m++)
			to->of[m] += from[i].of[m];
		/* Compilers do not have their peaks at the same time. */
		to->of[COMPARE_PEAK] =
			peak > from[i].of[COMPARE_PEAK] ? peak : from[i].of[COMPARE_PEAK];
		to->in |= from[i].in;
		to->by |= from[i].by;
	}
}

static void set_side(const struct sums *s, struct compare_row *row, int side, size_t from,
		     size_t to)
{
	for (int m = 0; m < COMPARE_N_METRICS; m++) {
		for (size_t i = from; i < to; i++)
			s->values[i - from] = s->cells[i].of[m];
		row->of[m][side] = spread_of(s->values, to - from);
	}
	for (size_t i = from; i < to; i++) {
		row->in[side] |= s->cells[i].in;
		row->by[side] |= s->cells[i].by;
	}
}

static void set_recording(const struct commits *c, const struct sums *s, struct compare_row *row,
			  size_t first)
{
	const size_t from[] = {first, c->n_base}, to[] = {c->n_base, c->n};
	struct spread cost[COMPARE_N_SIDES];
	uint64_t min, max;

	if (!c->result.without_cost || row->query)
		return;
	for (int side = 0; side < COMPARE_N_SIDES; side++) {
		for (size_t i = from[side]; i < to[side]; i++) {
			/* Of the CPU time, which is without it. */
			uint64_t ppm = c->builds[i]->cost_ppm;
			long double cpu_ns = s->cells[i].of[COMPARE_CPU];

			s->values[i - from[side]] =
				ppm >= 1000000 ? 0 : (uint64_t)(cpu_ns * ppm / (1000000 - ppm));
		}
		cost[side] = spread_of(s->values, to[side] - from[side]);
		row->recording_ns[side] = cost[side].median;
	}
	min = cost[0].min < cost[1].min ? cost[0].min : cost[1].min;
	max = cost[0].max > cost[1].max ? cost[0].max : cost[1].max;
	row->knows_recording = true;
	row->recording_apart_ns = row->recording_apart_wall_ns = max - min;
}

/* The base builds from `first` on are compared. */
static struct compare_row row_of(const struct commits *c, const struct sums *s, size_t first,
				 bool has_query)
{
	struct compare_row row = {};

	set_side(s, &row, COMPARE_BASE, first, c->n_base);
	set_side(s, &row, COMPARE_NEW, c->n_base, c->n);
	if (!has_query) {
		set_recording(c, s, &row, first);
		return row;
	}
	/* Samples are about so many as the time has periods; their number has the error of its
	 * root.
	 */
	for (int m = COMPARE_SELF; m <= COMPARE_TOTAL; m++) {
		long double variance = 0;

		for (int side = 0; side < COMPARE_N_SIDES; side++)
			if (row.by[side] & COMPARE_BY_SAMPLES)
				variance += SAMPLE_NS * row.of[m][side].max;
		row.error_ns[m] = (uint64_t)sqrtl(variance);
	}
	return row;
}

static int judge(struct commits *c, const struct compare_rules *rules)
{
	struct compare_result *r = &c->result;
	__cleanup(sums__clear) struct sums s;
	int err = sums__init(&s, c);

	*r = (struct compare_result){
		.rules = *rules,
		.on_cpu = true,
		.without_cost = true,
		.traces = {c->n_base, c->n - c->n_base},
	};
	for (size_t i = 0; i < c->n; i++)
		r->without_cost &= c->builds[i]->cost_ppm != HISTORY_UNKNOWN;
	r->rules.base_has_noise = c->n_base >= MANY_BUILDS;
	r->n_uncounted = commit_rows__uncounted(c->rows);
	r->has_llvm = commit_rows__has_llvm(c->rows);
	for (uint32_t i = 0; i < commit_rows__n(c->rows) && !err; i++) {
		const char *query = commit_rows__query(c->rows, i);
		const struct compare_unit *unit = commit_rows__unit(c->rows, i);
		struct compare_row row;

		memset(s.cells, 0, c->n * sizeof(*s.cells));
		sums__add(&s, c, i);
		row = row_of(c, &s, 0, query);
		row.unit = unit;
		row.query = query;
		row.kinds = commit_rows__kinds(c->rows, i);
		row.table = commit_rows__table(c->rows, i);
		row.is_build = !unit && !query;
		err = compare_result__add(r, &row);
	}
	return err ?: compare_judge__result(r);
}

int commits__compare(struct store *s, const struct history_build *const *builds, size_t n_base,
		     size_t n_new, const struct compare_rules *rules, struct commits **out)
{
	_commits_ struct commits *c = NULL;
	int err;

	if (n_base + n_new > COMMITS_MOST)
		return diag_error_r(-E2BIG,
				    "%zu builds are too many to be compared: at most %d are",
				    n_base + n_new, COMMITS_MOST);
	c = calloc(1, sizeof(*c));
	if (!c)
		return diag_error_r(-ENOMEM, "out of memory");
	c->builds = builds;
	c->n_base = n_base;
	c->n = n_base + n_new;
	err = commit_rows__read(s, builds, c->n, &c->rows);
	if (err)
		return err;
	err = judge(c, rules);
	if (err)
		return diag_error_r(err, "out of memory");
	*out = take_ptr(c);
	return 0;
}

const struct compare_result *commits__result(const struct commits *c)
{
	return &c->result;
}

/* The first base build of the last level. */
static int find_level(const struct commits *c, const struct sums *s, enum compare_metric metric,
		      size_t *first)
{
	bool exact = metric == COMPARE_COUNT || metric == COMPARE_RESULTS;
	const struct change_points_options o = {
		.exact = exact,
		.least = exact ? TREND_LEAST_OF_COUNTS : TREND_LEAST_OF_OTHERS,
	};
	_free_ struct change_point *changes = NULL;
	_free_ double *values = calloc(c->n_base, sizeof(*values));
	size_t n;
	int err;

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_base; i++)
		values[i] = (double)s->cells[i].of[metric];
	err = change_points__find(values, c->n_base, &o, &changes, &n);
	if (!err)
		*first = n ? changes[n - 1].at : 0;
	return err;
}

int commits__sum(const struct commits *c, compare_pick *pick, const void *ctx, bool is_series,
		 struct compare_row *out)
{
	const struct compare_result *r = &c->result;
	enum compare_metric metric = r->rules.metric;
	struct compare_result few = *r;
	__cleanup(sums__clear) struct sums s;
	bool has_query = false, is_build = false;
	size_t first = 0;
	int n = 0, err = sums__init(&s, c);

	for (uint32_t i = 0; !err && i < commit_rows__n(c->rows); i++) {
		const char *query = commit_rows__query(c->rows, i);
		const struct compare_unit *unit = commit_rows__unit(c->rows, i);

		if (commit_rows__table(c->rows, i) != COMPARE_OF_QUERIES || !pick(ctx, unit, query))
			continue;
		sums__add(&s, c, i);
		has_query = query;
		is_build |= !unit && !query;
		n++;
	}
	if (has_query)
		metric = compare_rules__of_queries(&r->rules);
	if (!err && is_series)
		err = find_level(c, &s, metric, &first);
	if (err)
		return err;
	*out = row_of(c, &s, first, has_query);
	out->is_build = is_build;
	/* A level that is new has too few builds to show its noise. */
	if (r->rules.base_has_noise && c->n_base - first < MANY_BUILDS)
		compare_judge__by_estimate(&few);
	compare_judge__row(&few, out, has_query, n > 1 || !has_query);
	return n;
}

void commits__free(struct commits *c)
{
	if (!c)
		return;
	commit_rows__free(c->rows);
	compare_result__clear(&c->result);
	free(c);
}
