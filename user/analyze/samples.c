// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sampled_intervals.h"
#include "analyze/summary.h"
#include "base/table.h"
#include "base/array.h"
#include "analyze/code_name.h"
#include "base/cleanup.h"

/* The innermost interval of a stack, and that of the probes. */
struct pair {
	uint32_t interval; /* STACK_INTERVAL_NONE: none */
	uint32_t label;	   /* TRACE_NO_STRING: none */
	uint32_t kinds;	   /* of the latter, 1 << enum trace_kind */
};

/* The samples of a process with such a pair. */
struct cell {
	uint32_t process;
	uint32_t pair;
	uint32_t executions; /* of the CPU, with a query as the innermost interval of the probes */
	struct sample_sum self[TRACE_SAMPLE_CAUSES];
};

struct of_process {
	struct sample_sum of[TRACE_SAMPLE_CAUSES];
};

struct samples {
	struct samples_totals totals;
	struct stack_intervals intervals;
	TABLE(struct pair) pairs; /* by interval << 33 | is it an activity << 32 | label */
	TABLE(struct cell) cells; /* by process << 32 | pair */
	TABLE(struct of_process) processes; /* by process */
};

int samples__new(const struct stack_source *source, struct samples **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->intervals.source = *source;
	return 0;
}

void samples__set_sampling(struct samples *s, const struct trace_sampling *sampling)
{
	s->totals.sampling = *sampling;
}

static uint64_t key_of(uint32_t n, uint32_t label, uint32_t kinds)
{
	return (uint64_t)n << 33 | (uint64_t)summary_kinds_are_activity(kinds) << 32 | label;
}

/* The cell of a sample; NULL without memory. */
static struct cell *cell_of(struct samples *s, const struct trace_sample *sample, uint32_t interval)
{
	struct pair *pair = table__get(
		&s->pairs, key_of(interval, sample->label, summary_kind_bit(sample->kind)),
		.interval = interval, .label = sample->label);
	uint32_t number;

	if (!pair)
		return NULL;
	pair->kinds |= summary_kind_bit(sample->kind);
	number = (uint32_t)(pair - s->pairs.at);
	return table__get(&s->cells, (uint64_t)sample->process << 32 | number,
			  .process = sample->process, .pair = number);
}

int samples__add(struct samples *s, const struct trace_sample *sample)
{
	bool light = trace_sample__is_light(sample, s->totals.sampling.light);
	bool on_cpu = sample->cause == TRACE_SAMPLE_CPU;
	bool has_label = sample->label != TRACE_NO_STRING;
	const struct sample_sum one = {1, sample->value};
	const struct stack_interval *at;
	struct of_process *process;
	struct cell *cell;
	uint32_t interval;

	if (!sample->cause || sample->cause >= TRACE_SAMPLE_CAUSES || sample->cut >= TRACE_CUT_MAX)
		return -EINVAL;
	process = table__get(&s->processes, sample->process, .of = {});
	if (!process || stack_intervals__find(&s->intervals, sample->stack, &interval))
		return -ENOMEM;
	cell = cell_of(s, sample, interval);
	if (!cell)
		return -ENOMEM;
	cell->executions += on_cpu && has_label && sample->kind == TRACE_KIND_QUERY;
	sample_sum__add(&cell->self[sample->cause], &one);
	sample_sum__add(&process->of[sample->cause], &one);

	at = interval == STACK_INTERVAL_NONE ? NULL : &s->intervals.at[interval];
	s->totals.unknown += on_cpu && at && at->is_unknown;
	if (!has_label && (!at || at->known == STACK_INTERVAL_NONE))
		sample_sum__add(light && at ? &s->totals.unknown_query
					    : &s->totals.no_query[sample->cause],
				&one);
	sample_sum__add(&s->totals.of[sample->cause], &one);
	++*(light ? &s->totals.light : &s->totals.cut[sample->cut]);
	return 0;
}

const struct samples_totals *samples__totals(const struct samples *s)
{
	return &s->totals;
}

const struct sample_sum *samples__process(const struct samples *s, uint32_t process)
{
	static const struct sample_sum none[TRACE_SAMPLE_CAUSES];
	/* A look-up changes only what the table remembers of the last one. */
	struct of_process *of = table__find(&((struct samples *)s)->processes, process);

	return of ? of->of : none;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* What is made of an interval of the stacks. */
struct making_interval {
	uint32_t seen; /* itself or the innermost around it that is not hidden */
	bool is_listed;
	struct sample_sum within[TRACE_SAMPLE_CAUSES]; /* of the process at hand */
};

/* Rows being made. */
struct making {
	const struct stack_intervals *intervals;
	TABLE(struct samples_row) rows; /* by process << 32 | label */
	struct making_interval *of;	/* these three by interval */
	bool *is_hidden, *is_first;
	uint32_t *listed; /* intervals of the process at hand with a sample in them */
	uint32_t n_listed;
};

static void making__clear(struct making *m)
{
	table__destroy(&m->rows);
	free(m->of);
	free(m->is_hidden);
	free(m->is_first);
	free(m->listed);
}

typedef bool (*hides_fn)(const void *ctx, uint32_t label, uint8_t kind);

static struct samples_row *row_of(struct making *m, uint32_t process, uint32_t label,
				  uint32_t kinds)
{
	struct samples_row *row = table__get(&m->rows, key_of(process, label, kinds),
					     .process = process, .label = label);

	if (row)
		row->kinds |= kinds;
	return row;
}

static struct samples_row *row_of_interval(struct making *m, uint32_t process, uint32_t interval)
{
	const struct stack_interval *at = &m->intervals->at[interval];

	return row_of(m, process, at->label, summary_kind_bit(at->kind));
}

/* Whether an interval of the row is around, as the stack shows. */
static bool is_around(const struct making *m, uint32_t interval, uint32_t label, uint32_t kinds)
{
	for (uint32_t i = interval; i != STACK_INTERVAL_NONE; i = m->intervals->at[i].outer) {
		const struct stack_interval *at = &m->intervals->at[i];

		if (m->of[i].seen == i &&
		    key_of(0, at->label, summary_kind_bit(at->kind)) == key_of(0, label, kinds))
			return true;
	}
	return false;
}

static int add_cell(struct making *m, struct samples *s, const struct cell *cell)
{
	const struct pair *pair = &s->pairs.at[cell->pair];
	const struct stack_interval *at = m->intervals->at;
	uint32_t seen = STACK_INTERVAL_NONE, query = STACK_INTERVAL_NONE;
	bool probed = pair->label != TRACE_NO_STRING;
	struct samples_row *row;

	if (pair->interval != STACK_INTERVAL_NONE) {
		seen = m->of[pair->interval].seen;
		query = at[pair->interval].query;
	}
	/* Probes of some queries do not say what is innermost. */
	if (query != STACK_INTERVAL_NONE && !at[query].is_unknown && !s->totals.sampling.queries) {
		s->totals.compared += cell->executions;
		s->totals.differ += at[query].label != pair->label ? cell->executions : 0;
	}
	/* The samples are in this interval and in all that are around it, which are listed. */
	if (seen != STACK_INTERVAL_NONE)
		sample_sums_of__add(m->of[seen].within, cell->self);
	for (uint32_t i = seen; i != STACK_INTERVAL_NONE && !m->of[i].is_listed; i = at[i].outer) {
		m->of[i].is_listed = true;
		m->listed[m->n_listed++] = i;
	}
	if (!probed && seen == STACK_INTERVAL_NONE)
		return 0;
	if (probed && (seen == STACK_INTERVAL_NONE || !summary_kinds_are_activity(pair->kinds)))
		row = row_of(m, cell->process, pair->label, pair->kinds);
	else
		row = row_of_interval(m, cell->process, seen);
	if (!row)
		return -ENOMEM;
	sample_sums_of__add(row->sums.self, cell->self);
	if (!is_around(m, seen, row->label, row->kinds))
		sample_sums_of__add(row->sums.total, cell->self);
	return 0;
}

/* All samples of a process are added: the inner intervals come first, as their numbers are larger.
 */
static int end_process(struct making *m, uint32_t process)
{
	const struct stack_interval *at = m->intervals->at;

	if (m->rows.n > SAMPLES_ROWS_MOST)
		return -EOVERFLOW;
	qsort(m->listed, m->n_listed, sizeof(*m->listed), array__by_u32);
	for (uint32_t k = m->n_listed; k--;) {
		uint32_t i = m->listed[k];
		struct making_interval *of = &m->of[i];
		struct samples_row *row = m->is_first[i] ? row_of_interval(m, process, i) : NULL;

		if (m->is_first[i] && !row)
			return -ENOMEM;
		if (row)
			sample_sums_of__add(row->sums.total, of->within);
		if (at[i].outer != STACK_INTERVAL_NONE)
			sample_sums_of__add(m->of[at[i].outer].within, of->within);
		memset(of->within, 0, sizeof(of->within));
		of->is_listed = false;
	}
	m->n_listed = 0;
	return 0;
}

static int add_cells(struct making *m, struct samples *s)
{
	_free_ struct cell *cells = calloc(s->cells.n + 1UL, sizeof(*cells));

	if (!cells)
		return -ENOMEM;
	if (s->cells.n)
		memcpy(cells, s->cells.at, s->cells.n * sizeof(*cells));
	qsort(cells, s->cells.n, sizeof(*cells), array__by_u32);
	for (uint32_t i = 0; i < s->cells.n; i++) {
		bool is_last = i + 1 == s->cells.n || cells[i + 1].process != cells[i].process;

		int err = add_cell(m, s, &cells[i]);

		if (!err && is_last)
			err = end_process(m, cells[i].process);
		if (err)
			return err;
	}
	return 0;
}

int samples__rows(struct samples *s, hides_fn hides, const void *ctx, struct samples_row **rows,
		  size_t *n)
{
	size_t n_intervals = s->intervals.n + 1UL;
	__cleanup(making__clear) struct making m = {
		.intervals = &s->intervals,
		.of = calloc(n_intervals, sizeof(*m.of)),
		.is_hidden = calloc(n_intervals, sizeof(*m.is_hidden)),
		.is_first = calloc(n_intervals, sizeof(*m.is_first)),
		.listed = calloc(n_intervals, sizeof(*m.listed)),
	};
	const struct stack_interval *at = s->intervals.at;
	int err;

	_Static_assert(!offsetof(struct samples_row, process) && !offsetof(struct cell, process),
		       "array__by_u32()");
	if (!m.of || !m.is_hidden || !m.is_first || !m.listed)
		return -ENOMEM;
	s->totals.compared = s->totals.differ = 0;
	/* Outer intervals have smaller numbers. */
	for (uint32_t i = 0; i < s->intervals.n; i++) {
		uint32_t outer = at[i].outer;

		m.is_hidden[i] = at[i].is_unknown || (hides && hides(ctx, at[i].label, at[i].kind));
		m.of[i].seen = i;
		if (m.is_hidden[i])
			m.of[i].seen = outer == STACK_INTERVAL_NONE ? outer : m.of[outer].seen;
	}
	err = stack_intervals__first(&s->intervals, m.is_hidden, m.is_first) ?: add_cells(&m, s);
	if (err)
		return err;
	*n = m.rows.n;
	*rows = take_ptr(m.rows.at);
	if (*n)
		qsort(*rows, *n, sizeof(**rows), array__by_u32);
	return 0;
}

void samples__free(struct samples *s)
{
	if (!s)
		return;
	stack_intervals__destroy(&s->intervals);
	table__destroy(&s->cells);
	table__destroy(&s->pairs);
	table__destroy(&s->processes);
	free(s);
}

/* ---- Sums of stacks -------------------------------------------------------------------------- */

int stack_sums__add(struct stack_sums *s, const struct trace_sample *sample)
{
	const struct sample_sum one = {1, sample->value};
	uint32_t stack = sample->stack;
	struct trace_stack entry;

	if (sample->cause != s->cause)
		return 0;
	if (stack >= s->n && !stack_source__entry(&s->source, stack, &entry))
		stack = TRACE_NO_STACK;
	if (array__reserve_at(&s->at, stack, &s->n, sizeof(*s->at)))
		return -ENOMEM;
	sample_sum__add(&s->at[stack], &one);
	sample_sum__add(&s->all, &one);
	return 0;
}

void stack_sums__destroy(struct stack_sums *s)
{
	free(s->at);
	*s = (struct stack_sums){};
}

/* ---- Shares ---------------------------------------------------------------------------------- */

int sample_shares_of(const struct stack_sums *sums, const struct trace_texts *texts,
		     struct sample_sum shares[SAMPLE_SHARES])
{
	__cleanup(code_functions__destroy) struct code_functions f = {.source = sums->source,
								      .texts = *texts};
	_free_ uint8_t *of = calloc(sums->n + 1UL, sizeof(*of)); /* by number of an entry */
	struct trace_stack entry;
	uint32_t number;

	if (!of)
		return -ENOMEM;
	memset(shares, 0, SAMPLE_SHARES * sizeof(*shares));
	for (uint32_t id = 0; id < sums->n; id++) {
		of[id] = SAMPLE_NO_STACK;
		if (stack_source__entry(&sums->source, id, &entry) &&
		    entry.kind < TRACE_STACK_KINDS) {
			uint8_t outer = entry.parent ? of[entry.parent] : SAMPLE_FRONT_END;
			const char *part;

			if (code_functions__find(&f, &entry, &number))
				return -ENOMEM;
			part = f.at[number].part == CODE_NO_PART ? "" : f.parts[f.at[number].part];
			of[id] = SAMPLE_FRONT_END;
			if (code_functions__is_of(&f, number, CODE_LLVM))
				of[id] = SAMPLE_LLVM;
			else if (!strncmp(part, "rustc_codegen_", strlen("rustc_codegen_")))
				of[id] = SAMPLE_CODEGEN;
			if (outer > of[id] && outer != SAMPLE_NO_STACK)
				of[id] = outer;
		}
		sample_sum__add(&shares[of[id]], &sums->at[id]);
	}
	return 0;
}
