// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "analyze/compile_name.h"
#include "analyze/compare_cells.h"
#include "base/part.h"

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

/* Convert a row; every comparison reads its values from here. */
static struct cell cell_of(const struct summary_row *row)
{
	/* A blocked thread does no work; the thread it waits for counts that time. */
	uint64_t self_ns = less(row->best_self_ns, row->blocked_ns);
	uint64_t executions = summary_row__executions(row);

	if (row->self_by == SUMMARY_SELF_SAMPLES)
		return (struct cell){
			.of[COMPARE_SELF] = row->best_self_ns,
			.of[COMPARE_TOTAL] = row->samples.total[TRACE_SAMPLE_CPU].value,
			.of[COMPARE_COUNT] = executions,
			.activities = row->is_activity ? row->count : 0,
			.on_cpu_ns = row->best_self_ns,
			.variance[COMPARE_SELF] = squared(row->sampled_error_ns),
			.variance[COMPARE_TOTAL] = squared(row->sampled_total_error_ns),
			.by = COMPARE_BY_SAMPLES | (executions ? 0 : COMPARE_UNCOUNTED),
		};
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

int compare__add_to_pair(struct compare *c, size_t place, uint32_t unit, uint32_t label,
			 uint32_t kinds, const struct cell *cell)
{
	struct pair *pair = get_pair(c, unit, label);

	if (!pair)
		return -ENOMEM;
	cell__add(&c->cells[(size_t)(pair - c->pairs.at) * n_traces(c) + place], cell);
	pair->in[place < c->n[COMPARE_BASE] ? COMPARE_BASE : COMPARE_NEW] = true;
	pair->kinds |= kinds;
	return 0;
}

/*
 * The label of a name: a query and an activity of one name have two. 0; -ENOMEM; -E2BIG if the
 * names are more, or longer, than one trace may hold.
 */
static int label_of(struct compare *c, const char *name, bool is_activity, uint32_t *label)
{
	_free_ char *key = NULL;
	bool is_new;
	int err;

	if (is_activity && asprintf(&key, "\n%s", name) < 0) {
		key = NULL;
		return -ENOMEM;
	}
	err = interner__id(&c->numbers, key ?: name, label, &is_new);
	if (err || !is_new)
		return err;
	if (array__reserve_at(&c->names, *label, &c->n_names, sizeof(*c->names)))
		return -ENOMEM;
	c->names[*label] = strdup(name);
	return c->names[*label] ? 0 : -ENOMEM;
}

static int label_of_row(struct compare *c, const struct summary_row *row,
			const struct trace_texts *names, uint32_t *label)
{
	return label_of(c, names->text(names->ctx, row->label), row->is_activity, label);
}

/* ---- Compilers ------------------------------------------------------------------------------- */

/* Those of one trace that compiled a crate, and executed anything. */
struct compilers {
	const struct trace_process **processes;
	struct compiler {
		struct summary_row *rows;
		size_t n;
	} * all; /* in the same order */
	uint32_t *unit_of;
	uint32_t n;
};

static void compilers__clear(struct compilers *cs)
{
	for (uint32_t i = 0; cs->all && i < cs->n; i++)
		free(cs->all[i].rows);
	free(cs->all);
	free(cs->processes);
	free(cs->unit_of);
}

static int compilers__init(struct compilers *cs, const struct summary *s)
{
	uint32_t n = summary__n_processes(s);

	cs->all = calloc(n + 1UL, sizeof(*cs->all));
	cs->processes = calloc(n + 1UL, sizeof(*cs->processes));
	cs->unit_of = calloc(n + 1UL, sizeof(*cs->unit_of));
	if (!cs->all || !cs->processes || !cs->unit_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct trace_process *p = summary__process_at(s, i);
		struct compiler *to = &cs->all[cs->n];

		if (summary__rows(s, i, &to->rows, &to->n))
			return -ENOMEM;
		cs->processes[cs->n] = p;
		/* Those of cargo's questions have a crate name, too, but are no crates. */
		if (to->n && !(p->crate && compile_only_queries(p)))
			cs->n++;
		else
			free(take_ptr(to->rows));
	}
	return 0;
}

static int add_compiler(struct compare *c, size_t place, const struct compilers *cs, uint32_t which,
			const struct trace_texts *names)
{
	const struct compiler *compiler = &cs->all[which];
	const struct trace_process *p = cs->processes[which];
	uint32_t unit = cs->unit_of[which];
	struct cell whole = {};
	uint64_t longest_ns = 0;

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
		if (compiler->rows[i].total_ns > longest_ns)
			longest_ns = compiler->rows[i].total_ns;
		err = label_of_row(c, &compiler->rows[i], names, &label)
			      ?: compare__add_to_pair(c, place, unit, label,
						      compiler->rows[i].kinds, &cell);
		if (err)
			return err;
	}
	/* Its run time; if its end was not seen, the time of its longest row. */
	whole.of[COMPARE_TOTAL] = p->end_ns > p->start_ns ? p->end_ns - p->start_ns : longest_ns;
	return compare__add_to_pair(c, place, unit, WHOLE, 0, &whole)
		       ?: compare__add_to_pair(c, place, WHOLE, WHOLE, 0, &whole);
}

/* For summary__each(). */
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
	return label_of_row(b->c, row, b->names, &b->blind.label)
		       ?: array__add(&b->c->blinds, &b->c->n_blinds, &b->c->blinds_capacity,
				     &b->blind);
}

int compare__trace(struct compare *c, enum compare_side side, const struct summary *s,
		   const struct trace_texts *names)
{
	__cleanup(compilers__clear) struct compilers cs = {};
	struct blind_queries b = {c, names, {.trace = place_of(c, side, 0)}};
	uint32_t n = summary__n_processes(s);
	int err = c->seen[side] == c->n[side] ? -EINVAL : compilers__init(&cs, s);

	err = err ?: compare_units__match(&c->units, cs.processes, cs.n, cs.unit_of);
	for (uint32_t i = 0; i < cs.n && !err; i++) {
		b.blind.unit = cs.unit_of[i];
		err = add_compiler(c, b.blind.trace, &cs, i, names);
		if (!err && summary__is_unwatched(s))
			err = summary__each(s, cs.processes[i]->index, note_blind, &b);
	}
	if (err)
		return err;
	c->n_sampled += summary__is_unwatched(s);
	c->any_blind |= summary__is_unwatched(s) && summary__misses_results(s);
	c->seen[side]++;
	free(c->last_units);
	c->n_last_units = 0;
	c->last_units = malloc((n + 1UL) * sizeof(*c->last_units));
	if (!c->last_units)
		return -ENOMEM;
	c->n_last_units = n;
	memset(c->last_units, 0xff, n * sizeof(*c->last_units));
	for (uint32_t i = 0; i < cs.n; i++)
		c->last_units[cs.processes[i]->index] = cs.unit_of[i];
	return 0;
}

/* ---- Costs ----------------------------------------------------------------------------------- */

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
		if (!cost->whole)
			continue;
		for (int part = 0; part < COST_OWN; part++)
			cell->cost_ns[part] = cost__of_compiler(cost, part, b, samples, &all[i]);
		cell->cost_ns[COST_OWN] = part_of(cost->ns[COST_OWN], cell->of[COMPARE_WALL],
						  build->of[COMPARE_WALL]);
		/* It may be one of those that waited. */
		cell->cost_ns[WAITED] = part_of(cost->waited_ns, 1, cost->n_waited);
	}
	c->cpu_by_samples += by_samples;
	/* Without those of one compile, the sum says nothing. */
	if (!knows_results)
		build->of[COMPARE_RESULTS] = 0;
}

/* ---- Items ----------------------------------------------------------------------------------- */

/* For items__each(). */
struct adding {
	struct compare *c;
	const struct trace_texts *names;
	enum compare_side side;
	bool lists; /* some results */
};

/* A place in the new build replaces one in the base. */
static int note_place(const struct adding *a, uint32_t label, uint32_t item)
{
	const struct trace_place *place = trace_texts__place(a->names, item);
	struct compare_place new = {.line = place ? place->line : 0, .side = a->side};
	struct compare *c = a->c;
	int err;

	if (!place)
		return 0;
	err = label_of(c, a->names->text(a->names->ctx, place->file), false, &new.file);
	if (err)
		return err;
	if (array__reserve_at(&c->places, label, &c->n_places, sizeof(*c->places)))
		return -ENOMEM;
	if (!c->places[label].line || c->places[label].side <= a->side)
		c->places[label] = new;
	return 0;
}

static int add_item(void *ctx, const struct item_cell *from)
{
	struct adding *a = ctx;
	struct compare *c = a->c;
	const struct trace_texts *names = a->names;
	const char *path = from->item == TRACE_NO_STRING ? COMPARE_NO_ITEM
							 : names->text(names->ctx, from->item);
	struct compare_item item = {
		.trace = (uint32_t)place_of(c, a->side, 0),
		.executions = from->executions,
		.results = from->results,
		.self_ns = from->self_ns,
		.cpu_ns = from->cpu_ns,
		.probes_ns = from->probe_ns,
		.error_ns = sample_sum__error(&from->sampled[TRACE_SAMPLE_CPU]),
	};

	if (!from->executions && !from->charged && !from->self_ns && !from->results)
		return 0;
	a->lists |= from->results;
	return label_of(c, path, false, &item.item)
		       ?: label_of(c, names->text(names->ctx, from->label), false, &item.query)
		       ?: note_place(a, item.item, from->item)
		       ?: array__add(&c->items, &c->n_items, &c->items_capacity, &item);
}

int compare__items(struct compare *c, enum compare_side side, struct items *items,
		   const struct trace_texts *names)
{
	struct adding a = {c, names, side, false};
	int err = c->seen[side] == c->n[side] ? -EINVAL : items__each(items, add_item, &a);
	uint32_t n, label;
	const uint32_t *unlisted = items__unlisted(items, &n);

	for (uint32_t i = 0; i < n && !err; i++) {
		err = label_of(c, names->text(names->ctx, unlisted[i]), false, &label);
		if (!err &&
		    array__reserve_at(&c->unlisted, label, &c->n_unlisted, sizeof(*c->unlisted)))
			err = -ENOMEM;
		if (!err)
			c->unlisted[label] = true;
	}
	c->with_items++;
	c->n_listing += a.lists;
	return err;
}

/* ---- LLVM ------------------------------------------------------------------------------------ */

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
	int err = label_of(c, name ?: COMPARE_UNKNOWN_PASS, false, &label);

	return err ?: compare__add_to_pair(c, place_of(c, side, 0), TABLE_OF(of), label, 0, &cell);
}

int compare__llvm(struct compare *c, enum compare_side side, struct llvm *l)
{
	_llvm_rows_ struct llvm_rows rows = {};
	int err = c->seen[side] == c->n[side] ? -EINVAL : llvm__rows(l, NULL, NULL, &rows);

	if (err)
		return err;
	/* Hidden in the compiler's library, LLVM is not seen to run. */
	c->with_llvm += rows.unknown == LLVM_KNOWN || (rows.unknown == LLVM_NOT_RUN && !rows.why);
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
