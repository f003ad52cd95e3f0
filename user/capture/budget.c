// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "capture/budget_state.h"
#include "capture/units.h"

/*
 * In a compiler a hit costs more than where it is measured, and what it does to the caches is paid
 * later: measured, see docs/overhead.md. In percent.
 */
#define COMPILER_FACTOR 150
/*
 * What it takes a compiler that the page of a site is exchanged under it: the difference between a
 * budget's compile and its hits, by sites that came and went.
 */
#define SWITCH_NS UINT64_C(20000)
/* Open spans get so long to end before their ends are taken away. */
#define OPEN_NS 4000000ull

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

/* What --events leaves out runs within what it does not, so its probes are there all the same. */
static bool is_told(const struct budget *b, const struct plan *plan, uint32_t query)
{
	return !b->filter || filter__passes(b->filter, FILTER_QUERY, plan->queries[query].name);
}

static void add_queries(struct budget *b, uint8_t lib, const struct plan *plan,
			const struct governor_query *queries, uint32_t set_base, uint32_t n_sets)
{
	struct units *units = kernel__units(b->kernel, lib);

	b->first_query[lib] = b->n_queries + 1;
	b->queries_of[lib] = plan->n_queries;
	for (uint32_t i = 0; i < n_sets; i++)
		b->sets[b->n_sets++] = (struct watched_set){.lib = lib, .set = i};
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		bool told = is_told(b, plan, i);

		b->hides |= !told;
		b->queries[b->n_queries++] = (struct watched){
			.lib = lib,
			.query = i,
			.set = set_base + queries[i].set,
			.wrapped = queries[i].wrapped,
			.present = told && units && units__has_starts(units, i),
			.learns = told,
		};
	}
}

static void describe(const struct budget *b, const struct plan *plan, const uint32_t *set_of,
		     const struct rates *known, struct governor_query *queries)
{
	for (uint32_t i = 0; i < plan->n_queries; i++)
		queries[i] = (struct governor_query){
			.set = set_of[i],
			.wrapped = plan->queries[i].start_role == WIRE_ROLE_WRAPPER,
			.rate = is_told(b, plan, i) ? rates__of(known, i) : 0,
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
	/* Those that are wanted are there already. */
	_free_ bool *no_groups = calloc(b->guards[lib].n_groups + 1ul, sizeof(*no_groups));

	if (!starts || !ends || !no_groups)
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
	return units__attach(kernel__units(b->kernel, lib), starts, ends, no_groups);
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
	describe(b, plan, set_of, b->known[lib], queries);
	err = governor__add(b->governor, queries, plan->n_queries, (uint32_t)n_sets, &base,
			    &set_base);
	if (err)
		return err;
	add_queries(b, lib, plan, queries, set_base, (uint32_t)n_sets);
	b->added_ns = clock_ns(CLOCK_MONOTONIC);
	b->untold = true;
	err = budget__add_guards(b, lib, plan);
	if (err)
		return err;
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
		err = units__attach(kernel__units(b->kernel, lib), NULL, NULL, NULL);
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

int budget__tell_foreseen(struct budget *b)
{
	int err = 0;

	for (uint32_t i = 0; i < b->n_queries && b->untold && !err; i++)
		err = tell(b, i, b->added_ns);
	if (b->untold && !err)
		err = budget__tell_foreseen_guards(b);
	b->untold = false;
	return err;
}

/* ---- What is watched ------------------------------------------------------------------------- */

static void set_counts(struct budget *b, struct watched *q, bool counts)
{
	kernel__count_only(b->kernel, q->lib, q->query, counts);
	q->counts = counts;
}

int budget__pay(struct budget *b, int sites)
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
	err = budget__pay(b,
			  units__set_starts(kernel__units(b->kernel, q->lib), q->query, attached));
	if (err)
		return err;
	q->starts = attached;
	if (!attached)
		budget__open_gap(b, i);
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
			kernel__lapse(b->kernel, q->lib, q->query);
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
		budget__close_gap(b, i, q->rate_before);
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
	err = budget__pay(b, units__set_ends(kernel__units(b->kernel, s->lib), s->set, true));
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
			kernel__lapse(b->kernel, s->lib, b->queries[j].query);
	s->end_ns = 0;
	s->ends = false;
	return budget__pay(b, units__set_ends(kernel__units(b->kernel, s->lib), s->set, false));
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
			budget__close_gap(b, i, governor__sample(b->governor, i));
	return apply(b, now_ns);
}

int budget__tick(struct budget *b, uint64_t now_ns)
{
	int err;

	if (now_ns - b->ticked_ns < BUDGET_TICK_MS * 1000000ull / 2)
		return 0;
	b->ticked_ns = now_ns;
	err = budget__tell_foreseen(b);
	budget__advance(b);
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
	b->known[lib]->turn += b->budget_ppm != 0;
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
	err = budget__tell_foreseen(b);
	err = err ?: budget__remove_processes(b);
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
	budget__free_guards(b);
	free(b->processes);
	free(b->queries);
	free(b->sets);
	governor__free(b->governor);
	free(b);
}
