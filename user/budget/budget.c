// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/budget.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "budget/costs.h"
#include "budget/estimates.h"
#include "budget/guard_watch.h"
#include "budget/query_sets.h"
#include "budget/query_watch.h"
#include "budget/rates.h"
#include "proc/command_line.h"
#include "proc/programs.h"

/* The queries of a library have consecutive numbers in the governor. */
struct library {
	bool added;
	uint32_t first_query;
	uint32_t n_queries;
	struct rates *known;  /* from earlier recordings */
	struct rates *learnt; /* from this one */
};

struct budget {
	struct probe_control probes;
	struct budget_sink sink;
	uint64_t budget_ppm; /* 0: nothing is governed, only learnt */
	struct costs costs;
	struct governor *governor;
	struct estimates *estimates;
	struct query_watch *queries;
	struct guard_watch *guards;
	struct library libs[WIRE_WATCHED_LIBS];
	uint64_t added_ns; /* when the last library was added */
	bool unreported;   /* decisions were made then, before a process could be in the trace */
	uint64_t ticked_ns;
};

/* ---- Reports --------------------------------------------------------------------------------- */

static int on_decision(void *ctx, const struct session_decision *decision)
{
	struct budget *b = ctx;
	struct session_decision d = *decision;

	d.cost_ppm = governor__cost_ppm(b->governor);
	d.budget_ppm = b->budget_ppm;
	return b->sink.decision(b->sink.ctx, &d);
}

/* The library that a query of the governor is of. */
static uint8_t lib_of(const struct budget *b, uint32_t query)
{
	uint8_t lib = 0;

	while (!b->libs[lib].added || query - b->libs[lib].first_query >= b->libs[lib].n_queries)
		lib++;
	return lib;
}

static int on_estimated(void *ctx, pid_t pid, uint32_t query, uint64_t events)
{
	struct budget *b = ctx;
	uint8_t lib = lib_of(b, query);

	return b->sink.estimated(b->sink.ctx, pid, lib, query - b->libs[lib].first_query, events,
				 events * governor__mean_ns(b->governor, query));
}

static void on_used_cpu(void *ctx, uint8_t lib, double cpu_s)
{
	struct budget *b = ctx;

	guard_watch__used_cpu(b->guards, lib, cpu_s);
}

/* Decisions that were made as libraries were added: a trace takes none before its first process. */
static int report_first_decisions(struct budget *b)
{
	if (!b->unreported)
		return 0;
	b->unreported = false;
	return query_watch__report(b->queries, b->added_ns)
		       ?: guard_watch__report_left_out(b->guards, b->added_ns);
}

/* ---- Beginning ------------------------------------------------------------------------------- */

int budget__new(const struct probe_control *probes, uint64_t budget_ppm,
		const struct budget_sink *sink, struct budget **out)
{
	_budget_ struct budget *b = calloc(1, sizeof(*b));
	struct decision_sink decisions = {b, on_decision};
	struct estimates_sink estimates = {b, on_estimated, on_used_cpu};
	int err;

	if (!b)
		return -ENOMEM;
	b->probes = *probes;
	b->budget_ppm = budget_ppm;
	b->sink = *sink;
	err = governor__new(budget_ppm, &b->governor)
		      ?: estimates__new(&estimates, &b->estimates)
		      ?: guard_watch__new(probes, budget_ppm, &b->costs, &decisions, &b->guards);
	if (err)
		return err;
	err = query_watch__new(probes, b->governor, b->estimates, &b->costs, &decisions,
			       &b->queries);
	if (err)
		return err;
	*out = take_ptr(b);
	return 0;
}

void budget__set_cost(struct budget *b, uint64_t hit_ps)
{
	costs__set_hit(&b->costs, hit_ps);
}

/* ---- Libraries ------------------------------------------------------------------------------- */

static void describe(const struct budget_library *l, const uint32_t *set_of,
		     const struct rates *known, struct governor_query *queries)
{
	for (uint32_t i = 0; i < l->plan->n_queries; i++)
		queries[i] = (struct governor_query){
			.set = set_of[i],
			.wrapped = l->plan->queries[i].start_role == WIRE_ROLE_WRAPPER,
			.rate = l->queries[i] ? rates__of(known, i) : 0,
			.mean_ns = known->queries[i].mean_ns,
		};
}

/* Sites of a library that every compiler installs. */
static uint32_t sites_of(struct budget *b, uint8_t lib)
{
	return b->probes.sites(b->probes.ctx, lib);
}

static int attach_first(struct budget *b, const struct query_watch_library *l)
{
	const struct library *lib = &b->libs[l->lib];
	struct governor_load load = {
		.now_ns = b->added_ns,
		.other_ns = costs_of_install(sites_of(b, l->lib) + 3ul * l->plan->n_queries),
	};
	int err;

	governor__foresee(b->governor, &load, b->costs.hit_ps);
	err = query_watch__attach_first(b->queries, l, lib->first_query, b->added_ns);
	diag_verbose("attached %u probes at first, %s", sites_of(b, l->lib),
		     rates__is_empty(lib->known)
			     ? "as no earlier recording of this library is known"
			     : "by the rates of earlier recordings");
	return err;
}

/* Queries of the governor and of the watch are added together, or not at all. */
static int add_queries(struct budget *b, struct query_watch_library *w, uint32_t *first)
{
	int err = query_watch__reserve(b->queries, w->plan->n_queries, w->n_sets)
			  ?: governor__add(b->governor, w->queries, w->plan->n_queries, w->n_sets,
					   first, &w->first_set);

	if (!err)
		query_watch__add(b->queries, w);
	return err;
}

static int govern_library(struct budget *b, const struct budget_library *l)
{
	struct library *lib = &b->libs[l->lib];
	_free_ uint32_t *set_of = calloc(l->plan->n_queries + 1ul, sizeof(*set_of));
	_free_ struct governor_query *queries = calloc(l->plan->n_queries + 1ul, sizeof(*queries));
	int n_sets = set_of && queries ? query_sets_find(l->plan, set_of) : -ENOMEM;
	struct query_watch_library w = {
		.lib = l->lib,
		.plan = l->plan,
		.queries = queries,
		.recorded = l->queries,
		.n_sets = (uint32_t)n_sets,
	};
	int err;

	if (n_sets < 0)
		return n_sets;
	err = rates__load(l->plan, &lib->known) ?: rates__new(l->plan, &lib->learnt);
	if (err)
		return err;
	describe(l, set_of, lib->known, queries);
	w.learnt = lib->learnt;
	err = add_queries(b, &w, &lib->first_query);
	if (err)
		return err;
	lib->added = true;
	lib->n_queries = l->plan->n_queries;
	b->added_ns = clock_ns(CLOCK_MONOTONIC);
	b->unreported = true;
	err = guard_watch__add_library(b->guards, l->lib, l->plan, l->guards, lib->known,
				       lib->learnt);
	if (err)
		return err;
	if (b->budget_ppm)
		return attach_first(b, &w);
	query_watch__keep_all(b->queries, lib->first_query);
	return 0;
}

int budget__add_library(struct budget *b, const struct budget_library *l)
{
	int err;

	if (!l->plan->n_queries)
		return 0;
	if (l->lib < WIRE_WATCHED_LIBS && l->plan->n_queries <= WIRE_WATCHED_QUERIES) {
		err = govern_library(b, l);
	} else if (!b->budget_ppm) {
		return 0;
	} else {
		diag_warn("no budget is kept for %s: it is one library too many, or has too many "
			  "queries",
			  l->plan->path);
		err = b->probes.attach(b->probes.ctx, l->lib, NULL, NULL, NULL);
	}
	return err ? diag_error_r(err, "cannot attach to %s: %s", l->plan->path, strerror(-err))
		   : 0;
}

/* ---- Records --------------------------------------------------------------------------------- */

static bool find_query(const struct budget *b, uint8_t lib, uint32_t query, uint32_t *i)
{
	if (lib >= WIRE_WATCHED_LIBS || !b->libs[lib].added || query >= b->libs[lib].n_queries)
		return false;
	*i = b->libs[lib].first_query + query;
	return true;
}

static void on_guard_span(struct budget *b, const struct wire_span *r)
{
	if (r->lib >= WIRE_WATCHED_LIBS || !b->libs[r->lib].added)
		return;
	guard_watch__saw(b->guards, r);
	estimates__saw_library(b->estimates, (pid_t)r->pid, r->lib);
}

static void on_span(struct budget *b, const struct wire_span *r)
{
	uint32_t i;

	if (r->kind != WIRE_KIND_QUERY) {
		on_guard_span(b, r);
		return;
	}
	if (!find_query(b, r->lib, r->query, &i))
		return;
	estimates__saw_span(b->estimates, i, r);
	if (r->flags & WIRE_SPAN_UNTIMED)
		governor__counted(b->governor, i, 1);
	else
		governor__recorded(b->governor, i, 1, r->end_ns - r->start_ns);
}

static void on_counted(struct budget *b, const struct wire_counted *r)
{
	uint32_t i;

	if (!find_query(b, r->lib, r->query, &i))
		return;
	governor__counted(b->governor, i, r->n);
	estimates__saw_counted(b->estimates, i, r);
}

static int heed_features(struct budget *b, struct command_features features)
{
	int err;

	if (!guard_watch__note_features(b->guards, features))
		return 0;
	/* The decisions to leave the groups out come first. */
	err = report_first_decisions(b) ?: guard_watch__attach_late(b->guards);
	return err ? diag_error_r(err,
				  "cannot attach the probes that a compiler's command line asks "
				  "for: %s",
				  strerror(-err))
		   : 0;
}

/*
 * CPU time of a compiler to install the breakpoints. Its library is not known yet: the one with
 * most sites is assumed.
 */
static uint64_t install_ns(struct budget *b)
{
	uint32_t most = 0;

	for (uint8_t lib = 0; lib < WIRE_WATCHED_LIBS; lib++) {
		uint32_t n = b->libs[lib].added ? sites_of(b, lib) : 0;

		most = n > most ? n : most;
	}
	return costs_of_install(most);
}

/* The first thread of a compiler hit a probe, or another thread of it. */
static int add_compiler(struct budget *b, pid_t pid)
{
	struct command_features features;
	int err;

	if (estimates__has_process(b->estimates, pid))
		return 0;
	features = command_features_of_process(pid);
	err = estimates__add_process(b->estimates, pid, features.incremental, b->added_ns);
	if (err)
		return err == -ESRCH ? 0 : err;
	b->costs.installed_ns += install_ns(b);
	b->costs.n_compilers = estimates__n_processes(b->estimates);
	return b->budget_ppm ? heed_features(b, features) : 0;
}

static int remove_compiler(struct budget *b, pid_t pid)
{
	int err = estimates__remove_process(b->estimates, pid);

	b->costs.n_compilers = estimates__n_processes(b->estimates);
	return err;
}

static int on_exec(struct budget *b, const struct wire_exec *r, size_t size)
{
	size_t most = size < sizeof(*r) ? 0 : sizeof(r->args);
	size_t len = r->args_len < most ? r->args_len : most;

	if (!memchr(r->args, '\0', len) || !is_compiler_program(r->args))
		return 0;
	/* /proc has arguments that were cut off in the record, unless the process is gone. */
	return heed_features(
		b, r->truncated ? command_features_of_process((pid_t)r->pid)
				: command_line__features(command_line_raw(r->args, len), false));
}

int budget__record(struct budget *b, const void *record, size_t size)
{
	const struct wire_thread *thread = record;
	const struct wire_exit *exit = record;

	switch (size ? *(const wire_u8 *)record : 0) {
	case WIRE_SPAN:
		on_span(b, record);
		return 0;
	case WIRE_COUNTED:
		on_counted(b, record);
		return 0;
	case WIRE_THREAD:
		return report_first_decisions(b) ?: add_compiler(b, (pid_t)thread->pid);
	case WIRE_EXEC:
		return b->budget_ppm ? on_exec(b, record, size) : 0;
	case WIRE_EXIT:
		return remove_compiler(b, (pid_t)exit->pid);
	default:
		return 0;
	}
}

/* ---- Ticks ----------------------------------------------------------------------------------- */

static int govern(struct budget *b, uint64_t now_ns)
{
	struct governor_load load = {
		.now_ns = now_ns,
		.cpu_ns = budget__cpu_ns(b),
		.hits = b->probes.hits(b->probes.ctx),
		.other_ns = b->costs.installed_ns + b->costs.switched_ns,
	};
	int err;

	load.spent_ns = load.hits * b->costs.hit_ps / 1000;
	err = query_watch__detach_ends(b->queries, now_ns);
	if (err || !governor__tick(b->governor, &load))
		return err;
	return query_watch__apply(b->queries, now_ns);
}

int budget__tick(struct budget *b, uint64_t now_ns)
{
	int err;

	if (now_ns - b->ticked_ns < BUDGET_TICK_MS * 1000000ull / 2)
		return 0;
	b->ticked_ns = now_ns;
	err = report_first_decisions(b);
	estimates__advance(b->estimates);
	if (err || !b->budget_ppm)
		return err;
	err = govern(b, now_ns);
	return err ? diag_error_r(err, "cannot keep the budget: %s", strerror(-err)) : 0;
}

uint64_t budget__cpu_ns(const struct budget *b)
{
	return estimates__cpu_ns(b->estimates);
}

/* ---- The end --------------------------------------------------------------------------------- */

/* Keep the rates for the next recording. */
static void store_rates(struct budget *b, struct library *l)
{
	if (!l->added)
		return;
	for (uint32_t i = 0; i < l->n_queries; i++)
		l->learnt->queries[i].mean_ns = governor__mean_ns(b->governor, l->first_query + i);
	rates__add(l->known, l->learnt);
	l->known->turn += b->budget_ppm != 0;
	rates__store(l->known);
}

int budget__finish(struct budget *b)
{
	int err;

	if (b->budget_ppm)
		diag_verbose("hits took %" PRIu64 " ms of %" PRIu64
			     " ms of the compilers' CPU time, attaching and detaching took %" PRIu64
			     " ms",
			     b->probes.hits(b->probes.ctx) * b->costs.hit_ps / 1000000000,
			     budget__cpu_ns(b) / 1000000,
			     (b->costs.switched_ns + b->costs.installed_ns) / 1000000);
	err = report_first_decisions(b) ?: estimates__remove_all(b->estimates);
	if (err)
		return err;
	for (uint8_t lib = 0; lib < WIRE_WATCHED_LIBS; lib++)
		store_rates(b, &b->libs[lib]);
	return 0;
}

void budget__free(struct budget *b)
{
	if (!b)
		return;
	for (uint8_t lib = 0; lib < WIRE_WATCHED_LIBS; lib++) {
		rates__free(b->libs[lib].known);
		rates__free(b->libs[lib].learnt);
	}
	guard_watch__free(b->guards);
	query_watch__free(b->queries);
	estimates__free(b->estimates);
	governor__free(b->governor);
	free(b);
}
