// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/budget.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/diag.h"
#include "capture/units.h"

/*
 * In a compiler a hit costs more than where it is measured, and what it does to the caches is paid
 * later: measured, see docs/overhead.md. In percent.
 */
#define COMPILER_FACTOR 150
/* CPU time that a compiler takes longer to start while its copy of the library gets the probes. */
#define START_NS UINT64_C(8000000)
/*
 * What it takes a compiler that the page of a site is exchanged under it: the difference between a
 * budget's compile and its hits, by sites that came and went.
 */
#define SWITCH_NS UINT64_C(20000)
/* Open spans get so long to end before their ends are taken away. */
#define OPEN_NS 4000000ull
/* Some of the time of a process that is too short to be told. */
#define TINY_S 1e-9
/* Starts that were taken away so long ago have surely gone. */
#define GONE_NS 200000000ull
/* In place of a gap: all is seen in spite of it. */
#define NO_GAP (-1e18)

/* A query as it is watched now. */
struct watched {
	uint8_t lib;
	uint32_t query; /* of the plan */
	uint32_t set;	/* of the governor */
	bool wrapped;
	bool present; /* there are probes at its starts */
	bool starts;  /* they are attached */
	bool counts;  /* they count, or do nothing */
	enum governor_watch told;
	bool sampled;	    /* counted for a tick, though it is off */
	double rate_before; /* the gap */
	uint64_t gone_ns;   /* when its starts were taken away */
};

struct watched_set {
	uint8_t lib;
	uint32_t set;	 /* of the units */
	bool ends;	 /* attached */
	uint64_t end_ns; /* they are to go then; 0: they are not */
};

/* A compiler. */
struct process {
	pid_t pid;
	clockid_t clock;
	uint64_t cpu_ns;
	uint64_t base_ns;
	double *gaps;	   /* CPU seconds not watched, by query, since it was last taken away */
	double *estimated; /* executions before that */
};

struct budget {
	struct kernel *kernel;
	struct budget_sink sink;
	struct governor *governor;
	uint64_t budget_ppm;
	uint64_t hit_ps;
	struct watched *queries;
	uint32_t n_queries;
	struct watched_set *sets;
	uint32_t n_sets;
	struct process *processes;
	uint32_t n_processes;
	uint32_t most_processes;
	uint32_t first_query[WIRE_WATCHED_LIBS]; /* of each library, plus 1; 0: none */
	uint32_t queries_of[WIRE_WATCHED_LIBS];
	uint64_t cpu_ns; /* of all compilers so far */
	uint64_t n_started;
	uint64_t switched_ns; /* that probes came and went took the compilers */
	uint64_t ticked_ns;
};

int budget__new(struct kernel *k, uint64_t budget_ppm, const struct budget_sink *sink,
		struct budget **out)
{
	struct budget *b = calloc(1, sizeof(*b));

	if (!b || governor__new(budget_ppm, &b->governor)) {
		free(b);
		return -ENOMEM;
	}
	b->kernel = k;
	b->budget_ppm = budget_ppm;
	b->sink = *sink;
	*out = b;
	return 0;
}

void budget__set_cost(struct budget *b, uint64_t hit_ps)
{
	b->hit_ps = hit_ps * COMPILER_FACTOR / 100;
}

/* ---- Libraries ------------------------------------------------------------------------------- */

static int reserve(struct budget *b, uint32_t n_queries, uint32_t n_sets)
{
	struct watched *queries =
		reallocarray(b->queries, b->n_queries + n_queries + 1ul, sizeof(*queries));
	struct watched_set *sets;

	if (!queries)
		return -ENOMEM;
	b->queries = queries;
	sets = reallocarray(b->sets, b->n_sets + n_sets + 1ul, sizeof(*sets));
	if (!sets)
		return -ENOMEM;
	b->sets = sets;
	/* Their arrays are of the queries there were. */
	for (uint32_t i = 0; i < b->n_processes; i++) {
		struct process *p = &b->processes[i];
		size_t n = b->n_queries + n_queries + 1ul;
		double *gaps = reallocarray(p->gaps, n, sizeof(*gaps)), *estimated;

		if (!gaps)
			return -ENOMEM;
		p->gaps = gaps;
		estimated = reallocarray(p->estimated, n, sizeof(*estimated));
		if (!estimated)
			return -ENOMEM;
		p->estimated = estimated;
		for (size_t j = b->n_queries; j < n; j++)
			gaps[j] = estimated[j] = 0;
	}
	return 0;
}

static void add_queries(struct budget *b, uint8_t lib, const struct plan *plan,
			const struct governor_query *queries, uint32_t set_base, uint32_t n_sets)
{
	struct units *units = kernel__units(b->kernel, lib);

	b->first_query[lib] = b->n_queries + 1;
	b->queries_of[lib] = plan->n_queries;
	for (uint32_t i = 0; i < n_sets; i++)
		b->sets[b->n_sets++] = (struct watched_set){.lib = lib, .set = i, .ends = true};
	for (uint32_t i = 0; i < plan->n_queries; i++)
		b->queries[b->n_queries++] = (struct watched){
			.lib = lib,
			.query = i,
			.set = set_base + queries[i].set,
			.wrapped = queries[i].wrapped,
			.present = units__has_starts(units, i),
			.starts = true,
		};
}

int budget__add_library(struct budget *b, uint8_t lib, const struct plan *plan)
{
	_free_ uint32_t *set_of = calloc(plan->n_queries + 1ul, sizeof(*set_of));
	_free_ struct governor_query *queries = calloc(plan->n_queries + 1ul, sizeof(*queries));
	uint32_t base, set_base;
	int n_sets, err;

	if (lib >= WIRE_WATCHED_LIBS || plan->n_queries > WIRE_WATCHED_QUERIES) {
		diag_warn("no budget is kept for %s: there are too many of its kind", plan->path);
		return 0;
	}
	n_sets = set_of && queries ? units_find_sets(plan, set_of) : -ENOMEM;
	if (n_sets < 0)
		return n_sets;
	for (uint32_t i = 0; i < plan->n_queries; i++)
		queries[i] = (struct governor_query){
			.set = set_of[i],
			.wrapped = plan->queries[i].start_role == WIRE_ROLE_WRAPPER,
		};
	err = reserve(b, plan->n_queries, (uint32_t)n_sets);
	if (!err)
		err = governor__add(b->governor, queries, plan->n_queries, (uint32_t)n_sets, &base,
				    &set_base);
	if (!err)
		add_queries(b, lib, plan, queries, set_base, (uint32_t)n_sets);
	return err;
}

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

/* A process whose first thread hit a probe. What it did before we saw it start is not ours. */
static int add_process(struct budget *b, pid_t pid, bool is_new)
{
	struct process p = {.pid = pid};
	struct process *known = find_process(b, pid);

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
	b->cpu_ns += is_new ? p.cpu_ns : 0;
	b->n_started++;
	for (uint32_t i = 0; i < b->n_queries; i++)
		p.gaps[i] = b->queries[i].starts ? 0 : TINY_S;
	b->processes[b->n_processes++] = p;
	return 0;
}

/* Its CPU time goes on; what had no starts meanwhile was not seen. */
static void advance(struct budget *b, struct process *p)
{
	uint64_t cpu_ns = cpu_of(p);
	double more = cpu_ns > p->cpu_ns ? (double)(cpu_ns - p->cpu_ns) / 1e9 : 0;

	b->cpu_ns += cpu_ns > p->cpu_ns ? cpu_ns - p->cpu_ns : 0;
	p->cpu_ns = cpu_ns;
	for (uint32_t i = 0; i < b->n_queries; i++)
		if (!b->queries[i].starts)
			p->gaps[i] += more;
}

static int tell_estimated(struct budget *b, const struct process *p, uint32_t i)
{
	const struct watched *q = &b->queries[i];
	double gap = p->gaps[i] > 0 ? p->gaps[i] : 0;
	uint64_t events = (uint64_t)llround(p->estimated[i] + gap * q->rate_before);

	/* Guessed to be none is no exact count either. */
	if (!q->present || p->gaps[i] <= NO_GAP / 2 || (p->estimated[i] == 0 && gap == 0))
		return 0;
	return b->sink.estimated(b->sink.ctx, p->pid, q->lib, q->query, events,
				 events * governor__mean_ns(b->governor, i));
}

static int remove_process(struct budget *b, struct process *p)
{
	int err = 0;

	advance(b, p);
	for (uint32_t i = 0; i < b->n_queries && !err; i++)
		err = tell_estimated(b, p, i);
	free(p->gaps);
	free(p->estimated);
	*p = b->processes[--b->n_processes];
	return err;
}

/* ---- Records --------------------------------------------------------------------------------- */

static bool find_query(const struct budget *b, uint8_t lib, uint32_t query, uint32_t *i)
{
	if (lib >= WIRE_WATCHED_LIBS || !b->first_query[lib] || query >= b->queries_of[lib])
		return false;
	*i = b->first_query[lib] - 1 + query;
	return true;
}

static void on_span(struct budget *b, const struct wire_span *r)
{
	uint32_t i;

	if (r->kind != WIRE_KIND_QUERY || !find_query(b, r->lib, r->query, &i))
		return;
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
		return add_process(b, (pid_t)thread->pid, true);
	case WIRE_EXIT:
		p = find_process(b, (pid_t)exit->pid);
		return p ? remove_process(b, p) : 0;
	default:
		return 0;
	}
}

/* ---- What is watched ------------------------------------------------------------------------- */

static void set_counts(struct budget *b, struct watched *q, bool counts)
{
	kernel__count_only(b->kernel, q->lib, q->query, counts);
	q->counts = counts;
}

/* What was in the gap is guessed from both of its sides. */
static void close_gap(struct budget *b, uint32_t i, double after)
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
static void open_gap(struct budget *b, uint32_t i)
{
	b->queries[i].rate_before = governor__rate(b->governor, i);
	b->queries[i].gone_ns = b->ticked_ns;
	for (uint32_t j = 0; j < b->n_processes; j++)
		b->processes[j].gaps[i] += TINY_S;
}

/* What units__set_starts() or _ends() returned: an error, or what is to be paid for. */
static int pay(struct budget *b, int sites)
{
	if (sites > 0)
		b->switched_ns += (uint64_t)sites * b->n_processes * SWITCH_NS;
	return sites < 0 ? sites : 0;
}

/* -EAGAIN: not yet. */
static int set_starts(struct budget *b, uint32_t i, bool attached)
{
	struct watched *q = &b->queries[i];
	int err;

	if (q->starts == attached)
		return 0;
	err = pay(b, units__set_starts(kernel__units(b->kernel, q->lib), q->query, attached));
	if (err)
		return err;
	q->starts = attached;
	if (!attached)
		open_gap(b, i);
	return 0;
}

/* What is less watched from now on: at once, but the ends of what is open are waited for. */
static int watch_less(struct budget *b, uint32_t i, uint64_t now_ns)
{
	struct watched *q = &b->queries[i];
	struct watched_set *s = &b->sets[q->set];
	enum governor_watch watch = governor__watch(b->governor, i);
	int err;

	if (!q->counts && watch != GOVERNOR_FULL) {
		set_counts(b, q, true);
		/* Any end of its bodies could be taken for its own from now on. */
		if (q->wrapped)
			kernel__lapse(b->kernel, q->lib, q->query, now_ns);
	}
	if (s->ends && !s->end_ns && !governor__wants_ends(b->governor, q->set))
		s->end_ns = now_ns + OPEN_NS;
	q->sampled = false;
	if (watch != GOVERNOR_OFF)
		return 0;
	err = set_starts(b, i, governor__samples(b->governor, i));
	q->sampled = q->starts;
	return err == -EAGAIN ? 0 : err;
}

/*
 * What is watched more. In this order: ends, starts of others, those of wrapped queries. What
 * cannot be yet is tried again at the next tick.
 */
static int watch_more(struct budget *b, uint32_t i, bool wrapped)
{
	struct watched *q = &b->queries[i];
	enum governor_watch watch = governor__watch(b->governor, i);
	bool was_there = q->starts;
	int err;

	if (q->wrapped != wrapped || watch == GOVERNOR_OFF)
		return 0;
	err = set_starts(b, i, true);
	if (err)
		return err == -EAGAIN ? 0 : err;
	if (!was_there)
		close_gap(b, i, q->rate_before);
	if (q->counts && watch == GOVERNOR_FULL && b->sets[q->set].ends)
		set_counts(b, q, false);
	return 0;
}

static int attach_ends(struct budget *b, uint32_t i)
{
	struct watched_set *s = &b->sets[i];
	int err;

	if (!governor__wants_ends(b->governor, i))
		return 0;
	s->end_ns = 0;
	if (s->ends)
		return 0;
	err = pay(b, units__set_ends(kernel__units(b->kernel, s->lib), s->set, true));
	s->ends = !err;
	return err == -EAGAIN ? 0 : err;
}

static int detach_ends(struct budget *b, uint32_t i, uint64_t now_ns)
{
	struct watched_set *s = &b->sets[i];

	if (!s->end_ns || now_ns < s->end_ns)
		return 0;
	for (uint32_t j = 0; j < b->n_queries; j++)
		if (b->queries[j].set == i)
			kernel__lapse(b->kernel, s->lib, b->queries[j].query, now_ns);
	s->end_ns = 0;
	s->ends = false;
	return pay(b, units__set_ends(kernel__units(b->kernel, s->lib), s->set, false));
}

static int tell(struct budget *b, uint32_t i, uint64_t now_ns)
{
	struct watched *q = &b->queries[i];
	struct session_decision d = {
		.time_ns = now_ns,
		.cost_ppm = governor__cost_ppm(b->governor),
		.budget_ppm = b->budget_ppm,
		.query = q->query,
		.lib = q->lib,
		.watch = governor__watch(b->governor, i),
	};

	if (d.watch == q->told || !q->present)
		return 0;
	q->told = d.watch;
	return b->sink.decision(b->sink.ctx, &d);
}

static int apply(struct budget *b, uint64_t now_ns)
{
	int err = 0;

	for (uint32_t i = 0; i < b->n_queries && !err; i++)
		err = tell(b, i, now_ns) ?: watch_less(b, i, now_ns);
	for (uint32_t i = 0; i < b->n_sets && !err; i++)
		err = attach_ends(b, i);
	for (uint32_t i = 0; i < b->n_queries && !err; i++)
		err = watch_more(b, i, false);
	for (uint32_t i = 0; i < b->n_queries && !err; i++)
		err = watch_more(b, i, true);
	return err;
}

static int cannot_keep(int err)
{
	return diag_error_r(err, "cannot keep the budget: %s", strerror(-err));
}

int budget__tick(struct budget *b, uint64_t now_ns)
{
	struct governor_load load = {.now_ns = now_ns, .hits = kernel__hits(b->kernel)};
	int err = 0;

	if (now_ns - b->ticked_ns < BUDGET_TICK_MS * 1000000ull / 2)
		return 0;
	b->ticked_ns = now_ns;
	for (uint32_t i = 0; i < b->n_processes; i++)
		advance(b, &b->processes[i]);
	load.cpu_ns = b->cpu_ns;
	load.spent_ns = load.hits * b->hit_ps / 1000;
	load.other_ns = b->n_started * START_NS + b->switched_ns;
	for (uint32_t i = 0; i < b->n_sets && !err; i++)
		err = detach_ends(b, i, now_ns);
	if (err || !governor__tick(b->governor, &load))
		return err ? cannot_keep(err) : 0;
	for (uint32_t i = 0; i < b->n_queries; i++)
		if (governor__sampled(b->governor, i) && b->queries[i].sampled)
			close_gap(b, i, governor__sample(b->governor, i));
	err = apply(b, now_ns);
	return err ? cannot_keep(err) : 0;
}

int budget__finish(struct budget *b)
{
	int err = 0;

	diag_verbose("hits took %" PRIu64 " ms of %" PRIu64
		     " ms of the compilers' CPU time, probes that "
		     "came and went %" PRIu64 " ms",
		     kernel__hits(b->kernel) * b->hit_ps / 1000000000, b->cpu_ns / 1000000,
		     (b->switched_ns + b->n_started * START_NS) / 1000000);
	while (b->n_processes && !err)
		err = remove_process(b, &b->processes[0]);
	return err;
}

void budget__free(struct budget *b)
{
	if (!b)
		return;
	while (b->n_processes) {
		free(b->processes[--b->n_processes].gaps);
		free(b->processes[b->n_processes].estimated);
	}
	free(b->processes);
	free(b->queries);
	free(b->sets);
	governor__free(b->governor);
	free(b);
}
