// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/array.h"
#include "plan/frames.h"
#include "view/plan_view.h"
#include "plan/plan.h"

/* Guards that the summary names. */
#define INEXACT_MAX 10

/* The number of guards of each kind, and how many of them are exact or have a label. */
static int print_guards_summary(FILE *out, const struct plan *plan)
{
	struct kind {
		uint32_t guards, exact, labelled;
	} kinds[WIRE_KIND_MAX] = {};
	struct columns c = {.out = out, .indent = "  "};
	uint32_t inexact = 0, have = 0, known = 0;

	for (uint32_t i = 0; i < plan->n_guards; i++) {
		const struct plan_guard *g = &plan->guards[i];

		have += g->has_argument;
		known += g->source.text != WIRE_ARGUMENT_NONE;
		kinds[g->kind].guards++;
		kinds[g->kind].exact += g->exact;
		kinds[g->kind].labelled += plan_guard_label(g) != NULL;
	}
	fprintf(out, "\nguards      %" PRIu32 "\n", plan->n_guards);
	if (plan->n_guards)
		EACH_ROW (&c, kind, WIRE_KIND_MAX) {
			const struct kind *of = ROW(&c, &kinds[kind]);

			if (of && !of->guards)
				continue;
			TEXT(&c, NULL, "kind", plan_kind_name(kind), NULL);
			NUMBER(&c, ID, NULL, "guards", of->guards, NULL);
			NUMBER(&c, ID, NULL, "exact", of->exact, NULL);
			NUMBER(&c, ID, NULL, "labelled", of->labelled, NULL);
		}

	/* Those whose end may be noticed late, and why. */
	for (uint32_t i = 0; i < plan->n_guards; i++) {
		const struct plan_guard *g = &plan->guards[i];

		if (g->exact)
			continue;
		if (!inexact++)
			fprintf(out, "  without an exact end\n");
		if (inexact <= INEXACT_MAX)
			fprintf(out, "    %s: %s\n", plan_guard_label(g) ?: g->function,
				g->problem ?: "unknown");
	}
	if (inexact > INEXACT_MAX)
		fprintf(out, "    and %" PRIu32 " more: --full lists all\n", inexact - INEXACT_MAX);

	/* Of how many the event has an argument, and where that is known. */
	if (have)
		fprintf(out, "  with an argument: %" PRIu32 "; it can be read of %" PRIu32 "\n",
			have, known);
	if (have && plan->expansions_problem)
		fprintf(out, "  macros are not named: %s\n", plan->expansions_problem);
	if (plan->n_artifacts)
		fprintf(out,
			"  %" PRIu32 " more places record the size of an artifact: no interval\n",
			plan->n_artifacts);
	return c.err;
}

#define N_ROLES WIRE_ROLE_MAX

void plan_build_id_text(const struct plan *plan, char *text)
{
	format_hex(text, plan->build_id, plan->build_id_len);
}

/* True if the caller is known for every request that leads to an execution. */
static bool has_callers(const struct plan_query *q)
{
	return q->n_request && q->n_request == plan_query__wrappers(q);
}

uint32_t plan_complete_queries(const struct plan *plan)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->n_queries; i++)
		n += plan_query__is_complete(&plan->queries[i]);
	return n;
}

uint32_t plan_folded_symbols(const struct plan *plan)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->n_bodies; i++) {
		if (plan->bodies[i].n_symbols > 1)
			n += plan->bodies[i].n_symbols - 1;
	}
	return n;
}

static void print_field(FILE *out, const char *name, const char *value)
{
	_free_ char *clean = format_clean(value);

	fprintf(out, "%-11s %s\n", name, clean ?: "");
}

static void print_share(FILE *out, const char *what, uint32_t part, uint32_t whole)
{
	char buf[FORMAT_MAX];

	/* Never round up to 100, which would claim that nothing is missing. */
	if (part < whole && (uint64_t)part * 10000 >= (uint64_t)whole * 9995)
		strcpy(buf, "99.9");
	else
		format_percent(buf, part, whole);
	fprintf(out, "  %-22s %5" PRIu32 "  %5s %%\n", what, part, buf);
}

/* How many queries are seen, name what they are about, and have results that can be counted. */
static void print_queries_summary(FILE *out, const struct plan *plan)
{
	uint32_t start = 0, end = 0, id = 0, callers = 0, shown = 0, always = 0, jobs = 0;
	uint32_t names = 0, read = 0, fed = 0, items = 0, loaded = 0;

	for (uint32_t i = 0; i < plan->n_queries; i++) {
		const struct plan_query *q = &plan->queries[i];
		enum plan_shows shows = plan_query__shows(plan, i);

		shown += shows != PLAN_SHOWS_NOT;
		always += shows == PLAN_SHOWS_ALWAYS;
		start += q->start_exact;
		end += q->end_exact;
		id += q->has_id;
		callers += has_callers(q);
		jobs += q->active.size != 0;
		names += plan_query__names(q);
		read += plan_query__names(q) && q->n_start &&
			plan__key_sites(plan, i) == q->n_start;
		fed += q->table.fed;
		loaded += q->table.kind && !q->never_loaded;
		items += plan_query__has_keys(q) &&
			 (plan->tables.first || q->table.kind == WIRE_CACHE_HASH);
	}
	fprintf(out, "\nqueries     %" PRIu32 "\n", plan->n_queries);
	print_share(out, "with start and end", plan_complete_queries(plan), plan->n_queries);
	print_share(out, "with start", start, plan->n_queries);
	print_share(out, "with end", end, plan->n_queries);
	print_share(out, "with invocation id", id, plan->n_queries);
	print_share(out, "with callers", callers, plan->n_queries);
	print_share(out, "with active jobs", jobs, plan->n_queries);
	print_share(out, "in sampled stacks", shown, plan->n_queries);
	print_share(out, "  even if forced", always, plan->n_queries);
	fprintf(out,
		"\nkeys        %" PRIu32 " of %" PRIu32
		" queries name a definition or a crate; %" PRIu32 " can be read\n",
		names, plan->n_queries, read);
	if (plan->tables.n)
		fprintf(out,
			"results     of %" PRIu32 " of %" PRIu32
			" queries can be counted in the compiler's memory, of %" PRIu32
			" by item; %" PRIu32 " may be fed some, %" PRIu32 " loaded from the disk\n",
			plan__tables(plan), plan->n_queries, items, fed, loaded);
}

static int print_sites_summary(FILE *out, const struct plan *plan)
{
	uint32_t counts[N_ROLES + 1][2] = {}, stepped = 0, requests = plan__requests(plan);
	struct columns c = {.out = out, .indent = "  "};

	for (uint32_t i = 0; i < plan->n_sites; i++) {
		const struct plan_site *site = &plan->sites[i];

		counts[plan_site__feeds(site) ? N_ROLES : site->role % N_ROLES]
		      [site->cls == PLAN_STEPPED]++;
		stepped += site->cls == PLAN_STEPPED;
	}
	fprintf(out, "\nsites       %" PRIu32 "%s", plan->n_sites - requests,
		stepped ? "" : ", all emulated by the kernel");
	if (requests)
		fprintf(out, "; %" PRIu32 " more with --callers", requests);
	fputc('\n', out);
	if (stepped)
		fprintf(out, "  %" PRIu32 " are single-stepped: each hit costs several traps\n",
			stepped);
	EACH_ROW (&c, role, N_ROLES + 1) {
		const uint32_t *of = ROW(&c, counts[role]);

		if (of && !of[PLAN_EMULATED] && !of[PLAN_STEPPED])
			continue;
		TEXT(&c, NULL, "role", role < N_ROLES ? plan_role_name(role) : "feed", NULL);
		NUMBER(&c, ID, NULL, "emulated", of[PLAN_EMULATED], NULL);
		NUMBER(&c, ID, NULL, "stepped", of[PLAN_STEPPED], NULL);
	}
	return c.err;
}

static void print_problems(FILE *out, const struct plan *plan)
{
	bool any = false;

	for (uint32_t i = 0; i < plan->n_queries; i++) {
		const struct plan_query *q = &plan->queries[i];
		bool is_shown = plan_query__shows(plan, i) != PLAN_SHOWS_NOT;
		_free_ char *name = format_clean(q->name);
		const char *why = NULL;

		if (plan_query__is_complete(q) && has_callers(q) && is_shown &&
		    (q->table.kind || !plan->tables.n) && !q->result_keys_problem)
			continue;
		/* A body without ends makes its queries incomplete: its problem is theirs. */
		if (q->body_non_incr < plan->n_bodies)
			why = plan->bodies[q->body_non_incr].problem;
		if (!why && q->body_incr < plan->n_bodies)
			why = plan->bodies[q->body_incr].problem;
		fputs(any ? "" : "\nproblems\n", out);
		any = true;
		if (!plan_query__is_complete(q))
			fprintf(out, "  %s: not every %s is seen%s%s\n", name ?: "",
				q->end_exact	 ? "start"
				: q->start_exact ? "end"
						 : "start and end",
				why ? ": " : "", why ?: "");
		if (!has_callers(q))
			fprintf(out, "  %s: not every caller is seen\n", name ?: "");
		if (!is_shown)
			fprintf(out,
				"  %s: sampled stacks do not show it; its time is its parent's\n",
				name ?: "");
		if (plan->tables.n && !q->table.kind)
			fprintf(out, "  %s: its results cannot be counted: %s\n", name ?: "",
				q->table_problem ?: "unknown");
		if (q->result_keys_problem)
			fprintf(out, "  %s: its results are not counted by item: %s\n", name ?: "",
				q->result_keys_problem);
	}
}

/* Why something is unknown is printed without --full, too. */
static void print_names(FILE *out, const struct plan *plan, bool full)
{
	const struct plan_layout *l = &plan->layout;

	if (!l->wire.size)
		fprintf(out, "\nnames       of definitions cannot be read: %s\n",
			l->problem ?: "unknown");
	else if (full)
		fputs("\nnames       of definitions can be read\n", out);
	if (l->wire.size && !l->wire.crates.size)
		fprintf(out, "crates      and definitions of other crates cannot be named: %s\n",
			l->crates_problem ?: "unknown");
	else if (l->wire.size && full)
		fputs("crates      and definitions of other crates can be named\n", out);
	if (l->wire.size && !l->wire.current.known)
		fprintf(out,
			"running     compilers, and those that were killed, have no names: %s\n",
			l->current_problem ?: "unknown");
	if (!plan->jobs.known)
		fprintf(out, "jobs        of sampled threads are not known: %s\n",
			plan->jobs.problem ?: "unknown");
	if (l->wire.size && !l->wire.places.known)
		fprintf(out, "places      files and lines of definitions cannot be read: %s\n",
			l->places_problem ?: "unknown");
	if (l->wire.places.known && !l->wire.calls.context_size)
		fprintf(out, "calls       of macros that made definitions cannot be read: %s\n",
			l->calls_problem ?: "unknown");
	if (!plan->tables.n)
		fprintf(out, "results     of queries cannot be counted: %s\n",
			plan->tables_problem ?: "unknown");
	else if (!plan->tables.first)
		fputs("results     of queries are not counted by item: no body of a query shows "
		      "where their keys are\n",
		      out);
	if (plan->tables.n && plan->feeds_problem)
		fprintf(out, "feeds       of queries cannot be counted: %s\n", plan->feeds_problem);
	if (plan->keys_problem)
		fprintf(out, "memory      keys that are in memory cannot be read: %s\n",
			plan->keys_problem);
}

const char *plan_llvm_problem(const struct plan_llvm *llvm)
{
	if (!llvm->plan)
		return "there is no library of LLVM's beside it: LLVM may be a part of it, or of "
		       "none";
	return llvm_problem_text(llvm->plan->problem);
}

static void print_llvm(FILE *out, const struct plan_llvm *llvm)
{
	const char *problem = plan_llvm_problem(llvm);

	if (problem)
		fprintf(out, "LLVM        passes and functions are not known in samples: %s\n",
			problem);
	else
		print_field(out, "LLVM", llvm->path);
	if (!problem && !llvm->plan->layout.passes_return)
		fputs("            passes over components of the call graph have no function in "
		      "samples: no function\n            that runs them shows where it has the "
		      "component\n",
		      out);
}

/* Every query, guard and site. */
static int print_tables(FILE *out, const struct plan *plan)
{
	struct columns c = {.out = out};

	fputc('\n', out);
	EACH_ROW (&c, i, plan->n_queries)
		plan_query_columns(&c, plan, ROW(&c, &plan->queries[i]));
	fputc('\n', out);
	EACH_ROW (&c, i, plan->n_guards)
		plan_guard_columns(&c, ROW(&c, &plan->guards[i]));
	fputc('\n', out);
	EACH_ROW (&c, i, plan->n_sites)
		plan_site_columns(&c, plan, ROW(&c, &plan->sites[i]));
	return c.err;
}

int plan_text(FILE *out, const struct plan *plan, const struct plan_llvm *llvm, bool full)
{
	_free_ char *symbols = format_clean(plan->symbols_file ?: "");
	char build_id[2 * PLAN_BUILD_ID_MAX + 1];
	uint32_t incremental = 0;
	int err;

	plan_build_id_text(plan, build_id);
	print_field(out, "file", plan->path);
	print_field(out, "build-id", *build_id ? build_id : "none");
	print_field(out, "rustc", plan->rustc_version ?: "unknown version");
	print_field(out, "mangling", plan->mangling);
	fprintf(out, "symbols     %s %s%s%s\n",
		plan->symbols == SYMBOLS_RECOVERED ? "none; names are recovered from" : "of",
		plan_symbols_name(plan->symbols), symbols && *symbols ? ": " : "", symbols ?: "");
	print_queries_summary(out, plan);
	err = print_sites_summary(out, plan);
	if (err)
		return err;
	for (uint32_t i = 0; i < plan->n_bodies; i++)
		incremental += plan->bodies[i].incremental;
	fprintf(out,
		"\nbodies      %" PRIu32 " (%" PRIu32 " incremental)\n  %" PRIu32
		" symbols folded into another's address\n",
		plan->n_bodies, incremental, plan_folded_symbols(plan));
	err = print_guards_summary(out, plan);
	if (err)
		return err;
	print_problems(out, plan);
	print_names(out, plan, full);
	print_llvm(out, llvm);
	return full ? print_tables(out, plan) : 0;
}
