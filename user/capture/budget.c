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
#include "capture/processes.h"
#include "capture/rates.h"
#include "capture/units.h"

/*
 * In a compiler a hit costs more than where it is measured, and what it does to the caches is paid
 * later: measured, see docs/overhead.md. In percent.
 */
#define COMPILER_FACTOR 150
/*
 * CPU time that a compiler takes longer to start for each site of its copy of the library.
 * Measured: see docs/budget.md.
 */
#define SITE_NS UINT64_C(5500)
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
/*
 * Of the invocation ids that a compiler without incremental compilation gives, so many are
 * executions of queries, the others tasks of other kinds: 0.90 to 0.94 on five crates.
 */
#define EXECUTIONS_PER_ID 0.93
/* In place of a gap: all is seen in spite of it. */
#define NO_GAP (-1e18)

/* A query as it is watched now. */
struct watched {
	uint8_t lib;
	uint32_t query; /* of the plan */
	uint32_t set;	/* of the governor */
	bool wrapped;
	bool present; /* there are probes at its starts */
	bool learns;  /* its executions are told, unless it is not watched */
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
	uint64_t seen;	   /* executions of queries */
	uint32_t last_id;  /* the greatest invocation id */
	uint8_t lib;	   /* of the last execution that was seen */
	bool incremental;  /* or maybe */
	double *gaps;	   /* CPU seconds not watched, by query, since it was last taken away */
	double *estimated; /* executions before that */
};

struct budget {
	struct kernel *kernel;
	struct budget_sink sink;
	struct governor *governor;
	const struct filter *filter; /* or NULL */
	uint64_t budget_ppm;	     /* 0: nothing is governed, only learnt */
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
	struct rates *known[WIRE_WATCHED_LIBS];	 /* from earlier recordings */
	struct rates *learnt[WIRE_WATCHED_LIBS]; /* from this one */
	uint64_t added_ns;			 /* when the last library was */
	bool untold;				 /* what was decided then */
	uint64_t installed_ns;			 /* what the probes took the compilers to start */
	uint64_t cpu_ns;			 /* of all compilers so far */
	uint64_t switched_ns;			 /* that probes came and went took the compilers */
	uint64_t ticked_ns;
};

int budget__new(struct kernel *k, uint64_t budget_ppm, const struct filter *filter,
		const struct budget_sink *sink, struct budget **out)
{
	struct budget *b = calloc(1, sizeof(*b));

	if (!b || governor__new(budget_ppm, &b->governor)) {
		free(b);
		return -ENOMEM;
	}
	b->kernel = k;
	b->budget_ppm = budget_ppm;
	b->filter = filter;
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
	const struct filter *f = b->filter;

	b->first_query[lib] = b->n_queries + 1;
	b->queries_of[lib] = plan->n_queries;
	for (uint32_t i = 0; i < n_sets; i++)
		b->sets[b->n_sets++] = (struct watched_set){.lib = lib, .set = i};
	for (uint32_t i = 0; i < plan->n_queries; i++)
		b->queries[b->n_queries++] = (struct watched){
			.lib = lib,
			.query = i,
			.set = set_base + queries[i].set,
			.wrapped = queries[i].wrapped,
			.present = units && units__has_starts(units, i),
			.learns = !f || filter__passes(f, FILTER_QUERY, plan->queries[i].name),
		};
}

static void describe(const struct plan *plan, const uint32_t *set_of, const struct rates *known,
		     struct governor_query *queries)
{
	for (uint32_t i = 0; i < plan->n_queries; i++)
		queries[i] = (struct governor_query){
			.set = set_of[i],
			.wrapped = plan->queries[i].start_role == WIRE_ROLE_WRAPPER,
			.rate = rates__of(known, i),
			.mean_ns = known->queries[i].mean_ns,
		};
}

/* What fits, if it is as it was, beside what it takes a compiler to start. */
static void foresee(struct budget *b, uint8_t lib, const struct plan *plan)
{
	uint64_t sites = kernel__sites(b->kernel, lib) + 3ul * plan->n_queries;
	struct governor_load load = {.now_ns = b->added_ns, .other_ns = sites * SITE_NS};

	governor__foresee(b->governor, &load, b->hit_ps);
}

/* The last queries and sets are those of the library. */
static int attach_wanted(struct budget *b, uint8_t lib, uint32_t base, uint32_t set_base)
{
	_free_ bool *starts = calloc(b->n_queries - base + 1ul, sizeof(*starts));
	_free_ bool *ends = calloc(b->n_sets - set_base + 1ul, sizeof(*ends));

	if (!starts || !ends)
		return -ENOMEM;
	for (uint32_t i = set_base; i < b->n_sets; i++)
		b->sets[i].ends = ends[i - set_base] = governor__wants_ends(b->governor, i);
	for (uint32_t i = base; i < b->n_queries; i++) {
		struct watched *q = &b->queries[i];

		q->starts = starts[i - base] = governor__wants_starts(b->governor, i);
		q->rate_before = governor__rate(b->governor, i);
		q->gone_ns = b->added_ns;
		q->counts = governor__watch(b->governor, i) != GOVERNOR_FULL;
		kernel__count_only(b->kernel, lib, q->query, q->counts);
	}
	return units__attach(kernel__units(b->kernel, lib), starts, ends);
}

/* Without a budget all is attached, for good. */
static void see_all(struct budget *b, uint32_t base)
{
	for (uint32_t i = base; i < b->n_queries; i++)
		b->queries[i].starts = true;
}

static int keep(struct budget *b, uint8_t lib, const struct plan *plan)
{
	_free_ uint32_t *set_of = calloc(plan->n_queries + 1ul, sizeof(*set_of));
	_free_ struct governor_query *queries = calloc(plan->n_queries + 1ul, sizeof(*queries));
	int n_sets = set_of && queries ? units_find_sets(plan, set_of) : -ENOMEM;
	uint32_t base, set_base;
	int err = n_sets < 0 ? n_sets : rates__load(plan, &b->known[lib]);

	if (!err)
		err = rates__new(plan, &b->learnt[lib]);
	if (!err)
		err = reserve(b, plan->n_queries, (uint32_t)n_sets);
	if (err)
		return err;
	describe(plan, set_of, b->known[lib], queries);
	err = governor__add(b->governor, queries, plan->n_queries, (uint32_t)n_sets, &base,
			    &set_base);
	if (err)
		return err;
	add_queries(b, lib, plan, queries, set_base, (uint32_t)n_sets);
	b->added_ns = clock_ns(CLOCK_MONOTONIC);
	b->untold = true;
	if (!b->budget_ppm) {
		see_all(b, base);
		return 0;
	}
	foresee(b, lib, plan);
	err = attach_wanted(b, lib, base, set_base);
	diag_verbose("attached %u probes at first, as %s", kernel__sites(b->kernel, lib),
		     !rates__is_empty(b->known[lib]) ? "earlier recordings tell what to expect"
						     : "nothing is known of this library yet");
	return err;
}

int budget__add_library(struct budget *b, uint8_t lib, const struct plan *plan)
{
	int err;

	if (!plan->n_queries)
		return 0;
	if (lib >= WIRE_WATCHED_LIBS || plan->n_queries > WIRE_WATCHED_QUERIES) {
		if (!b->budget_ppm)
			return 0;
		diag_warn("no budget is kept for %s: there are too many of its kind", plan->path);
		err = units__attach(kernel__units(b->kernel, lib), NULL, NULL);
	} else {
		err = keep(b, lib, plan);
	}
	return err ? diag_error_r(err, "cannot attach to %s: %s", plan->path, strerror(-err)) : 0;
}

/* ---- Decisions ------------------------------------------------------------------------------- */

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

/* What was decided when libraries were added: nobody could be told then. */
static int tell_foreseen(struct budget *b)
{
	int err = 0;

	for (uint32_t i = 0; i < b->n_queries && b->untold && !err; i++)
		err = tell(b, i, b->added_ns);
	b->untold = false;
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

/*
 * With incremental compilation, ids are given to what is not executed, too. Nobody tells whether it
 * is on but the command line; what cannot be read there may be.
 */
static bool may_be_incremental(pid_t pid)
{
	char args[16384];
	size_t len = process_arguments(pid, args, sizeof(args));

	if (!len || len == sizeof(args) || args[0] == '@')
		return true;
	return memmem(args, len, "incremental", strlen("incremental")) ||
	       memmem(args, len, "\0@", 2);
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
	p.incremental = may_be_incremental(pid);
	b->cpu_ns += p.cpu_ns;
	b->installed_ns += install_ns(b);
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

/*
 * What to multiply guesses with. The ids tell how many there were of all queries together, but for
 * those that only incremental compilation gives: then they are but a limit.
 */
static double correction(const struct budget *b, const struct process *p)
{
	double ids = (double)p->last_id * (p->incremental ? 1 : EXECUTIONS_PER_ID);
	double unseen = ids > (double)p->seen ? ids - (double)p->seen : 0, sum = 0;

	for (uint32_t i = 0; i < b->n_queries; i++) {
		double more = guess(b, p, i);

		sum += more > 0 ? more : 0;
	}
	if (!p->last_id || sum < 1 || (p->incremental && sum <= unseen))
		return 1;
	return unseen / sum;
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
}

static void on_span(struct budget *b, const struct wire_span *r)
{
	struct process *p;
	uint32_t i;

	if (r->kind != WIRE_KIND_QUERY || !find_query(b, r->lib, r->query, &i))
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
		return tell_foreseen(b) ?: add_process(b, (pid_t)thread->pid);
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

static int govern(struct budget *b, uint64_t now_ns)
{
	struct governor_load load = {
		.now_ns = now_ns,
		.cpu_ns = b->cpu_ns,
		.hits = kernel__hits(b->kernel),
		.other_ns = b->installed_ns + b->switched_ns,
	};
	int err = 0;

	load.spent_ns = load.hits * b->hit_ps / 1000;
	for (uint32_t i = 0; i < b->n_sets && !err; i++)
		err = detach_ends(b, i, now_ns);
	if (err || !governor__tick(b->governor, &load))
		return err;
	for (uint32_t i = 0; i < b->n_queries; i++)
		if (governor__sampled(b->governor, i) && b->queries[i].sampled)
			close_gap(b, i, governor__sample(b->governor, i));
	return apply(b, now_ns);
}

int budget__tick(struct budget *b, uint64_t now_ns)
{
	int err;

	if (now_ns - b->ticked_ns < BUDGET_TICK_MS * 1000000ull / 2)
		return 0;
	b->ticked_ns = now_ns;
	err = tell_foreseen(b);
	for (uint32_t i = 0; i < b->n_processes; i++)
		advance(b, &b->processes[i]);
	if (err || !b->budget_ppm)
		return err;
	err = govern(b, now_ns);
	return err ? diag_error_r(err, "cannot keep the budget: %s", strerror(-err)) : 0;
}

/* For the next recording. */
static void remember(struct budget *b, uint8_t lib)
{
	if (!b->first_query[lib])
		return;
	for (uint32_t i = 0; i < b->queries_of[lib]; i++)
		b->learnt[lib]->queries[i].mean_ns =
			governor__mean_ns(b->governor, b->first_query[lib] - 1 + i);
	rates__add(b->known[lib], b->learnt[lib]);
	rates__store(b->known[lib]);
}

int budget__finish(struct budget *b)
{
	int err = 0;

	if (b->budget_ppm)
		diag_verbose("hits took %" PRIu64 " ms of %" PRIu64
			     " ms of the compilers' CPU time, probes that "
			     "came and went %" PRIu64 " ms",
			     kernel__hits(b->kernel) * b->hit_ps / 1000000000, b->cpu_ns / 1000000,
			     (b->switched_ns + b->installed_ns) / 1000000);
	err = tell_foreseen(b);
	while (b->n_processes && !err)
		err = remove_process(b, &b->processes[0]);
	for (uint8_t lib = 0; lib < WIRE_WATCHED_LIBS && !err; lib++)
		remember(b, lib);
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
	for (uint8_t lib = 0; lib < WIRE_WATCHED_LIBS; lib++) {
		rates__free(b->known[lib]);
		rates__free(b->learnt[lib]);
	}
	free(b->processes);
	free(b->queries);
	free(b->sets);
	governor__free(b->governor);
	free(b);
}
