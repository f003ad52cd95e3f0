// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <math.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "capture/budget_state.h"

/* Some of the time of a process that is too short to be told. */
#define TINY_S 1e-9
/* Starts that were taken away so long ago have surely gone. */
#define GONE_NS 200000000ull
/*
 * Of the invocation ids that a compiler without incremental compilation gives, so many are
 * executions of queries, the others tasks of other kinds: 0.897 to 0.944 on five crates. With it,
 * ids are given to what is not executed, too.
 */
#define FEWEST_PER_ID  0.89
#define MOST_PER_ID    0.95
#define TYPICAL_PER_ID 0.93
/* In place of a gap: all is seen in spite of it. */
#define NO_GAP (-1e18)

/* ---- Processes ------------------------------------------------------------------------------- */

static struct process *find_process(struct budget *b, pid_t pid)
{
	for (uint32_t i = 0; i < b->n_processes; i++)
		if (b->processes[i].pid == pid)
			return &b->processes[i];
	return NULL;
}

/* What it has taken so far, or, once it is gone, had when it was last asked. */
static uint64_t cpu_of(const struct process *p)
{
	struct timespec ts;

	if (clock_gettime(p->clock, &ts))
		return p->cpu_ns;
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/*
 * CPU time of a process that was just met. What it took before there were probes is none that they
 * may take a share of; it cannot have taken more than has passed since then.
 */
static uint64_t creditable_ns(const struct budget *b, const struct process *p)
{
	uint64_t since_ns = clock_ns(CLOCK_MONOTONIC) - b->added_ns;

	return p->cpu_ns < since_ns ? p->cpu_ns : since_ns;
}

/* What it took to start, which is not told of. Its library is not known yet: that with most. */
static uint64_t install_ns(const struct budget *b)
{
	uint32_t most = 0;

	for (uint8_t lib = 0; lib < WIRE_WATCHED_LIBS; lib++) {
		uint32_t n = b->first_query[lib] ? kernel__sites(b->kernel, lib) : 0;

		most = n > most ? n : most;
	}
	return most * SITE_NS;
}

/* A process whose first thread hit a probe. */
static int add_process(struct budget *b, pid_t pid)
{
	struct process p = {.pid = pid};
	struct process *known = find_process(b, pid);
	struct command_says says;

	if (known || clock_getcpuclockid(pid, &p.clock))
		return 0;
	p.gaps = calloc(b->n_queries + 1ul, sizeof(*p.gaps));
	p.estimated = calloc(b->n_queries + 1ul, sizeof(*p.estimated));
	if (!p.gaps || !p.estimated ||
	    array__reserve_one(&b->processes, b->n_processes, &b->most_processes, sizeof(p))) {
		free(p.gaps);
		free(p.estimated);
		return -ENOMEM;
	}
	p.cpu_ns = cpu_of(&p);
	says = budget_command_of(pid);
	p.incremental = says.incremental;
	b->cpu_ns += creditable_ns(b, &p);
	b->installed_ns += install_ns(b);
	for (uint32_t i = 0; i < b->n_queries; i++)
		p.gaps[i] = b->queries[i].starts ? 0 : TINY_S;
	b->processes[b->n_processes++] = p;
	return b->budget_ppm ? budget__heed(b, says) : 0;
}

/* Its CPU time goes on; what had no starts meanwhile was not seen. */
static void advance(struct budget *b, struct process *p)
{
	uint64_t cpu_ns = cpu_of(p);
	double more = cpu_ns > p->cpu_ns ? (double)(cpu_ns - p->cpu_ns) / 1e9 : 0;

	b->cpu_ns += cpu_ns > p->cpu_ns ? cpu_ns - p->cpu_ns : 0;
	p->cpu_ns = cpu_ns;
	if (p->has_lib)
		budget__learn_guards(b, p->lib, more);
	for (uint32_t i = 0; i < b->n_queries; i++) {
		const struct watched *q = &b->queries[i];

		if (!q->starts)
			p->gaps[i] += more;
		else if (p->seen && q->lib == p->lib && q->learns)
			b->learnt[q->lib]->queries[q->query].cpu_s += more;
	}
}

/* Executions that were not seen, as rates tell; negative if all were. */
static double guess(const struct budget *b, const struct process *p, uint32_t i)
{
	const struct watched *q = &b->queries[i];
	double gap = p->gaps[i] > 0 ? p->gaps[i] : 0;

	if (!q->present || p->gaps[i] <= NO_GAP / 2 || (p->estimated[i] == 0 && gap == 0))
		return -1;
	return p->estimated[i] + gap * q->rate_before;
}

static double not_seen(const struct process *p, double per_id)
{
	double executions = (double)p->last_id * per_id;

	return executions > (double)p->seen ? executions - (double)p->seen : 0;
}

/*
 * What to multiply guesses with. The ids tell how many executions there were of all queries
 * together, but for a few percent: guesses that add up to something else are wrong by this much.
 */
static double correction(const struct budget *b, const struct process *p)
{
	/* What is not told of has ids, too. */
	bool limit = p->incremental || b->hides;
	double least = not_seen(p, limit ? 0 : FEWEST_PER_ID);
	double most = not_seen(p, limit ? 1 : MOST_PER_ID);
	double typical = limit ? most : not_seen(p, TYPICAL_PER_ID), sum = 0;

	for (uint32_t i = 0; i < b->n_queries; i++) {
		double more = guess(b, p, i);

		sum += more > 0 ? more : 0;
	}
	if (!p->last_id || sum < 1 || (sum >= least && sum <= most))
		return 1;
	return typical / sum;
}

static int tell_estimated(struct budget *b, const struct process *p, uint32_t i, double factor)
{
	const struct watched *q = &b->queries[i];
	double more = guess(b, p, i) * factor;
	uint64_t events = more > 0 ? (uint64_t)llround(more) : 0;

	/* Guessed to be none is no exact count either. */
	if (guess(b, p, i) < 0)
		return 0;
	return b->sink.estimated(b->sink.ctx, p->pid, q->lib, q->query, events,
				 events * governor__mean_ns(b->governor, i));
}

static int remove_process(struct budget *b, struct process *p)
{
	double factor;
	int err = 0;

	advance(b, p);
	factor = correction(b, p);
	for (uint32_t i = 0; i < b->n_queries && !err; i++)
		err = tell_estimated(b, p, i, factor);
	free(p->gaps);
	free(p->estimated);
	*p = b->processes[--b->n_processes];
	return err;
}

void budget__advance(struct budget *b)
{
	for (uint32_t i = 0; i < b->n_processes; i++)
		advance(b, &b->processes[i]);
}

int budget__remove_processes(struct budget *b)
{
	int err = 0;

	while (b->n_processes && !err)
		err = remove_process(b, &b->processes[0]);
	return err;
}

/* ---- Gaps ------------------------------------------------------------------------------------ */

/* What was in the gap is guessed from both of its sides. */
void budget__close_gap(struct budget *b, uint32_t i, double after)
{
	struct watched *q = &b->queries[i];
	double rate = (q->rate_before + after) / 2;

	for (uint32_t j = 0; j < b->n_processes; j++) {
		struct process *p = &b->processes[j];

		if (p->gaps[i] <= 0)
			continue;
		/* Not 0: that none are guessed does not make it exact. */
		p->estimated[i] += p->gaps[i] * rate + TINY_S;
		p->gaps[i] = 0;
	}
	q->rate_before = after;
}

/* Even if no CPU time can be told to go by, something may not be seen. */
void budget__open_gap(struct budget *b, uint32_t i)
{
	b->queries[i].rate_before = governor__rate(b->governor, i);
	b->queries[i].gone_ns = b->ticked_ns;
	for (uint32_t j = 0; j < b->n_processes; j++)
		b->processes[j].gaps[i] += TINY_S;
}

/* ---- Records --------------------------------------------------------------------------------- */

static bool find_query(const struct budget *b, uint8_t lib, uint32_t query, uint32_t *i)
{
	if (lib >= WIRE_WATCHED_LIBS || !b->first_query[lib] || query >= b->queries_of[lib])
		return false;
	*i = b->first_query[lib] - 1 + query;
	return true;
}

/* Executions of query `i` were seen. */
static void note(struct budget *b, struct process *p, uint32_t i, uint64_t n)
{
	const struct watched *q = &b->queries[i];

	b->learnt[q->lib]->queries[q->query].executions += (double)n;
	if (!p)
		return;
	p->seen += n;
	p->lib = q->lib;
	p->has_lib = true;
}

/* An interval that is no query's. */
static void on_guard_span(struct budget *b, const struct wire_span *r)
{
	struct process *p = find_process(b, (pid_t)r->pid);

	if (r->lib >= WIRE_WATCHED_LIBS || !b->first_query[r->lib])
		return;
	budget__note_guard(b, r);
	if (p) {
		p->lib = r->lib;
		p->has_lib = true;
	}
}

static void on_span(struct budget *b, const struct wire_span *r)
{
	struct process *p;
	uint32_t i;

	if (r->kind != WIRE_KIND_QUERY) {
		on_guard_span(b, r);
		return;
	}
	if (!find_query(b, r->lib, r->query, &i))
		return;
	p = find_process(b, (pid_t)r->pid);
	note(b, p, i, 1);
	if (p && r->invocation != WIRE_NO_INVOCATION && r->invocation > p->last_id)
		p->last_id = r->invocation;
	if (r->flags & WIRE_SPAN_UNTIMED)
		governor__counted(b->governor, i, 1);
	else
		governor__recorded(b->governor, i, 1, r->end_ns - r->start_ns);
}

/* One of them at least was counted just now. */
static bool is_identified(const struct watched *q, const struct wire_counted *r)
{
	return q->wrapped && !q->starts && r->n >= WIRE_COUNTED_STEP &&
	       r->time_ns > q->gone_ns + GONE_NS;
}

/*
 * In incremental compilers, what tells the queries of shared bodies apart counts those too whose
 * starts are away: there they are all counted.
 */
static void on_counted(struct budget *b, const struct wire_counted *r)
{
	struct process *p = find_process(b, (pid_t)r->pid);
	uint32_t i;

	if (!find_query(b, r->lib, r->query, &i))
		return;
	governor__counted(b->governor, i, r->n);
	note(b, p, i, r->n);
	if (p && is_identified(&b->queries[i], r))
		p->gaps[i] = NO_GAP;
}

int budget__record(struct budget *b, const void *record, size_t size)
{
	const struct wire_thread *thread = record;
	const struct wire_exit *exit = record;
	struct process *p;

	switch (size ? *(const wire_u8 *)record : 0) {
	case WIRE_SPAN:
		on_span(b, record);
		return 0;
	case WIRE_COUNTED:
		on_counted(b, record);
		return 0;
	case WIRE_THREAD:
		return budget__tell_foreseen(b) ?: add_process(b, (pid_t)thread->pid);
	case WIRE_EXEC:
		return b->budget_ppm ? budget__heed_exec(b, record, size) : 0;
	case WIRE_EXIT:
		p = find_process(b, (pid_t)exit->pid);
		return p ? remove_process(b, p) : 0;
	default:
		return 0;
	}
}
