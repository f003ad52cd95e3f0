// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/groups.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "analyze/compile_name.h"
#include "analyze/on_cpu.h"
#include "base/array.h"
#include "base/table.h"
#include "trace/interner.h"

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

struct groups {
	struct trace_process *processes;
	uint32_t n_processes;
	uint32_t processes_capacity;
	TABLE(struct thread) threads; /* by process << 32 | tid */
	uint64_t *results;	      /* by process: those that are executions */
	uint32_t n_results;
};

int groups__new(struct groups **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
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
	s->row.count += span->kind == TRACE_KIND_QUERY;
	s->row.activities += span->kind == TRACE_KIND_ACTIVITY || span->kind >= TRACE_KIND_OTHER;
	s->row.unwound += trace_span__is_unfinished(span);
	s->row.self_ns += times->self_ns;
	s->self_probe_ns += times->self_probe_ns;
	s->row.self_off_ns += times->self_off_ns;
	alone = trace_without_probes(span->end_ns - span->start_ns, times->probe_ns);
	if (alone > s->row.max_ns)
		s->row.max_ns = alone;
	return 0;
}

int groups__results(struct groups *g, const struct trace_tally *t)
{
	if (array__reserve_at(&g->results, t->process, &g->n_results, sizeof(*g->results)))
		return -ENOMEM;
	g->results[t->process] += t->events - t->sum;
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

/* Without a name. */
static struct group_row row_of(const struct sums *s)
{
	struct group_row row = s->row;

	row.processes = 1;
	row.self_ns = trace_without_probes(row.self_ns, s->self_probe_ns);
	row.cpu_ns = on_cpu_ns(row.self_ns, row.self_off_ns);
	row.wall_ns = s->spans ? s->end_ns - s->start_ns : 0;
	return row;
}

#define NO_ROW UINT32_MAX

/* Rows, and by index of a thread or process in which one it is, or NO_ROW. */
struct making {
	struct group_row *rows;
	uint32_t n;
	uint32_t *in;
	struct interner names; /* of crates: the id is the row */
};

static void making__clear(struct making *m)
{
	group_rows__free(m->rows, m->n);
	free(m->in);
	interner__destroy(&m->names);
}

/* Takes the name, also if it fails. */
static int new_row(struct making *m, struct group_row row, char *name)
{
	if (!name)
		return -ENOMEM;
	row.name = name;
	m->rows[m->n++] = row;
	return 0;
}

static char *thread_name(const struct groups *g, const struct thread *t)
{
	const struct trace_process *p = &g->processes[t->process];
	_free_ char *process = compile_name(p);
	char *name;

	if (!process ||
	    asprintf(&name, "%.*s %" PRIu32 "/%" PRIu32 "%s%.*s", NAME_MAX_BYTES, process, p->pid,
		     t->tid, t->name ? " " : "", NAME_MAX_BYTES, t->name ?: "") < 0)
		return NULL;
	return name;
}

static int thread_rows(const struct groups *g, struct making *m)
{
	int err = 0;

	for (uint32_t i = 0; i < g->threads.n && !err; i++) {
		const struct thread *t = &g->threads.at[i];

		m->in[i] = t->sums.spans ? m->n : NO_ROW;
		if (t->sums.spans)
			err = new_row(m, row_of(&t->sums), thread_name(g, t));
	}
	return err;
}

static struct sums *sum_processes(const struct groups *g)
{
	struct sums *sums = calloc(g->n_processes + 1UL, sizeof(*sums));

	for (uint32_t i = 0; sums && i < g->threads.n; i++)
		if (g->threads.at[i].sums.spans)
			add_sums(&sums[g->threads.at[i].process], &g->threads.at[i].sums);
	for (uint32_t i = 0; sums && i < g->n_processes && i < g->n_results; i++)
		if (!sums[i].row.count)
			sums[i].row.count = g->results[i];
	return sums;
}

static int add_process(struct making *m, const struct trace_process *p, const struct group_row *row)
{
	_free_ char *name = compile_name(p);
	char *numbered;

	if (!name || asprintf(&numbered, "%s %" PRIu32, name, p->pid) < 0)
		return -ENOMEM;
	return new_row(m, *row, numbered);
}

/* Processes of one crate share a row. */
static int add_crate(struct making *m, const struct trace_process *p, const struct group_row *row,
		     uint32_t *in)
{
	_free_ char *name = compile_name(p);
	bool is_new;
	int err = name ? interner__id(&m->names, name, in, &is_new) : -ENOMEM;

	if (err)
		return err;
	if (is_new)
		return new_row(m, *row, take_ptr(name));
	add_row(&m->rows[*in], row);
	return 0;
}

/* Whether it has a row: not if it has no span, and not if it compiled nothing where these are
 * crates.
 */
static bool has_row(const struct trace_process *p, const struct sums *sums, bool crates)
{
	return sums->spans && (!crates || sums->row.count || !compile_only_queries(p));
}

static int process_rows(const struct groups *g, bool crates, struct making *m)
{
	_free_ struct sums *sums = sum_processes(g);
	int err = sums ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < g->n_processes && !err; i++) {
		const struct trace_process *p = &g->processes[i];
		struct group_row row = row_of(&sums[i]);

		row.peak_bytes = p->peak_bytes;
		m->in[i] = has_row(p, &sums[i], crates) ? m->n : NO_ROW;
		if (m->in[i] == NO_ROW)
			continue;
		err = crates ? add_crate(m, p, &row, &m->in[i]) : add_process(m, p, &row);
	}
	return err;
}

int groups__rows(const struct groups *g, enum group_by by, struct group_row **rows, size_t *n)
{
	__cleanup(making__clear) struct making m = {};
	bool threads = by == GROUP_BY_THREAD;
	size_t most = threads ? g->threads.n : g->n_processes;
	int err;

	m.rows = calloc(most + 1, sizeof(*m.rows));
	m.in = calloc(most + 1, sizeof(*m.in));
	if (!m.rows || !m.in)
		return -ENOMEM;
	err = threads ? thread_rows(g, &m) : process_rows(g, by == GROUP_BY_CRATE, &m);
	if (err)
		return err;
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

void groups__free(struct groups *g)
{
	if (!g)
		return;
	free(g->processes);
	table__destroy(&g->threads);
	free(g->results);
	free(g);
}
