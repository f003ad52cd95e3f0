// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "analyze/compare_compilers.h"
#include "analyze/compare_items.h"
#include "analyze/compare_judge.h"
#include "base/part.h"
#include "base/table.h"

#define WHOLE UINT32_MAX /* as a label: the whole unit; as a unit: all units */
/* As a unit: the label is a row of this kind, which has none. */
#define TABLE_OF(of) (UINT32_MAX - 1 - (uint32_t)(of))
#define ITEMS	     TABLE_OF(COMPARE_OF_ITEMS)

/* After the parts of a cost: wall time of compilers until their library was attached to. */
#define WAITED COST_PARTS

struct pair {
	uint32_t kinds; /* of its intervals: summary_row.kinds */
	uint32_t unit;
	uint32_t label;
	bool in[COMPARE_N_SIDES];
};

/* The values of a pair in one trace. */
struct cell {
	uint64_t of[COMPARE_N_METRICS];
	uint64_t on_cpu_ns;    /* of self time */
	uint64_t preempted_ns; /* of a compiler, or of the build */
	uint64_t probes_ns;
	uint64_t activities;		    /* of the executions; those of a crate have none */
	uint64_t cost_ns[WAITED + 1];	    /* of a compiler, or of the build */
	double variance[COMPARE_N_METRICS]; /* of times by samples, ns^2 */
	uint8_t by;			    /* enum compare_by */
};

/* The results of a query that a compiler had no table of are in no row. */
struct blind {
	size_t trace; /* place of its cell */
	uint32_t unit, label;
};

struct compare {
	uint32_t n[COMPARE_N_SIDES];	/* number of traces on each side */
	uint32_t seen[COMPARE_N_SIDES]; /* traces added so far */
	uint32_t with_items;		/* traces */
	uint32_t with_llvm;		/* traces that know what LLVM did */
	bool any_llvm;			/* it did something */
	uint32_t n_sampled;		/* traces in which times are by samples */
	bool any_blind;			/* some trace does not know what it has no row of */
	uint32_t knows_off_cpu;		/* traces that have off-CPU times */
	uint32_t cpu_by_samples;	/* traces in which the kernel's CPU times are missing */
	uint32_t knows_cost;		/* traces that have the cost of recording */
	bool levelled;			/* level() is done */
	uint32_t n_uncounted;		/* queries whose executions not all traces know */
	struct blind *blinds;
	uint32_t n_blinds, blinds_capacity;
	struct compare_items items;
	struct compare_units units;
	/* Of the trace that was added last: units by process index, or WHOLE. */
	uint32_t *last_units;
	uint32_t n_last_units;
	struct compare_labels labels;
	TABLE(struct pair) pairs; /* by unit << 32 | label; the first pair is the whole build */
	struct cell *cells;	  /* per pair one for each trace: the base traces first */
	uint32_t cells_capacity;  /* in pairs */
};

static uint32_t n_traces(const struct compare *c)
{
	return c->n[COMPARE_BASE] + c->n[COMPARE_NEW];
}

/* The pair of a unit and a label, new with cells of zeroes; NULL without memory. */
static struct pair *get_pair(struct compare *c, uint32_t unit, uint32_t label)
{
	size_t stride = n_traces(c) * sizeof(struct cell);
	uint32_t n = c->pairs.n;
	struct pair *pair;

	if (array__reserve_one(&c->cells, n, &c->cells_capacity, stride))
		return NULL;
	pair = table__get(&c->pairs, (uint64_t)unit << 32 | label, .unit = unit, .label = label);
	if (c->pairs.n > n)
		memset((char *)c->cells + stride * n, 0, stride);
	return pair;
}

int compare__new(uint32_t n_base, uint32_t n_new, struct compare **out)
{
	_compare_ struct compare *c = NULL;

	if (!n_base || !n_new || n_base > INT_MAX || n_new > INT_MAX)
		return -EINVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->n[COMPARE_BASE] = n_base;
	c->n[COMPARE_NEW] = n_new;
	if (!get_pair(c, WHOLE, WHOLE))
		return -ENOMEM;
	*out = take_ptr(c);
	return 0;
}

static double squared(uint64_t ns)
{
	return (double)ns * (double)ns;
}

static struct cell sampled_cell_of(const struct summary_row *row)
{
	return (struct cell){
		.of[COMPARE_SELF] = row->best_self_ns,
		.of[COMPARE_TOTAL] = row->samples.total[TRACE_SAMPLE_CPU].value,
		.of[COMPARE_COUNT] = summary_row__executions(row),
		.activities = row->is_activity ? row->count : 0,
		.on_cpu_ns = row->best_self_ns,
		.variance[COMPARE_SELF] = squared(row->sampled_error_ns),
		.variance[COMPARE_TOTAL] = squared(row->sampled_total_error_ns),
		.by = COMPARE_BY_SAMPLES | (summary_row__executions(row) ? 0 : COMPARE_UNCOUNTED),
	};
}

static uint64_t less(uint64_t ns, uint64_t part_ns)
{
	return ns > part_ns ? ns - part_ns : 0;
}

/* Convert a row; every comparison reads its values from here. */
static struct cell cell_of(const struct summary_row *row)
{
	/* A blocked thread does no work; the thread it waits for counts that time. */
	uint64_t self_ns = less(row->best_self_ns, row->blocked_ns);

	if (row->self_by == SUMMARY_SELF_SAMPLES)
		return sampled_cell_of(row);
	return (struct cell){
		.of[COMPARE_SELF] = self_ns,
		.on_cpu_ns = row->best_cpu_ns < self_ns ? row->best_cpu_ns : self_ns,
		.by = COMPARE_BY_SPANS,
		.of[COMPARE_TOTAL] = row->total_ns,
		.of[COMPARE_COUNT] = row->count,
		.activities = row->is_activity ? row->count : 0,
		.probes_ns = row->raw_self_ns - row->self_ns,
	};
}

/* Where the cell is of the trace that is added next, or `back` traces before it. */
static size_t place_of(const struct compare *c, enum compare_side side, uint32_t back)
{
	return c->seen[side] - back + (side == COMPARE_NEW ? c->n[COMPARE_BASE] : 0);
}

/* `place` is of the trace. */
static int add_to_pair(struct compare *c, size_t place, uint32_t unit, uint32_t label,
		       uint32_t kinds, const struct cell *cell)
{
	struct pair *pair = get_pair(c, unit, label);
	struct cell *to;

	if (!pair)
		return -ENOMEM;
	to = &c->cells[(size_t)(pair - c->pairs.at) * n_traces(c) + place];
	for (int m = 0; m < COMPARE_N_METRICS; m++)
		to->of[m] += cell->of[m];
	to->on_cpu_ns += cell->on_cpu_ns;
	to->probes_ns += cell->probes_ns;
	to->activities += cell->activities;
	for (int m = 0; m < COMPARE_N_METRICS; m++)
		to->variance[m] += cell->variance[m];
	to->by |= cell->by;
	pair->in[place < c->n[COMPARE_BASE] ? COMPARE_BASE : COMPARE_NEW] = true;
	pair->kinds |= kinds;
	return 0;
}

static int add_compiler(struct compare *c, size_t place, const struct compare_compiler *compiler,
			uint32_t unit, const struct trace_texts *names)
{
	struct cell whole = {};

	for (size_t i = 0; i < compiler->n; i++) {
		struct cell cell = cell_of(&compiler->rows[i]);
		uint32_t label;
		int err;

		whole.of[COMPARE_SELF] += cell.of[COMPARE_SELF];
		whole.of[COMPARE_COUNT] += cell.of[COMPARE_COUNT] - cell.activities;
		whole.on_cpu_ns += cell.on_cpu_ns;
		/* No sample is in the self time of two queries. */
		whole.variance[COMPARE_SELF] += cell.variance[COMPARE_SELF];
		whole.by |= cell.by & ~COMPARE_UNCOUNTED;
		err = compare_labels__of_row(&c->labels, &compiler->rows[i], names, &label)
			      ?: add_to_pair(c, place, unit, label, compiler->rows[i].kinds, &cell);
		if (err)
			return err;
	}
	whole.of[COMPARE_TOTAL] = compare_compiler__wall_ns(compiler);
	return add_to_pair(c, place, unit, WHOLE, 0, &whole)
		       ?: add_to_pair(c, place, WHOLE, WHOLE, 0, &whole);
}

struct blind_queries {
	struct compare *c;
	const struct trace_texts *names;
	struct blind blind;
};

static int note_blind(void *ctx, const struct summary_row *row)
{
	struct blind_queries *b = ctx;

	if (!row->results_missing || row->results || row->count)
		return 0;
	return compare_labels__of_row(&b->c->labels, row, b->names, &b->blind.label)
		       ?: array__add(&b->c->blinds, &b->c->n_blinds, &b->c->blinds_capacity,
				     &b->blind);
}

static int note_blinds(struct compare *c, const struct summary *s, uint32_t process,
		       struct blind blind, const struct trace_texts *names)
{
	struct blind_queries b = {c, names, blind};

	return summary__is_unwatched(s) ? summary__each(s, process, note_blind, &b) : 0;
}

static int keep_units(struct compare *c, const struct compare_compilers *cs,
		      const uint32_t *unit_of, uint32_t n_processes)
{
	free(c->last_units);
	c->n_last_units = 0;
	c->last_units = malloc((n_processes + 1UL) * sizeof(*c->last_units));
	if (!c->last_units)
		return -ENOMEM;
	c->n_last_units = n_processes;
	memset(c->last_units, 0xff, n_processes * sizeof(*c->last_units));
	for (uint32_t i = 0; i < cs->n; i++)
		c->last_units[cs->processes[i]->index] = unit_of[i];
	return 0;
}

int compare__trace(struct compare *c, enum compare_side side, const struct summary *s,
		   const struct trace_texts *names)
{
	_compare_compilers_ struct compare_compilers cs = {};
	_free_ uint32_t *unit_of = NULL;

	if (c->seen[side] == c->n[side])
		return -EINVAL;
	if (compare_compilers__init(&cs, s))
		return -ENOMEM;
	unit_of = calloc(cs.n + 1UL, sizeof(*unit_of));
	if (!unit_of || compare_units__match(&c->units, cs.processes, cs.n, unit_of))
		return -ENOMEM;
	for (uint32_t i = 0; i < cs.n; i++) {
		size_t place = place_of(c, side, 0);
		int err = add_compiler(c, place, &cs.all[i], unit_of[i], names)
				  ?: note_blinds(c, s, cs.processes[i]->index,
						 (struct blind){.trace = place, .unit = unit_of[i]},
						 names);

		if (err)
			return err;
	}
	c->n_sampled += summary__is_unwatched(s);
	c->any_blind |= summary__is_unwatched(s) && summary__misses_results(s);
	c->seen[side]++;
	return keep_units(c, &cs, unit_of, summary__n_processes(s));
}

/* What a row is of, by its unit. */
static enum compare_of of_unit(uint32_t unit)
{
	return unit != WHOLE && unit >= TABLE_OF(COMPARE_TABLES - 1) ? WHOLE - 1 - unit
								     : COMPARE_OF_QUERIES;
}

static struct cell *cells_of(const struct compare *c, uint32_t unit, uint32_t label)
{
	/* A look-up changes only what the table remembers of the last one. */
	const struct pair *pair =
		table__find(&((struct compare *)c)->pairs, (uint64_t)unit << 32 | label);

	return pair ? &c->cells[(size_t)(pair - c->pairs.at) * n_traces(c)] : NULL;
}

/* `one` is a compiler of the build. */
static void add_crate_recording(struct cell *cell, const struct cell *whole, const struct build *b,
				const struct samples *samples, const struct cost *cost,
				const struct build_process *one)
{
	for (int part = 0; part < COST_OWN; part++)
		cell->cost_ns[part] = cost__of_compiler(cost, part, b, samples, one);
	cell->cost_ns[COST_OWN] =
		part_of(cost->ns[COST_OWN], cell->of[COMPARE_WALL], whole->of[COMPARE_WALL]);
	/* It may be one of those that waited. */
	cell->cost_ns[WAITED] = part_of(cost->waited_ns, 1, cost->n_waited);
}

void compare__costs(struct compare *c, enum compare_side side, const struct build *b,
		    const struct samples *samples, const struct cost *cost)
{
	const struct running *running = &build__totals(b)->running;
	uint32_t n;
	const struct build_process *all = build__processes(b, &n);
	bool knows_results = true, by_samples = false;
	size_t place = place_of(c, side, 1);
	struct cell *build = cells_of(c, WHOLE, WHOLE) + place;

	build->of[COMPARE_WALL] = running->end_ns - running->start_ns;
	build->preempted_ns = build__totals(b)->preempted_ns;
	c->knows_off_cpu += build__totals(b)->off_cpu_known;
	c->knows_cost += cost->whole;
	if (cost->whole) {
		memcpy(build->cost_ns, cost->ns, sizeof(cost->ns));
		build->cost_ns[WAITED] = cost->waited_ns;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint64_t cpu_ns, peak = all[i].process->peak_bytes;
		uint32_t unit = i < c->n_last_units ? c->last_units[i] : WHOLE;
		struct cell *cell;

		build__cpu_ns(b, samples, &all[i], &cpu_ns);
		build->of[COMPARE_CPU] += cpu_ns;
		by_samples |= !all[i].process->cpu_ns && !build__totals(b)->off_cpu_known;
		if (peak > build->of[COMPARE_PEAK])
			build->of[COMPARE_PEAK] = peak;
		if (unit == WHOLE)
			continue;
		cell = cells_of(c, unit, WHOLE) + place;
		cell->of[COMPARE_CPU] = cpu_ns;
		cell->of[COMPARE_WALL] = all[i].end_ns - all[i].start_ns;
		cell->of[COMPARE_PEAK] = peak;
		cell->of[COMPARE_RESULTS] = all[i].results;
		cell->preempted_ns = all[i].preempted_ns;
		build->of[COMPARE_RESULTS] += all[i].results;
		knows_results &= all[i].results || !all[i].compiles;
		if (cost->whole)
			add_crate_recording(cell, build, b, samples, cost, &all[i]);
	}
	c->cpu_by_samples += by_samples;
	/* Without those of one compile, the sum says nothing. */
	if (!knows_results)
		build->of[COMPARE_RESULTS] = 0;
}

int compare__items(struct compare *c, enum compare_side side, struct items *items,
		   const struct trace_texts *names)
{
	if (c->seen[side] == c->n[side])
		return -EINVAL;
	c->with_items++;
	return compare_items__add(&c->items, &c->labels, (uint32_t)place_of(c, side, 0), side,
				  items, names);
}

/* One row of LLVM's of a trace. */
static int add_llvm(struct compare *c, enum compare_side side, enum compare_of of, const char *name,
		    const struct sample_sum *self)
{
	const struct cell cell = {
		.of[COMPARE_SELF] = self->value,
		.on_cpu_ns = self->value,
		.variance[COMPARE_SELF] = squared(sample_sum__error(self)),
		.by = COMPARE_BY_SAMPLES | COMPARE_UNCOUNTED,
	};
	uint32_t label;
	int err = compare_labels__id(&c->labels, name ?: COMPARE_UNKNOWN_PASS, &label);

	return err ?: add_to_pair(c, place_of(c, side, 0), TABLE_OF(of), label, 0, &cell);
}

int compare__llvm(struct compare *c, enum compare_side side, struct llvm *l)
{
	_llvm_rows_ struct llvm_rows rows = {};
	int err = c->seen[side] == c->n[side] ? -EINVAL : llvm__rows(l, NULL, NULL, &rows);

	if (err)
		return err;
	c->with_llvm += rows.unknown == LLVM_KNOWN || rows.unknown == LLVM_NOT_RUN;
	c->any_llvm |= rows.unknown == LLVM_KNOWN;
	for (uint32_t i = 0; i < rows.n_passes && !err; i++)
		err = add_llvm(c, side, COMPARE_OF_PASSES, rows.passes[i].name,
			       &rows.passes[i].self);
	for (uint32_t i = 0; i < rows.n_generics && !err; i++)
		err = add_llvm(c, side, COMPARE_OF_GENERICS, rows.generics[i].path,
			       &rows.generics[i].self);
	for (uint32_t i = 0; i < rows.n_functions && !err; i++)
		err = add_llvm(c, side, COMPARE_OF_INSTANCES, rows.functions[i].path,
			       &rows.functions[i].self);
	return err;
}

/* Values of the picked pairs, summed per trace. */
struct sums {
	uint64_t *of[COMPARE_N_METRICS];     /* one per trace */
	double *variance[COMPARE_N_METRICS]; /* the same */
	uint64_t *recording;		     /* the same: what it added */
	uint8_t by[COMPARE_N_SIDES];
	bool in[COMPARE_N_SIDES];
	uint64_t preempted_ns; /* its ranges, added up */
	/* Likewise, of each part; the first is of those in CPU times. */
	uint64_t recording_apart_ns, recording_apart_wall_ns;
	uint64_t probes_ns; /* the largest of any pair and trace, as the numbers below */
};

static void sums__clear(struct sums *s)
{
	for (int m = 0; m < COMPARE_N_METRICS; m++) {
		free(s->of[m]);
		free(s->variance[m]);
	}
	free(s->recording);
}

static int sums__init(struct sums *s, const struct compare *c)
{
	*s = (struct sums){.recording = calloc(n_traces(c), sizeof(*s->recording))};
	if (!s->recording)
		return -ENOMEM;
	for (int m = 0; m < COMPARE_N_METRICS; m++) {
		s->of[m] = calloc(n_traces(c), sizeof(*s->of[m]));
		s->variance[m] = calloc(n_traces(c), sizeof(*s->variance[m]));
		if (!s->of[m] || !s->variance[m])
			return -ENOMEM;
	}
	return 0;
}

static void sums__zero(struct sums *s, const struct compare *c)
{
	for (int m = 0; m < COMPARE_N_METRICS; m++) {
		memset(s->of[m], 0, n_traces(c) * sizeof(*s->of[m]));
		memset(s->variance[m], 0, n_traces(c) * sizeof(*s->variance[m]));
	}
	memset(s->in, 0, sizeof(s->in));
	memset(s->by, 0, sizeof(s->by));
	memset(s->recording, 0, n_traces(c) * sizeof(*s->recording));
	s->probes_ns = s->preempted_ns = 0;
	s->recording_apart_ns = s->recording_apart_wall_ns = 0;
}

static void sums__add_recording(struct sums *s, const struct compare *c, const struct cell *cells)
{
	for (int part = 0; part <= WAITED; part++) {
		uint64_t least = UINT64_MAX, most = 0;

		for (uint32_t t = 0; t < n_traces(c); t++) {
			uint64_t ns = cells[t].cost_ns[part];

			if (part < COST_OWN)
				s->recording[t] += ns;
			most = ns > most ? ns : most;
			least = ns < least ? ns : least;
		}
		s->recording_apart_wall_ns += most - least;
		if (part < COST_OWN)
			s->recording_apart_ns += most - least;
	}
}

static void sums__add(struct sums *s, const struct compare *c, uint32_t pair)
{
	const struct cell *cells = &c->cells[(size_t)pair * n_traces(c)];
	const struct pair *of = &c->pairs.at[pair];
	uint64_t least = UINT64_MAX, most = 0;

	for (uint32_t t = 0; t < n_traces(c); t++) {
		for (int m = 0; m < COMPARE_N_METRICS; m++) {
			if (m != COMPARE_PEAK)
				s->of[m][t] += cells[t].of[m];
			else if (cells[t].of[m] > s->of[m][t])
				s->of[m][t] = cells[t].of[m];
			s->variance[m][t] += cells[t].variance[m];
		}
		s->by[t < c->n[COMPARE_BASE] ? COMPARE_BASE : COMPARE_NEW] |= cells[t].by;
		if (cells[t].preempted_ns > most)
			most = cells[t].preempted_ns;
		if (cells[t].preempted_ns < least)
			least = cells[t].preempted_ns;
		if (cells[t].probes_ns > s->probes_ns)
			s->probes_ns = cells[t].probes_ns;
	}
	s->preempted_ns += most - least;
	/* Queries and items have no cost of their own. */
	if (of->label == WHOLE)
		sums__add_recording(s, c, cells);
	for (int side = 0; side < COMPARE_N_SIDES; side++)
		s->in[side] |= of->in[side];
}

/* The largest of both sides, added up. */
static uint64_t error_of(const double *variance, const struct compare *c)
{
	double most[COMPARE_N_SIDES] = {}, error;

	for (uint32_t t = 0; t < n_traces(c); t++) {
		double *of = &most[t < c->n[COMPARE_BASE] ? COMPARE_BASE : COMPARE_NEW];

		*of = variance[t] > *of ? variance[t] : *of;
	}
	error = sqrt(most[COMPARE_BASE] + most[COMPARE_NEW]) + 0.5;
	/* Times of a hostile trace. */
	return error < 0x1p64 ? (uint64_t)error : UINT64_MAX;
}

/* Sorts the values of the sums in place, so the sums are used up. */
static struct compare_row row_of(struct sums *s, const struct compare *c)
{
	struct compare_row row = {
		.preempted_ns = s->preempted_ns,
		.probes_ns = s->probes_ns,
		.recording_apart_ns = s->recording_apart_ns,
		.recording_apart_wall_ns = s->recording_apart_wall_ns,
	};

	row.recording_ns[COMPARE_BASE] = spread_of(s->recording, c->n[COMPARE_BASE]).median;
	row.recording_ns[COMPARE_NEW] =
		spread_of(s->recording + c->n[COMPARE_BASE], c->n[COMPARE_NEW]).median;
	memcpy(row.in, s->in, sizeof(row.in));
	memcpy(row.by, s->by, sizeof(row.by));
	for (int m = 0; m < COMPARE_N_METRICS; m++) {
		row.error_ns[m] = error_of(s->variance[m], c);
		row.of[m][COMPARE_BASE] = spread_of(s->of[m], c->n[COMPARE_BASE]);
		row.of[m][COMPARE_NEW] =
			spread_of(s->of[m] + c->n[COMPARE_BASE], c->n[COMPARE_NEW]);
	}
	return row;
}

static const struct compare_unit *unit_of(const struct compare *c, const struct pair *pair)
{
	return pair->unit == WHOLE || of_unit(pair->unit) != COMPARE_OF_QUERIES
		       ? NULL
		       : c->units.all[pair->unit];
}

static uint64_t crate_self(const struct compare *c, const struct pair *pair)
{
	bool of_crate = of_unit(pair->unit) == COMPARE_OF_QUERIES;
	const struct cell *cells = cells_of(c, of_crate ? pair->unit : WHOLE, WHOLE);
	uint64_t most = 0;

	for (uint32_t t = 0; t < n_traces(c); t++)
		if (cells[t].of[COMPARE_SELF] > most)
			most = cells[t].of[COMPARE_SELF];
	return most;
}

/* The number of rows of each table is not known before they are there. */
static int make_tables(const struct compare *c, struct compare_result *r)
{
	size_t n[COMPARE_TABLES] = {};

	for (uint32_t i = 0; i < c->pairs.n; i++)
		n[of_unit(c->pairs.at[i].unit)]++;
	r->rows = calloc(n[COMPARE_OF_QUERIES] + 1, sizeof(*r->rows));
	r->crates = calloc(n[COMPARE_OF_QUERIES] + 1, sizeof(*r->crates));
	r->items = calloc(n[COMPARE_OF_ITEMS] + 1, sizeof(*r->items));
	for (size_t i = 0; i < N_OF(r->llvm); i++) {
		r->llvm[i].rows = calloc(n[COMPARE_OF_PASSES + i] + 1, sizeof(*r->llvm[i].rows));
		if (!r->llvm[i].rows)
			return -ENOMEM;
	}
	return r->rows && r->crates && r->items ? 0 : -ENOMEM;
}

static void take_row(struct compare_result *r, const struct compare_row *row)
{
	struct compare_table *llvm = compare_is_of_llvm(row->table) && r->has_llvm
					     ? &r->llvm[row->table - COMPARE_OF_PASSES]
					     : NULL;

	if (row->is_build)
		r->build = *row;
	else if (llvm)
		llvm->rows[llvm->n++] = *row;
	else if (row->table == COMPARE_OF_QUERIES && !row->query)
		r->crates[r->n_crates++] = *row;
	else if (row->table == COMPARE_OF_QUERIES)
		r->rows[r->n_rows++] = *row;
	else if (row->table == COMPARE_OF_ITEMS && r->has_items)
		r->items[r->n_items++] = *row;
}

static int fill_rows(const struct compare *c, struct compare_result *r)
{
	__cleanup(sums__clear) struct sums s;
	int err = sums__init(&s, c);

	if (err || make_tables(c, r))
		return -ENOMEM;
	for (uint32_t i = 0; i < c->pairs.n; i++) {
		const struct pair *pair = &c->pairs.at[i];
		struct compare_row row;

		sums__zero(&s, c);
		sums__add(&s, c, i);
		row = row_of(&s, c);
		row.unit = unit_of(c, pair);
		row.table = of_unit(pair->unit);
		row.query = pair->label == WHOLE ? NULL : c->labels.texts[pair->label];
		row.kinds = pair->kinds;
		row.is_build = pair->unit == WHOLE;
		row.knows_recording = r->without_cost && !row.query;
		row.crate_self_ns = crate_self(c, pair);
		if (pair->unit == ITEMS)
			row.file =
				compare_items__file(&c->items, &c->labels, pair->label, &row.line);
		take_row(r, &row);
	}
	return 0;
}

/* Executions of a query that are not known in all traces are in no sum. */
static void leave_out(struct compare *c, const struct pair *of)
{
	struct cell *cells = cells_of(c, of->unit, of->label);
	struct cell *unit = cells_of(c, of->unit, WHOLE), *build = cells_of(c, WHOLE, WHOLE);

	for (uint32_t t = 0; t < n_traces(c); t++) {
		uint64_t queries = cells[t].of[COMPARE_COUNT] - cells[t].activities;

		unit[t].of[COMPARE_COUNT] -= queries;
		build[t].of[COMPARE_COUNT] -= queries;
	}
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

static void take_cost_out(struct compare *c)
{
	for (size_t i = 0; i < (size_t)c->pairs.n * n_traces(c); i++) {
		struct cell *cell = &c->cells[i];

		for (int part = 0; part < COST_OWN; part++)
			cell->of[COMPARE_CPU] = less(cell->of[COMPARE_CPU], cell->cost_ns[part]);
	}
}

/*
 * Executions by item are recorded in all traces, or listed in all, of the crate's own definitions.
 * There they are those of the queries that each trace lists.
 */
static bool counts_item(const struct compare *c, const struct compare_item *item)
{
	bool listed = c->n_sampled == n_traces(c) && c->items.n_listing == n_traces(c) &&
		      !c->any_blind && strcmp(c->labels.texts[item->item], COMPARE_NO_ITEM) != 0;

	return !c->n_sampled || listed;
}

static uint64_t executions_of(const struct compare *c, const struct compare_item *item)
{
	if (!c->n_sampled)
		return item->executions;
	return compare_items__lists(&c->items, item->query) ? item->results : 0;
}

static int add_items(struct compare *c)
{
	int err = 0;

	for (uint32_t i = 0; i < c->items.n && !err; i++) {
		const struct compare_item *item = &c->items.all[i];
		const struct cell cell = {
			.of[COMPARE_SELF] = item->self_ns,
			.of[COMPARE_COUNT] = executions_of(c, item),
			.on_cpu_ns = item->cpu_ns,
			.probes_ns = item->probes_ns,
			.variance[COMPARE_SELF] = squared(item->error_ns),
			.by = (item->error_ns || item->results ? COMPARE_BY_SAMPLES
							       : COMPARE_BY_SPANS) |
			      (counts_item(c, item) ? 0 : COMPARE_UNCOUNTED),
		};

		err = add_to_pair(c, item->trace, ITEMS, item->item, 0, &cell);
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

/* Rows of which only other traces have the executions. */
static void mark_blinds(struct compare *c)
{
	for (uint32_t i = 0; i < c->n_blinds; i++) {
		const struct blind *b = &c->blinds[i];
		struct cell *cells = cells_of(c, b->unit, b->label);

		if (cells)
			cells[b->trace].by |= COMPARE_UNCOUNTED;
	}
}

static int level(struct compare *c)
{
	int err;

	if (c->levelled)
		return 0;
	c->levelled = true;
	err = c->with_items == n_traces(c) ? add_items(c) : 0;
	if (err)
		return err;
	if (is_without_cost(c))
		take_cost_out(c);
	mark_blinds(c);
	for (uint32_t i = 0; i < c->pairs.n; i++) {
		const struct pair *pair = &c->pairs.at[i];
		struct cell *cells = &c->cells[(size_t)i * n_traces(c)];

		for (uint32_t t = 0; is_on_cpu(c) && t < n_traces(c); t++)
			cells[t].of[COMPARE_SELF] = cells[t].on_cpu_ns;
		if (of_unit(pair->unit) != COMPARE_OF_QUERIES || pair->label == WHOLE ||
		    is_counted(c, cells))
			continue;
		for (uint32_t t = 0; t < n_traces(c); t++)
			cells[t].by |= COMPARE_UNCOUNTED;
		leave_out(c, pair);
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
		const char *query = pair->label == WHOLE ? NULL : c->labels.texts[pair->label];

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
	compare_labels__clear(&c->labels);
	compare_items__clear(&c->items);
	compare_units__clear(&c->units);
	free(c->last_units);
	free(c->blinds);
	table__destroy(&c->pairs);
	free(c->cells);
	free(c);
}
