// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyze/compare.h"
#include "analyze/compare_cells.h"
#include "analyze/compare_judge.h"
#include "base/part.h"

/* Values of the picked pairs. */
struct sums {
	struct cell *of;  /* per trace, summed */
	uint64_t *values; /* of one metric, per trace: while a row is made */
	bool in[COMPARE_N_SIDES];
	uint64_t preempted_ns; /* its ranges, added up */
	/* Likewise, of each part; the first is of those in CPU times. */
	uint64_t recording_apart_ns, recording_apart_wall_ns;
	uint64_t probes_ns; /* the largest of any pair and trace */
};

static void sums__clear(struct sums *s)
{
	free(s->of);
	free(s->values);
}

static int sums__init(struct sums *s, const struct compare *c)
{
	*s = (struct sums){
		.of = calloc(n_traces(c), sizeof(*s->of)),
		.values = calloc(n_traces(c), sizeof(*s->values)),
	};
	return s->of && s->values ? 0 : -ENOMEM;
}

/* How far the traces are apart in a number of theirs, which is at `at` in each cell. */
static uint64_t apart(const struct compare *c, const struct cell *cells, size_t at)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (uint32_t t = 0; t < n_traces(c); t++) {
		uint64_t value = *(const uint64_t *)((const char *)&cells[t] + at);

		most = value > most ? value : most;
		least = value < least ? value : least;
	}
	return most - least;
}

static void sums__add(struct sums *s, const struct compare *c, uint32_t pair)
{
	const struct cell *cells = &c->cells[(size_t)pair * n_traces(c)];
	const struct pair *of = &c->pairs.at[pair];

	for (uint32_t t = 0; t < n_traces(c); t++) {
		cell__add(&s->of[t], &cells[t]);
		if (cells[t].probes_ns > s->probes_ns)
			s->probes_ns = cells[t].probes_ns;
	}
	s->preempted_ns += apart(c, cells, offsetof(struct cell, preempted_ns));
	/* Queries and items have no cost of their own. */
	for (int part = 0; of->label == WHOLE && part <= WAITED; part++) {
		uint64_t ns = apart(c, cells, offsetof(struct cell, cost_ns[part]));

		s->recording_apart_wall_ns += ns;
		s->recording_apart_ns += part < COST_OWN ? ns : 0;
	}
	for (int side = 0; side < COMPARE_N_SIDES; side++)
		s->in[side] |= of->in[side];
}

/* Of `values`, which are sorted. */
static void set_spreads(struct sums *s, const struct compare *c, struct spread of[COMPARE_N_SIDES])
{
	of[COMPARE_BASE] = spread_of(s->values, c->n[COMPARE_BASE]);
	of[COMPARE_NEW] = spread_of(s->values + c->n[COMPARE_BASE], c->n[COMPARE_NEW]);
}

static struct compare_row row_of(struct sums *s, const struct compare *c)
{
	struct compare_row row = {
		.preempted_ns = s->preempted_ns,
		.probes_ns = s->probes_ns,
		.recording_apart_ns = s->recording_apart_ns,
		.recording_apart_wall_ns = s->recording_apart_wall_ns,
		.in = {s->in[COMPARE_BASE], s->in[COMPARE_NEW]},
	};
	struct spread recording[COMPARE_N_SIDES];

	for (uint32_t t = 0; t < n_traces(c); t++) {
		row.by[t < c->n[COMPARE_BASE] ? COMPARE_BASE : COMPARE_NEW] |= s->of[t].by;
		s->values[t] = 0;
		for (int part = 0; part < COST_OWN; part++)
			s->values[t] += s->of[t].cost_ns[part];
	}
	set_spreads(s, c, recording);
	for (int side = 0; side < COMPARE_N_SIDES; side++)
		row.recording_ns[side] = recording[side].median;
	for (int m = 0; m < COMPARE_N_METRICS; m++) {
		double most[COMPARE_N_SIDES] = {}, error;

		for (uint32_t t = 0; t < n_traces(c); t++) {
			double *of = &most[t < c->n[COMPARE_BASE] ? COMPARE_BASE : COMPARE_NEW];

			*of = s->of[t].variance[m] > *of ? s->of[t].variance[m] : *of;
			s->values[t] = s->of[t].of[m];
		}
		set_spreads(s, c, row.of[m]);
		error = sqrt(most[COMPARE_BASE] + most[COMPARE_NEW]) + 0.5;
		/* Times of a hostile trace. */
		row.error_ns[m] = error < 0x1p64 ? (uint64_t)error : UINT64_MAX;
	}
	return row;
}

static const struct compare_unit *unit_of(const struct compare *c, const struct pair *pair)
{
	return pair->unit == WHOLE || of_unit(pair->unit) != COMPARE_OF_QUERIES
		       ? NULL
		       : c->units.all[pair->unit];
}

static int fill_rows(const struct compare *c, struct compare_result *r)
{
	__cleanup(sums__clear) struct sums s;
	int err = sums__init(&s, c);

	for (uint32_t i = 0; i < c->pairs.n && !err; i++) {
		const struct pair *pair = &c->pairs.at[i];
		enum compare_of table = of_unit(pair->unit);
		const struct cell *crate =
			cells_of(c, table == COMPARE_OF_QUERIES ? pair->unit : WHOLE, WHOLE);
		struct compare_row row;

		if ((compare_is_of_llvm(table) && !r->has_llvm) ||
		    (table == COMPARE_OF_ITEMS && !r->has_items))
			continue;
		s = (struct sums){.of = s.of, .values = s.values};
		memset(s.of, 0, n_traces(c) * sizeof(*s.of));
		sums__add(&s, c, i);
		row = row_of(&s, c);
		row.unit = unit_of(c, pair);
		row.table = table;
		row.query = pair->label == WHOLE ? NULL : c->names[pair->label];
		row.kinds = pair->kinds;
		row.is_build = pair->unit == WHOLE;
		row.knows_recording = r->without_cost && !row.query;
		for (uint32_t t = 0; t < n_traces(c); t++)
			if (crate[t].of[COMPARE_SELF] > row.crate_self_ns)
				row.crate_self_ns = crate[t].of[COMPARE_SELF];
		if (pair->unit == ITEMS && pair->label < c->n_places &&
		    c->places[pair->label].line) {
			row.file = c->names[c->places[pair->label].file];
			row.line = c->places[pair->label].line;
		}
		err = compare_result__add(r, &row);
	}
	return err;
}

/* Waiting says nothing of a query, and samples have none in them. */
static bool is_on_cpu(const struct compare *c)
{
	return c->n_sampled || c->knows_off_cpu == n_traces(c);
}

static bool is_without_cost(const struct compare *c)
{
	return c->knows_cost == n_traces(c);
}

/*
 * Executions by item are recorded in all traces, or listed in all, of the crate's own definitions.
 * There they are those of the queries that each trace lists.
 */
static int add_items(struct compare *c)
{
	bool all_list = c->n_sampled == n_traces(c) && c->n_listing == n_traces(c) && !c->any_blind;
	int err = 0;

	for (uint32_t i = 0; i < c->n_items && !err; i++) {
		const struct compare_item *item = &c->items[i];
		bool is_own = strcmp(c->names[item->item], COMPARE_NO_ITEM) != 0;
		bool is_counted = !c->n_sampled || (all_list && is_own);
		/* In each trace that lists results, those of such a query are complete. */
		bool lists = item->query >= c->n_unlisted || !c->unlisted[item->query];
		const struct cell cell = {
			.of[COMPARE_SELF] = item->self_ns,
			.of[COMPARE_COUNT] = !c->n_sampled ? item->executions
					     : lists	   ? item->results
							   : 0,
			.on_cpu_ns = item->cpu_ns,
			.probes_ns = item->probes_ns,
			.variance[COMPARE_SELF] = squared(item->error_ns),
			.by = (item->error_ns || item->results ? COMPARE_BY_SAMPLES
							       : COMPARE_BY_SPANS) |
			      (is_counted ? 0 : COMPARE_UNCOUNTED),
		};

		err = compare__add_to_pair(c, item->trace, ITEMS, item->item, 0, &cell);
	}
	return err;
}

static bool is_counted(const struct compare *c, const struct cell *cells)
{
	for (uint32_t t = 0; t < n_traces(c); t++)
		if (cells[t].by & COMPARE_UNCOUNTED || (c->any_blind && !cells[t].by))
			return false;
	return true;
}

static int level(struct compare *c)
{
	struct cell *build;
	int err;

	if (c->levelled)
		return 0;
	c->levelled = true;
	err = c->with_items == n_traces(c) ? add_items(c) : 0;
	if (err)
		return err;
	build = cells_of(c, WHOLE, WHOLE);
	for (size_t i = 0; is_without_cost(c) && i < (size_t)c->pairs.n * n_traces(c); i++) {
		uint64_t *cpu_ns = &c->cells[i].of[COMPARE_CPU];

		for (int part = 0; part < COST_OWN; part++)
			*cpu_ns = less(*cpu_ns, c->cells[i].cost_ns[part]);
	}
	/* Rows of which only other traces have the executions. */
	for (uint32_t i = 0; i < c->n_blinds; i++) {
		struct cell *cells = cells_of(c, c->blinds[i].unit, c->blinds[i].label);

		if (cells)
			cells[c->blinds[i].trace].by |= COMPARE_UNCOUNTED;
	}
	for (uint32_t i = 0; i < c->pairs.n; i++) {
		const struct pair *pair = &c->pairs.at[i];
		struct cell *cells = &c->cells[(size_t)i * n_traces(c)], *unit;

		for (uint32_t t = 0; is_on_cpu(c) && t < n_traces(c); t++)
			cells[t].of[COMPARE_SELF] = cells[t].on_cpu_ns;
		if (of_unit(pair->unit) != COMPARE_OF_QUERIES || pair->label == WHOLE ||
		    is_counted(c, cells))
			continue;
		/* Executions of a query that are not known in all traces are in no sum. */
		unit = cells_of(c, pair->unit, WHOLE);
		for (uint32_t t = 0; t < n_traces(c); t++) {
			uint64_t queries = cells[t].of[COMPARE_COUNT] - cells[t].activities;

			cells[t].by |= COMPARE_UNCOUNTED;
			unit[t].of[COMPARE_COUNT] -= queries;
			build[t].of[COMPARE_COUNT] -= queries;
		}
		c->n_uncounted++;
	}
	return 0;
}

static uint64_t busy_ppm(const struct compare *c)
{
	const struct cell *build = cells_of(c, WHOLE, WHOLE);
	uint64_t most = 0;

	for (uint32_t t = 0; build && t < n_traces(c); t++) {
		uint64_t ppm = part_of(build[t].preempted_ns, 1000000, build[t].of[COMPARE_CPU]);

		most = ppm > most ? ppm : most;
	}
	return most;
}

int compare__result(struct compare *c, const struct compare_rules *rules,
		    struct compare_result *out)
{
	int err = level(c);

	*out = (struct compare_result){
		.rules = *rules,
		.has_items = c->with_items == n_traces(c),
		.has_llvm = c->any_llvm && c->with_llvm == n_traces(c),
		.on_cpu = is_on_cpu(c),
		.without_cost = is_without_cost(c),
		.mixed_cpu = c->cpu_by_samples && c->cpu_by_samples < n_traces(c),
		.busy_ppm = err ? 0 : busy_ppm(c),
	};
	memcpy(out->traces, c->n, sizeof(out->traces));
	out->n_uncounted = c->n_uncounted;
	err = err ?: compare_units__name(&c->units) ?: fill_rows(c, out);
	return err ?: compare_judge__result(out);
}

int compare__sum(const struct compare *c, const struct compare_result *r, enum compare_of of,
		 compare_pick *pick, const void *ctx, struct compare_row *out)
{
	__cleanup(sums__clear) struct sums s;
	bool has_query = false, is_build = false;
	int n = 0;

	if (sums__init(&s, c))
		return -ENOMEM;
	for (uint32_t i = 0; i < c->pairs.n; i++) {
		const struct pair *pair = &c->pairs.at[i];
		const char *query = pair->label == WHOLE ? NULL : c->names[pair->label];

		if (query && of_unit(pair->unit) != of)
			continue;
		if (!pick(ctx, unit_of(c, pair), query))
			continue;
		sums__add(&s, c, i);
		has_query = query;
		is_build |= pair->unit == WHOLE;
		n++;
	}
	*out = row_of(&s, c);
	out->is_build = is_build;
	out->knows_recording = r->without_cost && !has_query;
	compare_judge__row(r, out, has_query, n > 1 || !has_query);
	return n;
}

void compare__free(struct compare *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->n_names; i++)
		free(c->names[i]);
	free(c->names);
	interner__destroy(&c->numbers);
	free(c->items);
	free(c->places);
	free(c->unlisted);
	compare_units__clear(&c->units);
	free(c->last_units);
	free(c->blinds);
	table__destroy(&c->pairs);
	free(c->cells);
	free(c);
}
