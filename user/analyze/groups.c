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
	TABLE(struct thread) threads;	     /* by process << 32 | tid */
	TABLE(struct query_time) queries;    /* by thread << 32 | label */
	const struct process_shares *shares; /* or NULL */
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

bool groups__are_by_query(const struct groups *g)
{
	return g->by_query;
}

void groups__divide(struct groups *g, const struct process_shares *shares)
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
	s->row.count += span->kind == TRACE_KIND_QUERY;
	s->row.activities += span->kind == TRACE_KIND_ACTIVITY || span->kind >= TRACE_KIND_OTHER;
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

/* Without a name, and without what samples say. */
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

/* The times of queries by thread or process. */
static int sum_queries(const struct groups *g, bool threads, struct own_sums *sums)
{
	for (uint32_t i = 0; i < g->queries.n; i++) {
		const struct query_time *q = &g->queries.at[i];
		uint64_t self_ns = trace_without_probes(q->self_ns, q->self_probe_ns);
		uint32_t of = threads ? q->thread : g->threads.at[q->thread].process;

		if (own_sums__add(sums, of, q->label, on_cpu_ns(self_ns, q->self_off_ns)))
			return -ENOMEM;
	}
	return 0;
}

/* Samples say what part was own in a process, in all its threads alike. */
static int sum_rows(const struct groups *g, bool threads, const struct making *m,
		    struct own_sums *sums)
{
	_own_sums_ struct own_sums from = {};
	int err = sum_queries(g, threads, &from);

	for (uint32_t i = 0; i < from.of.n && !err; i++) {
		const struct own_sum *sum = &from.of.at[i];
		uint32_t process = threads ? g->threads.at[sum->row].process : sum->row;
		const struct own_share *samples =
			process_shares__find(g->shares, process, sum->label);

		err = own_sums__add(sums, m->in[sum->row], sum->label, sum->cpu_ns);
		if (!err && samples)
			err = own_sums__add_samples(sums, m->in[sum->row], sum->label, samples);
	}
	return err;
}

static int add_own(const struct groups *g, bool threads, struct making *m)
{
	_own_sums_ struct own_sums sums = {};
	_free_ struct own_time *own = NULL;

	if (sum_rows(g, threads, m, &sums))
		return -ENOMEM;
	own = own_sums__divide(&sums, NULL, m->n);
	if (!own)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->n; i++)
		m->rows[i].own =
			g->by_query ? own[i] : (struct own_time){.cpu_ns = m->rows[i].cpu_ns};
	return 0;
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
	err = err ?: add_own(g, threads, &m);
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
	table__destroy(&g->queries);
	free(g);
}
