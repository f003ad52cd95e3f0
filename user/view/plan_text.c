// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/array.h"
#include "plan/frames.h"
#include "view/plan_view.h"
#include "view/table.h"
#include "plan/plan.h"

/* The part of `qprof-bpf plan` about guards. Both functions print and return 0 or -ENOMEM. */

/* Guards that the summary names. */
#define INEXACT_MAX 10

/* The label, or how it is read when the probe is hit; NULL if there is no label. */
static const char *label_of(const struct plan_guard *g)
{
	if (g->label)
		return g->label;
	if (g->scope == WIRE_SCOPE_TIMER)
		return "(timers)";
	if (g->label_of_query)
		return "(a query's)";
	return g->label_slot != PLAN_NO_SLOT ? "(computed)" : NULL;
}

/* Of how many guards the event has an argument, and where that is known. */
static void print_arguments(FILE *out, const struct plan *plan)
{
	uint32_t have = 0, known = 0;

	for (uint32_t i = 0; i < plan->n_guards; i++) {
		have += plan->guards[i].has_argument;
		known += plan->guards[i].source.text != WIRE_ARGUMENT_NONE;
	}
	if (have)
		fprintf(out, "  with an argument: %" PRIu32 "; it can be read of %" PRIu32 "\n",
			have, known);
	if (have && plan->expansions_problem)
		fprintf(out, "  macros are not named: %s\n", plan->expansions_problem);
}

/* Those whose end may be noticed late, and why. */
static void print_inexact(FILE *out, const struct plan *plan)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->n_guards; i++) {
		const struct plan_guard *g = &plan->guards[i];

		if (g->exact)
			continue;
		if (!n++)
			fprintf(out, "  without an exact end\n");
		if (n <= INEXACT_MAX)
			fprintf(out, "    %s: %s\n", label_of(g) ?: g->function,
				g->problem ?: "unknown");
	}
	if (n > INEXACT_MAX)
		fprintf(out, "    and %" PRIu32 " more: --full lists all\n", n - INEXACT_MAX);
}

/* The number of guards of each kind, and how many of them are exact or have a label. */
static int plan_guards_summary(FILE *out, const struct plan *plan)
{
	static const struct table_column columns[] = {
		{"kind", 0},
		{"guards", 0},
		{"exact", 0},
		{"labelled", 0},
	};
	uint32_t guards[WIRE_KIND_MAX] = {0}, exact[WIRE_KIND_MAX] = {0};
	uint32_t labelled[WIRE_KIND_MAX] = {0};
	_table_ struct table *t = table__new(columns, N_OF(columns));

	for (uint32_t i = 0; i < plan->n_guards; i++) {
		const struct plan_guard *g = &plan->guards[i];

		guards[g->kind]++;
		exact[g->kind] += g->exact;
		labelled[g->kind] += label_of(g) != NULL;
	}
	for (int kind = 0; kind < WIRE_KIND_MAX; kind++) {
		if (!guards[kind])
			continue;
		table__cell(t, plan_kind_name(kind));
		table__cellf(t, "%" PRIu32, guards[kind]);
		table__cellf(t, "%" PRIu32, exact[kind]);
		table__cellf(t, "%" PRIu32, labelled[kind]);
	}
	if (!t)
		return -ENOMEM;
	fprintf(out, "\nguards      %" PRIu32 "\n", plan->n_guards);
	if (plan->n_guards && table__print(t, out, "  "))
		return -ENOMEM;
	print_inexact(out, plan);
	print_arguments(out, plan);
	if (plan->n_artifacts)
		fprintf(out,
			"  %" PRIu32 " more places record the size of an artifact: no interval\n",
			plan->n_artifacts);
	return 0;
}

/* Every guard: its label, its location, and whether it is exact, or why not. */
static int plan_guards_list(FILE *out, const struct plan *plan)
{
	static const struct table_column columns[] = {
		{"label", 0}, {"kind", 0}, {"function", 0}, {"ends", 0}, {"exact", 0},
	};
	_table_ struct table *t = table__new(columns, N_OF(columns));

	for (uint32_t i = 0; i < plan->n_guards; i++) {
		const struct plan_guard *g = &plan->guards[i];

		table__cell(t, label_of(g) ?: "-");
		table__cell(t, plan_kind_name(g->kind));
		table__cell(t, g->function);
		table__cellf(t, "%" PRIu32, g->n_end);
		table__cellf(t, "%s%s%s", g->exact ? "yes" : "no", g->problem ? ": " : "",
			     g->problem ?: "");
	}
	if (!t)
		return -ENOMEM;
	fputc('\n', out);
	return table__print(t, out, "");
}

#define N_ROLES WIRE_ROLE_MAX

void plan_build_id_text(const struct plan *plan, char *text)
{
	format_hex(text, plan->build_id, plan->build_id_len);
}

static bool is_complete(const struct plan_query *q)
{
	return q->start_exact && q->end_exact;
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
		n += is_complete(&plan->queries[i]);
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

static void print_queries_summary(FILE *out, const struct plan *plan)
{
	uint32_t start = 0, end = 0, id = 0, callers = 0, shown = 0, always = 0, jobs = 0;

	for (uint32_t i = 0; i < plan->n_queries; i++) {
		enum plan_shows shows = plan_query__shows(plan, i);

		shown += shows != PLAN_SHOWS_NOT;
		always += shows == PLAN_SHOWS_ALWAYS;
		start += plan->queries[i].start_exact;
		end += plan->queries[i].end_exact;
		id += plan->queries[i].has_id;
		callers += has_callers(&plan->queries[i]);
		jobs += plan->queries[i].active.size != 0;
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
}

static int print_sites_summary(FILE *out, const struct plan *plan)
{
	static const struct table_column columns[] = {{"role", 0}, {"emulated", 0}, {"stepped", 0}};
	uint32_t counts[N_ROLES + 1][2] = {}, stepped = 0, requests = plan__requests(plan);
	_table_ struct table *t = table__new(columns, N_OF(columns));

	for (uint32_t i = 0; i < plan->n_sites; i++) {
		const struct plan_site *site = &plan->sites[i];

		counts[plan_site__feeds(site) ? N_ROLES : site->role % N_ROLES]
		      [site->cls == PLAN_STEPPED]++;
		stepped += site->cls == PLAN_STEPPED;
	}
	for (int role = 0; role <= N_ROLES; role++) {
		if (!counts[role][0] && !counts[role][1])
			continue;
		table__cell(t, role < N_ROLES ? plan_role_name(role) : "feed");
		table__cellf(t, "%" PRIu32, counts[role][PLAN_EMULATED]);
		table__cellf(t, "%" PRIu32, counts[role][PLAN_STEPPED]);
	}
	fprintf(out, "\nsites       %" PRIu32 "%s", plan->n_sites - requests,
		stepped ? "" : ", all emulated by the kernel");
	if (requests)
		fprintf(out, "; %" PRIu32 " more with --callers", requests);
	fputc('\n', out);
	if (stepped)
		fprintf(out, "  %" PRIu32 " are single-stepped: each hit costs several traps\n",
			stepped);
	return table__print(t, out, "  ");
}

static void print_bodies_summary(FILE *out, const struct plan *plan)
{
	uint32_t incremental = 0;

	for (uint32_t i = 0; i < plan->n_bodies; i++)
		incremental += plan->bodies[i].incremental;
	fprintf(out, "\nbodies      %" PRIu32 " (%" PRIu32 " incremental)\n", plan->n_bodies,
		incremental);
	fprintf(out, "  %" PRIu32 " symbols folded into another's address\n",
		plan_folded_symbols(plan));
}

/* A body without ends makes its queries incomplete, so its problem is also theirs. */
static const char *body_problem(const struct plan *plan, const struct plan_query *q)
{
	if (q->body_non_incr < plan->n_bodies && plan->bodies[q->body_non_incr].problem)
		return plan->bodies[q->body_non_incr].problem;
	if (q->body_incr < plan->n_bodies && plan->bodies[q->body_incr].problem)
		return plan->bodies[q->body_incr].problem;
	return NULL;
}

static bool has_key(const struct plan *plan, uint32_t i)
{
	const struct plan_query *q = &plan->queries[i];

	return plan_query__names(q) && q->n_start && plan__key_sites(plan, i) == q->n_start;
}

static void print_keys_summary(FILE *out, const struct plan *plan)
{
	uint32_t names = 0, read = 0;

	for (uint32_t i = 0; i < plan->n_queries; i++) {
		names += plan_query__names(&plan->queries[i]);
		read += has_key(plan, i);
	}
	fprintf(out,
		"\nkeys        %" PRIu32 " of %" PRIu32
		" queries name a definition or a crate; %" PRIu32 " can be read\n",
		names, plan->n_queries, read);
}

static void print_results_summary(FILE *out, const struct plan *plan)
{
	uint32_t n = plan__tables(plan), fed = 0, items = 0;

	for (uint32_t i = 0; i < plan->n_queries; i++) {
		const struct plan_query *q = &plan->queries[i];

		fed += q->table.fed;
		items += plan_query__has_keys(q) &&
			 (plan->tables.first || q->table.kind == WIRE_CACHE_HASH);
	}
	if (plan->tables.n)
		fprintf(out,
			"results     of %" PRIu32 " of %" PRIu32
			" queries can be counted in the compiler's memory, of %" PRIu32
			" by item; %" PRIu32 " may be fed some\n",
			n, plan->n_queries, items, fed);
}

static bool is_shown(const struct plan *plan, const struct plan_query *q)
{
	return plan_query__shows(plan, (uint32_t)(q - plan->queries)) != PLAN_SHOWS_NOT;
}

static void print_problem(FILE *out, const struct plan *plan, const struct plan_query *q)
{
	const char *why = body_problem(plan, q);
	_free_ char *name = format_clean(q->name);

	if (!is_complete(q))
		fprintf(out, "  %s: not every %s is seen%s%s\n", name ?: "",
			q->end_exact	 ? "start"
			: q->start_exact ? "end"
					 : "start and end",
			why ? ": " : "", why ?: "");
	if (!has_callers(q))
		fprintf(out, "  %s: not every caller is seen\n", name ?: "");
	if (!is_shown(plan, q))
		fprintf(out, "  %s: sampled stacks do not show it; its time is its parent's\n",
			name ?: "");
	if (plan->tables.n && !q->table.kind)
		fprintf(out, "  %s: its results cannot be counted: %s\n", name ?: "",
			q->table_problem ?: "unknown");
	if (q->result_keys_problem)
		fprintf(out, "  %s: its results are not counted by item: %s\n", name ?: "",
			q->result_keys_problem);
}

static void print_problems(FILE *out, const struct plan *plan)
{
	bool any = false;

	for (uint32_t i = 0; i < plan->n_queries; i++) {
		const struct plan_query *q = &plan->queries[i];

		if (is_complete(q) && has_callers(q) && is_shown(plan, q) &&
		    (q->table.kind || !plan->tables.n) && !q->result_keys_problem)
			continue;
		fputs(any ? "" : "\nproblems\n", out);
		any = true;
		print_problem(out, plan, q);
	}
}

static void cell_address(struct table *t, uint64_t addr)
{
	if (addr)
		table__cellf(t, "%#" PRIx64, addr);
	else
		table__cell(t, "-");
}

static int print_queries(FILE *out, const struct plan *plan)
{
	static const struct table_column columns[] = {
		{"query", 0},  {"wrapper", 0},	   {"incremental", 0}, {"provider", 0},
		{"starts", 0}, {"ends", 0},	   {"exact", 0},       {"in stacks", 0},
		{"key", 0},    {"type of key", 0}, {"cache", 0},       {"at", 0},
	};
	_table_ struct table *t = table__new(columns, N_OF(columns));

	for (uint32_t i = 0; i < plan->n_queries; i++) {
		const struct plan_query *q = &plan->queries[i];

		table__cell(t, q->name);
		cell_address(t, q->wrapper_non_incr);
		cell_address(t, q->wrapper_incr);
		cell_address(t, q->provider);
		table__cellf(t, "%" PRIu32, q->n_start);
		table__cellf(t, "%" PRIu32, q->n_end);
		table__cell(t, is_complete(q) ? "yes" : "no");
		table__cell(t, plan_shows_name(plan_query__shows(plan, i)));
		table__cell(t, plan_key_name(q->key) ?: "-");
		table__cell(t, q->key_type ?: "-");
		table__cell(t, plan_cache_name(q->table.kind) ?: "-");
		cell_address(t, q->table.cache);
	}
	fputc('\n', out);
	return table__print(t, out, "");
}

/* The enum wire_reg, or else the offset from sp. */
static void cell_place(struct table *t, uint8_t reg, int32_t slot)
{
	if (reg != WIRE_REG_NONE)
		table__cell(t, plan_reg_name(reg));
	else if (slot != PLAN_NO_SLOT)
		table__cellf(t, "sp%+" PRId32, slot);
	else
		table__cell(t, "-");
}

static void add_site(struct table *t, const struct plan *plan, const struct plan_site *site)
{
	table__cell(t, site->query < plan->n_queries ? plan->queries[site->query].name : "-");
	table__cell(t, plan_site__role_name(site));
	table__cell(t, site->cls == PLAN_STEPPED ? "stepped" : "emulated");
	cell_address(t, site->addr);
	cell_address(t, site->offset);
	cell_address(t, site->body < plan->n_bodies ? plan->bodies[site->body].addr : 0);
	cell_place(t, site->reg, site->slot);
	cell_place(t, site->key_reg, site->key_slot);
	table__cellf(t, "%" PRId32, site->sp_delta);
}

static int print_sites(FILE *out, const struct plan *plan)
{
	static const struct table_column columns[] = {
		{"query", 0}, {"role", 0},    {"class", 0}, {"address", 0},  {"offset", 0},
		{"body", 0},  {"operand", 0}, {"key", 0},   {"sp delta", 0},
	};
	_table_ struct table *t = table__new(columns, N_OF(columns));

	for (uint32_t i = 0; i < plan->n_sites; i++)
		add_site(t, plan, &plan->sites[i]);
	fputc('\n', out);
	return table__print(t, out, "");
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

static void print_symbols(FILE *out, const struct plan *plan)
{
	_free_ char *file = format_clean(plan->symbols_file ?: "");

	fprintf(out, "symbols     %s %s%s%s\n",
		plan->symbols == SYMBOLS_RECOVERED ? "none; names are recovered from" : "of",
		plan_symbols_name(plan->symbols), file && *file ? ": " : "", file ?: "");
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

int plan_text(FILE *out, const struct plan *plan, const struct plan_llvm *llvm, bool full)
{
	char build_id[2 * PLAN_BUILD_ID_MAX + 1];
	int err;

	plan_build_id_text(plan, build_id);
	print_field(out, "file", plan->path);
	print_field(out, "build-id", *build_id ? build_id : "none");
	print_field(out, "rustc", plan->rustc_version ?: "unknown version");
	print_field(out, "mangling", plan->mangling);
	print_symbols(out, plan);
	print_queries_summary(out, plan);
	print_keys_summary(out, plan);
	print_results_summary(out, plan);
	err = print_sites_summary(out, plan);
	if (err)
		return err;
	print_bodies_summary(out, plan);
	err = plan_guards_summary(out, plan);
	if (err)
		return err;
	print_problems(out, plan);
	print_names(out, plan, full);
	print_llvm(out, llvm);
	if (!full)
		return 0;
	return print_queries(out, plan) ?: plan_guards_list(out, plan) ?: print_sites(out, plan);
}
