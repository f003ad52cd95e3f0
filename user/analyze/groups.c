// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/groups.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/compile_name.h"
#include "analyze/on_cpu.h"
#include "base/array.h"
#include "base/table.h"

/* Each row has its own copy of the name, and many rows may share one long text. */
#define NAME_MAX_BYTES 500

struct sums {
	struct group_row row; /* self_ns as measured, with probe time; no name and no wall_ns */
	uint64_t spans;
	uint64_t self_probe_ns;
	uint64_t start_ns;
	uint64_t end_ns;
};

struct thread {
	uint32_t process;
	uint32_t tid;
	const char *name; /* or NULL */
	struct sums sums;
};

/* With groups__by_query(): the time of one query in one thread. */
struct query_time {
	uint32_t thread; /* index */
	uint32_t label;
	uint64_t self_ns;
	uint64_t self_off_ns;
	uint64_t self_probe_ns;
};

struct groups {
	struct trace_process *processes;
	uint32_t n_processes;
	uint32_t processes_capacity;
	TABLE(struct thread) threads;	  /* by process << 32 | tid */
	TABLE(struct query_time) queries; /* by thread << 32 | label */
	const struct own_shares *shares;  /* or NULL */
	bool by_query;
};

int groups__new(struct groups **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void groups__by_query(struct groups *g)
{
	g->by_query = true;
}

void groups__divide(struct groups *g, const struct own_shares *shares)
{
	g->shares = shares;
}

int groups__process(struct groups *g, const struct trace_process *p)
{
	if (p->index > g->n_processes)
		return -EINVAL;
	if (array__reserve_one(&g->processes, g->n_processes, &g->processes_capacity, sizeof(*p)))
		return -ENOMEM;
	g->n_processes += p->index == g->n_processes;
	g->processes[p->index] = *p;
	return 0;
}

static struct thread *get_thread(struct groups *g, uint32_t process, uint32_t tid)
{
	return table__get(&g->threads, (uint64_t)process << 32 | tid, .process = process,
			  .tid = tid, .sums.start_ns = UINT64_MAX);
}

int groups__thread(struct groups *g, const struct trace_thread *thread)
{
	struct thread *t;

	if (thread->process >= g->n_processes)
		return -EINVAL;
	t = get_thread(g, thread->process, thread->tid);
	if (!t)
		return -ENOMEM;
	t->name = thread->name;
	return 0;
}

/* The span's thread, whose time range is extended to include the span. */
static int thread_of(struct groups *g, const struct trace_span *span, struct thread **out)
{
	struct thread *t;

	if (span->process >= g->n_processes || span->end_ns < span->start_ns)
		return -EINVAL;
	t = get_thread(g, span->process, span->tid);
	if (!t)
		return -ENOMEM;
	if (span->start_ns < t->sums.start_ns)
		t->sums.start_ns = span->start_ns;
	if (span->end_ns > t->sums.end_ns)
		t->sums.end_ns = span->end_ns;
	*out = t;
	return 0;
}

int groups__off_cpu(struct groups *g, const struct trace_span *span, bool preempted)
{
	struct thread *t;
	int err = thread_of(g, span, &t);

	if (err)
		return err;
	*(preempted ? &t->sums.row.preempted_ns : &t->sums.row.waiting_ns) +=
		span->end_ns - span->start_ns;
	return 0;
}

static int add_to_query(struct groups *g, uint32_t i, const struct trace_span *span,
			const struct trace_times *times)
{
	struct query_time *q = table__get(&g->queries, (uint64_t)i << 32 | span->label, .thread = i,
					  .label = span->label);

	if (!q)
		return -ENOMEM;
	q->self_ns += times->self_ns;
	q->self_off_ns += times->self_off_ns;
	q->self_probe_ns += times->self_probe_ns;
	return 0;
}

int groups__span(struct groups *g, const struct trace_span *span, const struct trace_times *times)
{
	uint64_t alone;
	struct thread *t;
	struct sums *s;
	int err = thread_of(g, span, &t);

	if (err)
		return err;
	s = &t->sums;
	s->spans++;
	s->row.count += span->kind != TRACE_KIND_BLOCKED && span->kind != TRACE_KIND_LOAD &&
			span->kind != TRACE_KIND_HASHING && span->kind != TRACE_KIND_HIT;
	s->row.unwound += trace_span__is_unfinished(span);
	s->row.self_ns += times->self_ns;
	s->self_probe_ns += times->self_probe_ns;
	s->row.self_off_ns += times->self_off_ns;
	alone = trace_without_probes(span->end_ns - span->start_ns, times->probe_ns);
	if (alone > s->row.max_ns)
		s->row.max_ns = alone;
	return g->by_query ? add_to_query(g, (uint32_t)(t - g->threads.at), span, times) : 0;
}

static void add_row(struct group_row *to, const struct group_row *from)
{
	to->processes += from->processes;
	to->count += from->count;
	to->unwound += from->unwound;
	to->self_ns += from->self_ns;
	to->cpu_ns += from->cpu_ns;
	own_time__merge(&to->own, &from->own);
	to->wall_ns += from->wall_ns;
	to->self_off_ns += from->self_off_ns;
	to->preempted_ns += from->preempted_ns;
	to->waiting_ns += from->waiting_ns;
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
	if (from->peak_bytes > to->peak_bytes)
		to->peak_bytes = from->peak_bytes;
}

static void add_sums(struct sums *to, const struct sums *from)
{
	if (!to->spans)
		to->start_ns = UINT64_MAX;
	add_row(&to->row, &from->row);
	to->spans += from->spans;
	to->self_probe_ns += from->self_probe_ns;
	if (from->start_ns < to->start_ns)
		to->start_ns = from->start_ns;
	if (from->end_ns > to->end_ns)
		to->end_ns = from->end_ns;
}

static struct group_row row_of(const struct groups *g, const struct sums *s)
{
	struct group_row row = s->row;

	row.processes = 1;
	row.self_ns = trace_without_probes(row.self_ns, s->self_probe_ns);
	row.cpu_ns = on_cpu_ns(row.self_ns, row.self_off_ns);
	row.wall_ns = s->spans ? s->end_ns - s->start_ns : 0;
	if (!g->by_query)
		row.own.cpu_ns = row.cpu_ns;
	return row;
}

/* The times of all threads, divided; NULL without memory. */
static struct own_time *divide(const struct groups *g)
{
	struct own_time *own = calloc(g->threads.n + 1UL, sizeof(*own));

	for (uint32_t i = 0; own && i < g->queries.n; i++) {
		const struct query_time *q = &g->queries.at[i];
		uint64_t self_ns = trace_without_probes(q->self_ns, q->self_probe_ns);

		own_time__add(&own[q->thread], g->shares, q->label,
			      on_cpu_ns(self_ns, q->self_off_ns));
	}
	return own;
}

static int thread_rows(const struct groups *g, const struct own_time *own, struct group_row *rows,
		       size_t *n)
{
	for (uint32_t i = 0; i < g->threads.n; i++) {
		const struct thread *t = &g->threads.at[i];
		const struct trace_process *p = &g->processes[t->process];
		struct group_row *row = &rows[*n];
		_free_ char *process = t->sums.spans ? compile_name(p) : NULL;

		if (!t->sums.spans)
			continue;
		*row = row_of(g, &t->sums);
		own_time__merge(&row->own, &own[i]);
		if (!process || asprintf(&row->name, "%.*s %" PRIu32 "/%" PRIu32 "%s%.*s",
					 NAME_MAX_BYTES, process, p->pid, t->tid,
					 t->name ? " " : "", NAME_MAX_BYTES, t->name ?: "") < 0)
			return -ENOMEM;
		++*n;
	}
	return 0;
}

static struct sums *sum_processes(const struct groups *g, const struct own_time *own)
{
	struct sums *sums = calloc(g->n_processes + 1UL, sizeof(*sums));

	for (uint32_t i = 0; sums && i < g->threads.n; i++) {
		struct sums *to = &sums[g->threads.at[i].process];

		if (g->threads.at[i].sums.spans)
			add_sums(to, &g->threads.at[i].sums);
		own_time__merge(&to->row.own, &own[i]);
	}
	return sums;
}

/* A row for each process, named after its crate alone if crates are wanted. */
static int process_rows(const struct groups *g, const struct own_time *own, bool crates,
			struct group_row *rows, size_t *n)
{
	_free_ struct sums *sums = sum_processes(g, own);

	if (!sums)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->n_processes; i++) {
		const struct trace_process *p = &g->processes[i];
		struct group_row *row = &rows[*n];
		_free_ char *name = NULL;

		if (!sums[i].spans)
			continue;
		name = compile_name(p);
		*row = row_of(g, &sums[i]);
		row->peak_bytes = p->peak_bytes;
		if (crates)
			row->name = take_ptr(name);
		else if (!name || asprintf(&row->name, "%s %" PRIu32, name, p->pid) < 0)
			row->name = NULL;
		if (!row->name)
			return -ENOMEM;
		++*n;
	}
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct group_row *)a)->name, ((const struct group_row *)b)->name);
}

static size_t merge_names(struct group_row *rows, size_t n)
{
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		struct group_row *to = used ? &rows[used - 1] : NULL;

		if (!to || strcmp(to->name, rows[i].name)) {
			rows[used++] = rows[i];
			continue;
		}
		add_row(to, &rows[i]);
		free(rows[i].name);
	}
	return used;
}

int groups__rows(const struct groups *g, enum group_by by, struct group_row **rows, size_t *n)
{
	size_t most = by == GROUP_BY_THREAD ? g->threads.n : g->n_processes;
	_free_ struct own_time *own = divide(g);
	int err;

	*n = 0;
	*rows = calloc(most + 1, sizeof(**rows));
	if (!own || !*rows)
		err = -ENOMEM;
	else if (by == GROUP_BY_THREAD)
		err = thread_rows(g, own, *rows, n);
	else
		err = process_rows(g, own, by == GROUP_BY_CRATE, *rows, n);
	if (err) {
		group_rows__free(take_ptr(*rows), *n);
		return err;
	}
	if (by == GROUP_BY_CRATE) {
		qsort(*rows, *n, sizeof(**rows), compare_names);
		*n = merge_names(*rows, *n);
	}
	return 0;
}

void group_rows__free(struct group_row *rows, size_t n)
{
	for (size_t i = 0; rows && i < n; i++)
		free(rows[i].name);
	free(rows);
}

void groups__free(struct groups *g)
{
	if (!g)
		return;
	free(g->processes);
	table__destroy(&g->threads);
	table__destroy(&g->queries);
	free(g);
}
