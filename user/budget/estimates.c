// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/estimates.h"

#include <errno.h>
#include <math.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"

/* A gap that took too little CPU time to be measured. */
#define TINY_S 1e-9
/* Hits of starts that were detached this long ago have surely been counted. */
#define GONE_NS 200000000ull
/*
 * The share of invocation ids that are executions of queries, in compilers without incremental
 * compilation: 0.897 to 0.944 on five crates. The other ids are tasks of other kinds. With
 * incremental compilation, rustc also numbers nodes that it does not execute.
 */
#define FEWEST_PER_ID  0.89
#define MOST_PER_ID    0.95
#define TYPICAL_PER_ID 0.93
/* In place of a gap: other probes count every execution in spite of it. */
#define NO_GAP (-1e18)

struct query {
	struct estimates_query is;
	struct rates_query *learnt;
	bool watched;	    /* its starts are attached */
	double rate_before; /* the gap */
	uint64_t gone_ns;   /* when its starts were detached */
};

/* A compiler. */
struct process {
	pid_t pid;
	clockid_t clock;
	uint64_t cpu_ns;
	uint64_t seen;	  /* executions of queries */
	uint32_t last_id; /* the greatest invocation id */
	uint8_t lib;	  /* of the last interval that was recorded */
	bool has_lib;	  /* there was one */
	bool incremental; /* or maybe */
	struct unseen {
		double gap;	   /* CPU seconds of the open gap */
		double executions; /* estimated for the gaps before it */
	} * unseen;		   /* by query */
};

struct estimates {
	struct estimates_sink sink;
	struct query *queries;
	uint32_t n_queries;
	struct process *processes;
	uint32_t n_processes;
	uint32_t room;
	uint64_t cpu_ns;
	bool hides; /* the filter leaves out queries: their ids are among the others' */
};

int estimates__new(const struct estimates_sink *sink, struct estimates **out)
{
	struct estimates *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->sink = *sink;
	*out = e;
	return 0;
}

/* ---- Queries --------------------------------------------------------------------------------- */

static int grow_process(struct process *p, size_t from, size_t to)
{
	struct unseen *unseen = reallocarray(p->unseen, to + 1, sizeof(*unseen));

	if (!unseen)
		return -ENOMEM;
	p->unseen = unseen;
	for (size_t i = from; i < to; i++)
		unseen[i] = (struct unseen){0};
	return 0;
}

int estimates__reserve(struct estimates *e, uint32_t n)
{
	size_t most = (size_t)e->n_queries + n;
	struct query *queries = reallocarray(e->queries, most + 1, sizeof(*queries));

	if (!queries)
		return -ENOMEM;
	e->queries = queries;
	for (uint32_t i = 0; i < e->n_processes; i++) {
		int err = grow_process(&e->processes[i], e->n_queries, most);

		if (err)
			return err;
	}
	return 0;
}

void estimates__add_query(struct estimates *e, const struct estimates_query *q,
			  struct rates *learnt)
{
	e->hides |= !q->recorded;
	e->queries[e->n_queries++] =
		(struct query){.is = *q, .learnt = &learnt->queries[q->number]};
}

/* ---- Gaps ------------------------------------------------------------------------------------ */

void estimates__begin(struct estimates *e, uint32_t query, bool watched, double rate,
		      uint64_t now_ns)
{
	struct query *q = &e->queries[query];

	q->watched = watched;
	q->rate_before = rate;
	q->gone_ns = now_ns;
}

void estimates__open_gap(struct estimates *e, uint32_t query, double rate, uint64_t now_ns)
{
	estimates__begin(e, query, false, rate, now_ns);
	/* A gap without measurable CPU time may still hide an execution. */
	for (uint32_t i = 0; i < e->n_processes; i++)
		e->processes[i].unseen[query].gap += TINY_S;
}

void estimates__watch(struct estimates *e, uint32_t query)
{
	e->queries[query].watched = true;
}

void estimates__close_gap(struct estimates *e, uint32_t query, double after)
{
	struct query *q = &e->queries[query];
	double rate = (q->rate_before + after) / 2;

	for (uint32_t i = 0; i < e->n_processes; i++) {
		struct unseen *u = &e->processes[i].unseen[query];

		if (u->gap <= 0)
			continue;
		/* Not 0: an estimate of none does not make the count exact. */
		u->executions += u->gap * rate + TINY_S;
		u->gap = 0;
	}
	q->rate_before = after;
}

double estimates__rate_before(const struct estimates *e, uint32_t query)
{
	return e->queries[query].rate_before;
}

/* ---- Compilers ------------------------------------------------------------------------------- */

static struct process *find_process(const struct estimates *e, pid_t pid)
{
	for (uint32_t i = 0; i < e->n_processes; i++)
		if (e->processes[i].pid == pid)
			return &e->processes[i];
	return NULL;
}

bool estimates__has_process(const struct estimates *e, pid_t pid)
{
	return find_process(e, pid);
}

/* CPU time so far; of a process that is gone, as it was last read. */
static uint64_t cpu_of(const struct process *p)
{
	struct timespec ts;

	if (clock_gettime(p->clock, &ts))
		return p->cpu_ns;
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/*
 * The CPU time that counts of a process that was just met. Probes may not take a share of the time
 * before they were attached, and a process cannot have used more than has passed since.
 */
static uint64_t creditable_ns(const struct process *p, uint64_t attached_ns)
{
	uint64_t since_ns = clock_ns(CLOCK_MONOTONIC) - attached_ns;

	return p->cpu_ns < since_ns ? p->cpu_ns : since_ns;
}

int estimates__add_process(struct estimates *e, pid_t pid, bool incremental, uint64_t attached_ns)
{
	struct process p = {.pid = pid, .incremental = incremental};

	if (clock_getcpuclockid(pid, &p.clock))
		return -ESRCH;
	if (array__reserve_one(&e->processes, e->n_processes, &e->room, sizeof(p)) ||
	    grow_process(&p, 0, e->n_queries))
		return -ENOMEM;
	p.cpu_ns = cpu_of(&p);
	e->cpu_ns += creditable_ns(&p, attached_ns);
	for (uint32_t i = 0; i < e->n_queries; i++)
		p.unseen[i].gap = e->queries[i].watched ? 0 : TINY_S;
	e->processes[e->n_processes++] = p;
	return 0;
}

/* Its new CPU time extends the open gaps, and the time in which the other queries were watched. */
static void advance(struct estimates *e, struct process *p)
{
	uint64_t cpu_ns = cpu_of(p);
	double more = cpu_ns > p->cpu_ns ? (double)(cpu_ns - p->cpu_ns) / 1e9 : 0;

	e->cpu_ns += cpu_ns > p->cpu_ns ? cpu_ns - p->cpu_ns : 0;
	p->cpu_ns = cpu_ns;
	if (p->has_lib)
		e->sink.used_cpu(e->sink.ctx, p->lib, more);
	for (uint32_t i = 0; i < e->n_queries; i++) {
		const struct query *q = &e->queries[i];

		if (!q->watched)
			p->unseen[i].gap += more;
		else if (p->seen && q->is.lib == p->lib && q->is.recorded)
			q->learnt->cpu_s += more;
	}
}

/* Executions of a query that were not seen, by its rates; negative if all were seen. */
static double guess(const struct estimates *e, const struct process *p, uint32_t i)
{
	const struct query *q = &e->queries[i];
	const struct unseen *u = &p->unseen[i];
	double gap = u->gap > 0 ? u->gap : 0;

	if (!q->is.present || u->gap <= NO_GAP / 2 || (u->executions == 0 && gap == 0))
		return -1;
	return u->executions + gap * q->rate_before;
}

static double not_seen(const struct process *p, double per_id)
{
	double executions = (double)p->last_id * per_id;

	return executions > (double)p->seen ? executions - (double)p->seen : 0;
}

/*
 * The factor for all estimates of a process. The ids show within a few percent how many executions
 * of all queries there were: if the estimates add up to another number, they are wrong by it.
 */
static double correction(const struct estimates *e, const struct process *p)
{
	/* The ids are only an upper limit if they number more than the recorded queries. */
	bool limit = p->incremental || e->hides;
	double least = not_seen(p, limit ? 0 : FEWEST_PER_ID);
	double most = not_seen(p, limit ? 1 : MOST_PER_ID);
	double typical = limit ? most : not_seen(p, TYPICAL_PER_ID), sum = 0;

	for (uint32_t i = 0; i < e->n_queries; i++) {
		double more = guess(e, p, i);

		sum += more > 0 ? more : 0;
	}
	if (!p->last_id || sum < 1 || (sum >= least && sum <= most))
		return 1;
	return typical / sum;
}

static int report(struct estimates *e, const struct process *p, uint32_t i, double factor)
{
	double more = guess(e, p, i) * factor;
	uint64_t events = more > 0 ? (uint64_t)llround(more) : 0;

	/* An estimate of none is reported too: the count is not exact. */
	if (guess(e, p, i) < 0)
		return 0;
	return e->sink.estimated(e->sink.ctx, p->pid, i, events);
}

static int remove_process(struct estimates *e, struct process *p)
{
	double factor;
	int err = 0;

	advance(e, p);
	factor = correction(e, p);
	for (uint32_t i = 0; i < e->n_queries && !err; i++)
		err = report(e, p, i, factor);
	free(p->unseen);
	*p = e->processes[--e->n_processes];
	return err;
}

int estimates__remove_process(struct estimates *e, pid_t pid)
{
	struct process *p = find_process(e, pid);

	return p ? remove_process(e, p) : 0;
}

int estimates__remove_all(struct estimates *e)
{
	int err = 0;

	while (e->n_processes && !err)
		err = remove_process(e, &e->processes[0]);
	return err;
}

void estimates__advance(struct estimates *e)
{
	for (uint32_t i = 0; i < e->n_processes; i++)
		advance(e, &e->processes[i]);
}

uint64_t estimates__cpu_ns(const struct estimates *e)
{
	return e->cpu_ns;
}

uint32_t estimates__n_processes(const struct estimates *e)
{
	return e->n_processes;
}

/* ---- Records --------------------------------------------------------------------------------- */

/* `p` is NULL if the process is not known. */
static void add_seen(struct estimates *e, struct process *p, uint32_t query, uint64_t n)
{
	const struct query *q = &e->queries[query];

	q->learnt->executions += (double)n;
	if (!p)
		return;
	p->seen += n;
	p->lib = q->is.lib;
	p->has_lib = true;
}

void estimates__saw_span(struct estimates *e, uint32_t query, const struct wire_span *r)
{
	struct process *p = find_process(e, (pid_t)r->pid);

	add_seen(e, p, query, 1);
	if (p && r->invocation != WIRE_NO_INVOCATION && r->invocation > p->last_id)
		p->last_id = r->invocation;
}

/*
 * In incremental compilers, the probes that identify the query of a shared body also count queries
 * whose starts are detached: then every execution is counted. At least one execution of the record
 * must be new, and not a late report from before the gap.
 */
static bool is_identified(const struct query *q, const struct wire_counted *r)
{
	return q->is.wrapped && !q->watched && r->n >= WIRE_COUNTED_STEP &&
	       r->time_ns > q->gone_ns + GONE_NS;
}

void estimates__saw_counted(struct estimates *e, uint32_t query, const struct wire_counted *r)
{
	struct process *p = find_process(e, (pid_t)r->pid);

	add_seen(e, p, query, r->n);
	if (p && is_identified(&e->queries[query], r))
		p->unseen[query].gap = NO_GAP;
}

void estimates__saw_library(struct estimates *e, pid_t pid, uint8_t lib)
{
	struct process *p = find_process(e, pid);

	if (!p)
		return;
	p->lib = lib;
	p->has_lib = true;
}

void estimates__free(struct estimates *e)
{
	if (!e)
		return;
	while (e->n_processes)
		free(e->processes[--e->n_processes].unseen);
	free(e->processes);
	free(e->queries);
	free(e);
}
