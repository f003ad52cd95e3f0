// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/pivot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/compile_name.h"
#include "base/array.h"
#include "base/table.h"
#include "trace/interner.h"

/* Each row has its own copy of the name, and many rows may share one long text. */
#define NAME_MAX_BYTES 500

struct sums {
	struct group_row row; /* self_ns as measured, with probe time; no name and no wall_ns */
	uint64_t spans;
	uint64_t total_ns, probe_ns, self_probe_ns;
	uint64_t start_ns, end_ns;
};

struct cell {
	uint32_t of, in;  /* process and tid; or query and locindex */
	const char *name; /* of a thread, or NULL */
	struct sums sums;
	struct trace_span last; /* with label TRACE_NO_STRING: there is none */
};

struct pivot {
	enum pivot_cells cells_of;
	TABLE(struct cell) cells; /* by of << 32 | in */
	struct trace_process *processes;
	uint32_t n_processes, processes_capacity;
	uint64_t *results; /* by process: those that are executions */
	uint32_t n_results;
};

int pivot__new(enum pivot_cells of, struct pivot **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->cells_of = of;
	return 0;
}

int pivot__process(struct pivot *p, const struct trace_process *process)
{
	if (process->index > p->n_processes)
		return -EINVAL;
	if (array__reserve_one(&p->processes, p->n_processes, &p->processes_capacity,
			       sizeof(*process)))
		return -ENOMEM;
	p->n_processes += process->index == p->n_processes;
	p->processes[process->index] = *process;
	return 0;
}

static struct cell *get_cell(struct pivot *p, uint32_t of, uint32_t in)
{
	return table__get(&p->cells, (uint64_t)of << 32 | in, .of = of, .in = in,
			  .sums.start_ns = UINT64_MAX,
			  .last = {.label = TRACE_NO_STRING, .invocation = TRACE_NO_INVOCATION});
}

int pivot__thread(struct pivot *p, const struct trace_thread *thread)
{
	struct cell *cell = get_cell(p, thread->process, thread->tid);

	if (!cell)
		return -ENOMEM;
	cell->name = thread->name;
	return 0;
}

int pivot__sample(struct pivot *p, const struct trace_sample *sample)
{
	return get_cell(p, sample->process, sample->tid) ? 0 : -ENOMEM;
}

/* The cell of a span, whose time range is extended to include it. */
static struct cell *cell_of(struct pivot *p, const struct trace_span *span)
{
	struct cell *cell = p->cells_of == PIVOT_CALLERS ? get_cell(p, span->label, span->caller)
							 : get_cell(p, span->process, span->tid);

	if (cell && span->start_ns < cell->sums.start_ns)
		cell->sums.start_ns = span->start_ns;
	if (cell && span->end_ns > cell->sums.end_ns)
		cell->sums.end_ns = span->end_ns;
	return cell;
}

int pivot__off_cpu(struct pivot *p, const struct trace_span *span, bool preempted)
{
	struct cell *cell = cell_of(p, span);

	if (!cell)
		return -ENOMEM;
	*(preempted ? &cell->sums.row.preempted_ns : &cell->sums.row.waiting_ns) +=
		span->end_ns - span->start_ns;
	return 0;
}

int pivot__span(struct pivot *p, const struct trace_span *span, const struct trace_times *times)
{
	uint64_t ns = span->end_ns - span->start_ns, alone;
	struct cell *cell = cell_of(p, span);
	struct sums *s;

	if (!cell)
		return -ENOMEM;
	cell->last = *span;
	s = &cell->sums;
	s->spans++;
	s->row.count += span->kind == TRACE_KIND_QUERY;
	s->row.activities += span->kind == TRACE_KIND_ACTIVITY || span->kind >= TRACE_KIND_OTHER;
	s->row.unwound += trace_span__is_unfinished(span);
	s->total_ns += ns;
	s->probe_ns += times->probe_ns;
	s->row.self_ns += times->self_ns;
	s->self_probe_ns += times->self_probe_ns;
	s->row.self_off_ns += times->self_off_ns;
	alone = trace_without_probes(ns, times->probe_ns);
	if (alone > s->row.max_ns)
		s->row.max_ns = alone;
	return 0;
}

int pivot__results(struct pivot *p, const struct trace_tally *t)
{
	if (array__reserve_at(&p->results, t->process, &p->n_results, sizeof(*p->results)))
		return -ENOMEM;
	p->results[t->process] += t->events - t->sum;
	return 0;
}

static void add_row(struct group_row *to, const struct group_row *from)
{
	to->processes += from->processes;
	to->count += from->count;
	to->activities += from->activities;
	to->unwound += from->unwound;
	to->self_ns += from->self_ns;
	to->cpu_ns += from->cpu_ns;
	to->wall_ns += from->wall_ns;
	to->self_off_ns += from->self_off_ns;
	to->preempted_ns += from->preempted_ns;
	to->waiting_ns += from->waiting_ns;
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
	if (from->peak_bytes > to->peak_bytes)
		to->peak_bytes = from->peak_bytes;
}

/* Without a name, and without the time of probes. */
static struct group_row row_of(const struct sums *s)
{
	struct group_row row = s->row;

	row.processes = 1;
	row.self_ns = trace_without_probes(row.self_ns, s->self_probe_ns);
	row.cpu_ns = on_cpu_ns(row.self_ns, row.self_off_ns);
	row.wall_ns = s->spans ? s->end_ns - s->start_ns : 0;
	return row;
}

/* ---- Of threads ------------------------------------------------------------------------------ */

uint32_t pivot__n_threads(const struct pivot *p)
{
	return p->cells.n;
}

struct thread_row pivot__thread_at(const struct pivot *p, uint32_t i)
{
	const struct cell *cell = &p->cells.at[i];
	struct group_row sums = row_of(&cell->sums);

	return (struct thread_row){
		.process = cell->of,
		.tid = cell->in,
		.name = cell->name,
		.count = cell->sums.spans,
		.self_ns = sums.self_ns,
		.cpu_ns = sums.cpu_ns,
		.self_off_ns = sums.self_off_ns,
		.last_label = cell->last.label,
		.last_invocation = cell->last.invocation,
		.last_ns = cell->last.end_ns,
	};
}

/* Rows being made. */
struct making {
	struct group_row *rows;
	uint32_t n;
	struct interner crates; /* the id of each is its row */
};

static void making__clear(struct making *m)
{
	group_rows__free(m->rows, m->n);
	interner__destroy(&m->crates);
}

static struct sums *sum_processes(const struct pivot *p)
{
	struct sums *sums = calloc(p->n_processes + 1UL, sizeof(*sums));

	for (uint32_t i = 0; sums && i < p->cells.n; i++) {
		const struct sums *from = &p->cells.at[i].sums;
		struct sums *to = &sums[p->cells.at[i].of];

		if (!from->spans)
			continue;
		if (!to->spans || from->start_ns < to->start_ns)
			to->start_ns = from->start_ns;
		if (from->end_ns > to->end_ns)
			to->end_ns = from->end_ns;
		add_row(&to->row, &from->row);
		to->spans += from->spans;
		to->self_probe_ns += from->self_probe_ns;
	}
	for (uint32_t i = 0; sums && i < p->n_processes && i < p->n_results; i++)
		if (!sums[i].row.count)
			sums[i].row.count = p->results[i];
	return sums;
}

/* "serde_json 4711"; with a thread "serde_json 4711/4712 rustc". NULL without memory. */
static char *numbered(const char *name, uint32_t pid, const struct cell *thread)
{
	char *text;
	int n;

	if (thread)
		n = asprintf(&text, "%.*s %" PRIu32 "/%" PRIu32 "%s%.*s", NAME_MAX_BYTES, name, pid,
			     thread->in, thread->name ? " " : "", NAME_MAX_BYTES,
			     thread->name ?: "");
	else
		n = asprintf(&text, "%s %" PRIu32, name, pid);
	return n < 0 ? NULL : text;
}

int pivot__groups(const struct pivot *p, enum group_by by, struct group_row **rows, size_t *n)
{
	__cleanup(making__clear) struct making m = {};
	bool threads = by == GROUP_BY_THREAD, crates = by == GROUP_BY_CRATE;
	uint32_t n_parts = threads ? p->cells.n : p->n_processes;
	_free_ struct sums *sums = threads ? NULL : sum_processes(p);

	m.rows = calloc(n_parts + 1UL, sizeof(*m.rows));
	if (!m.rows || (!threads && !sums))
		return -ENOMEM;
	for (uint32_t i = 0; i < n_parts; i++) {
		const struct cell *thread = threads ? &p->cells.at[i] : NULL;
		const struct sums *of = thread ? &thread->sums : &sums[i];
		const struct trace_process *process = &p->processes[thread ? thread->of : i];
		struct group_row row = row_of(of);
		_free_ char *name = NULL;
		uint32_t crate;
		bool is_new;

		/* One that compiled nothing is no crate. */
		if (!of->spans || (crates && !row.count && compile_only_queries(process)))
			continue;
		if (!thread)
			row.peak_bytes = process->peak_bytes;
		name = compile_name(process);
		if (!name || (crates && interner__id(&m.crates, name, &crate, &is_new)))
			return -ENOMEM;
		/* Processes of one crate share a row. */
		if (crates && !is_new) {
			add_row(&m.rows[crate], &row);
			continue;
		}
		row.name = crates ? take_ptr(name) : numbered(name, process->pid, thread);
		if (!row.name)
			return -ENOMEM;
		m.rows[m.n++] = row;
	}
	*n = m.n;
	*rows = take_ptr(m.rows);
	m.n = 0;
	return 0;
}

void group_rows__free(struct group_row *rows, size_t n)
{
	for (size_t i = 0; rows && i < n; i++)
		free(rows[i].name);
	free(rows);
}

/* ---- Of callers ------------------------------------------------------------------------------ */

/* A cell, and the place that it is of. */
struct site {
	const char *function; /* or NULL, which sorts first; likewise the file */
	const char *file;
	uint32_t line;
	const struct sums *sums;
};

static int compare_texts(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int by_place(const void *a, const void *b)
{
	const struct site *x = a, *y = b;
	int by = compare_texts(x->function, y->function) ?: compare_texts(x->file, y->file);

	return by ?: (x->line > y->line) - (x->line < y->line);
}

/* Sites are sorted, so sites of one function are adjacent, and so are sites of one line. */
static size_t merge(const struct site *sites, size_t n, struct caller_row *rows)
{
	struct caller_row *row = NULL;
	uint64_t of_line = 0;
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		const struct site *s = &sites[i];
		struct group_row sums = row_of(s->sums);

		if (!i || compare_texts(s->function, s[-1].function)) {
			row = &rows[used++];
			*row = (struct caller_row){.function = s->function};
		}
		row->count += s->sums->spans;
		row->unwound += sums.unwound;
		row->total_ns += trace_without_probes(s->sums->total_ns, s->sums->probe_ns);
		row->self_ns += sums.self_ns;
		row->cpu_ns += sums.cpu_ns;
		if (sums.max_ns > row->max_ns)
			row->max_ns = sums.max_ns;
		of_line += s->sums->spans;
		if (i + 1 < n && !by_place(s, s + 1))
			continue;
		row->lines += s->file != NULL;
		if (s->file && of_line > row->line_count) {
			row->file = s->file;
			row->line = s->line;
			row->line_count = of_line;
		}
		of_line = 0;
	}
	return used;
}

int pivot__callers(const struct pivot *p, const struct stack_source *locator,
		   struct caller_row **rows, size_t *n)
{
	_free_ struct site *sites = calloc(p->cells.n + 1UL, sizeof(*sites));
	_free_ struct caller_row *made = calloc(p->cells.n + 1UL, sizeof(*made));

	if (!sites || !made)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->cells.n; i++) {
		const struct cell *cell = &p->cells.at[i];
		struct trace_location at;

		sites[i].sums = &cell->sums;
		if (cell->in == TRACE_NO_LOCATION || !locator->locate(locator->ctx, cell->in, &at))
			continue;
		sites[i].function = at.function->name;
		sites[i].file = at.file;
		sites[i].line = at.line;
	}
	qsort(sites, p->cells.n, sizeof(*sites), by_place);
	*n = merge(sites, p->cells.n, made);
	*rows = take_ptr(made);
	return 0;
}

void pivot__free(struct pivot *p)
{
	if (!p)
		return;
	table__destroy(&p->cells);
	free(p->processes);
	free(p->results);
	free(p);
}
