// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The members of a plan's JSON, and the columns of `plan --full`. */
#include "plan/frames.h"
#include "view/plan_view.h"

/* An index into the list `of`; null: it is in none. */
#define INDEX(c, key, value, of) KNOWN(c, ID, key, NULL, (value) != PLAN_NONE, value, of)

static void put_slot(struct columns *c, int32_t slot)
{
	if (slot != PLAN_NO_SLOT)
		columns__signed(c, slot);
	else
		columns__unknown(c);
}

#define SLOT(c, key, value, help) COLUMN(c, NONE, key, NULL, help, put_slot(c, value))

/* The register, or else the offset from the stack pointer. */
static void put_place(struct columns *c, uint8_t reg, int32_t slot)
{
	if (reg != WIRE_REG_NONE)
		columns__text(c, plan_reg_name(reg));
	else if (slot != PLAN_NO_SLOT)
		columns__format(c, "sp%+" PRId32, slot);
	else
		columns__unknown(c);
}

static const char *reg_name(uint8_t reg)
{
	return reg == WIRE_REG_NONE ? NULL : plan_reg_name(reg);
}

/* Offsets within the GlobalCtxt. */
static void table_columns(struct columns *c, const struct plan *plan, const struct plan_query *q)
{
	const struct wire_query_table *t = q ? &q->table : NULL;

	TEXT(c, "cache", "cache", plan_cache_name(t->kind), "how results are kept; null: unknown");
	ADDRESS(c, "cache_offset", "at", t->cache, "of the results in the compiler's context");
	ADDRESS(c, "cache_of_others_offset", NULL, t->others, "of those of other crates");
	ADDRESS(c, "active_offset", NULL, t->active, "of the executions that run");
	ADDRESS(c, "name_offset", NULL, t->name, "of the name in its vtable");
	BOOL(c, "may_be_fed", t->fed, "results may come from no execution");
	BOOL(c, "may_be_loaded", !q->never_loaded,
	     "or from the disk, in an incremental compile; true: also if it is not known");
	TEXT(c, "cache_problem", NULL, plan->tables_problem ?: q->table_problem,
	     "why results cannot be counted; null: they can");
	BOOL(c, "result_keys", plan_query__has_keys(q), "results can be counted by item");
	NUMBER(c, BYTES, "cache_entry_size", NULL, t->entry_size, "of a result");
	NUMBER(c, BYTES, "cache_key_offset", NULL, t->key_at, "of the key in it");
	KNOWN(c, BYTES, "cache_symbol_offset", NULL, t->has_text, t->text_at,
	      "of a symbol in it; null: none");
	TEXT(c, "result_keys_problem", NULL, q->result_keys_problem, "why not; null: they can");
}

void plan_query_columns(struct columns *c, const struct plan *plan, const struct plan_query *q)
{
	uint32_t i = q ? q - plan->queries : 0;

	TEXT(c, "name", "query", q->name, "rustc's name");
	ADDRESS(c, "wrapper", "wrapper", q->wrapper_non_incr, "by which it is requested");
	ADDRESS(c, "wrapper_incremental", "incremental", q->wrapper_incr, "of incremental builds");
	ADDRESS(c, "provider", "provider", q->provider, "which computes it");
	INDEX(c, "body", q->body_non_incr, "in bodies");
	INDEX(c, "body_incremental", q->body_incr, "in bodies");
	TEXT(c, "start_role", NULL, q->start_role ? plan_role_name(q->start_role) : NULL,
	     "of its sites that start an execution; null: none");
	TEXT(c, "key", NULL, plan_key_name(q->key),
	     "DefId, CrateNum, (), Instance, LocalDefId for all types of local definitions; null: "
	     "another type, or unknown");
	TEXT(c, "key_type", NULL, q->key_type, "as symbols have it; null: unknown");
	BOOL(c, "key_by_address", q->key_by_address, "its provider is given the key's address");
	NUMBER(c, ID, "start_sites", "starts", q->n_start, "sites that start an execution");
	NUMBER(c, ID, "key_sites", NULL, plan__key_sites(plan, i),
	       "of these: where the key can be read");
	NUMBER(c, ID, "end_sites", "ends", q->n_end, "sites that end one");
	NUMBER(c, ID, "request_sites", NULL, q->n_request, "sites that know the caller");
	BOOL(c, "start_exact", q->start_exact, "every start is seen");
	BOOL(c, "end_exact", q->end_exact, "every end is seen");
	TEXT(c, NULL, "exact", plan_query__is_complete(q) ? "yes" : "no", NULL);
	BOOL(c, "invocation_id", q->has_id, "executions have the id of rustc's profiler");
	BOOL(c, "active_jobs", q->active.size != 0, "what runs can be read in memory");
	TEXT(c, "in_stacks", "in stacks", plan_shows_name(plan_query__shows(plan, i)),
	     "whether sampled stacks show it: always, no, or requested: unless the dependency "
	     "graph forces it");
	TEXT(c, NULL, "key", plan_key_name(q->key), NULL);
	TEXT(c, NULL, "type of key", q->key_type, NULL);
	table_columns(c, plan, q);
}

static void body_columns(struct columns *c, const struct plan_body *b)
{
	ADDRESS(c, "address", NULL, b->addr, "in the file");
	BOOL(c, "incremental", b->incremental, "of incremental builds");
	NUMBER(c, ID, "group", NULL, b->group, "of bodies with a way of ending in common");
	NUMBER(c, ID, "queries", NULL, b->n_queries, "that it executes");
	NUMBER(c, ID, "symbols", NULL, b->n_symbols, "at its address");
	NUMBER(c, ID, "end_sites", NULL, b->n_ends, "sites that end an execution");
	NUMBER(c, BYTES, "between", NULL, b->between,
	       "of stack down to what calls its provider; 0: the body itself");
	TEXT(c, "problem", NULL, b->problem, "null: none");
}

const char *plan_guard_label(const struct plan_guard *g)
{
	if (g->label)
		return g->label;
	if (g->scope == WIRE_SCOPE_TIMER)
		return "(timers)";
	if (g->label_of_query)
		return "(a query's)";
	return g->label_slot != PLAN_NO_SLOT ? "(computed)" : NULL;
}

void plan_guard_columns(struct columns *c, const struct plan_guard *g)
{
	static const char *const arguments[] = {
		[WIRE_ARGUMENT_NONE] = "unknown",    [WIRE_ARGUMENT_STRING] = "string",
		[WIRE_ARGUMENT_SYMBOL] = "symbol",   [WIRE_ARGUMENT_EXPANSION] = "macro",
		[WIRE_ARGUMENT_C_STRING] = "string",
	};

	TEXT(c, NULL, "label", plan_guard_label(g), NULL);
	TEXT(c, "kind", "kind", plan_kind_name(g->kind), "as in rustc's profiles");
	TEXT(c, "label", NULL, g->label, "null: not in the file");
	TEXT(c, "function", "function", g->function, "that has it");
	NUMBER(c, ID, "scope", NULL, g->scope, "of its number");
	NUMBER(c, ID, "number", NULL, g->number, "by which its ends find its start");
	INDEX(c, "body", g->body, "in bodies");
	SLOT(c, "label_slot", g->label_slot, "of a label that is computed");
	BOOL(c, "label_of_query", g->label_of_query, "the label is a query's name");
	NUMBER(c, ID, "end_sites", "ends", g->n_end, "sites that end it");
	BOOL(c, "exact", g->exact, "every end is seen in time");
	FORMAT(c, "exact", "%s%s%s", g->exact ? "yes" : "no", g->problem ? ": " : "",
	       g->problem ?: "");
	TEXT(c, "problem", NULL, g->problem, "why not; null: it is, or unknown");
	TEXT(c, "argument", NULL, g->has_argument ? arguments[g->source.text] : NULL,
	     "how it is read; null: there is none");
}

static void step_columns(struct columns *c, const struct plan_step *step)
{
	INDEX(c, "guard", step->guard, "in guards");
	ADDRESS(c, "return_address", NULL, step->addr, "that leads to the caller's part");
	INDEX(c, "body", step->body, "in bodies");
	TEXT(c, "register", NULL, reg_name(step->reg), "null: none");
	SLOT(c, "slot", step->slot, "of the stack; null: none");
	COLUMN(c, NONE, "vtable_offset", NULL, "of the vtable",
	       columns__signed(c, step->vtable_offset));
}

void plan_site_columns(struct columns *c, const struct plan *plan, const struct plan_site *site)
{
	bool of_query = site && site->query < plan->n_queries;

	TEXT(c, NULL, "query", of_query ? plan->queries[site->query].name : NULL, NULL);
	TEXT(c, "role", "role", plan_site__role_name(site), "what a program does there");
	TEXT(c, "class", "class", site->cls == PLAN_STEPPED ? "stepped" : "emulated",
	     "how the kernel runs the instruction");
	ADDRESS(c, "address", "address", site->addr, "of the instruction");
	ADDRESS(c, "offset", "offset", site->offset, "in the file");
	INDEX(c, "query", site->query, "in queries");
	INDEX(c, "body", site->body, "in bodies");
	INDEX(c, "guard", site->guard, "in guards");
	ADDRESS(c, NULL, "body", site->body < plan->n_bodies ? plan->bodies[site->body].addr : 0,
		NULL);
	TEXT(c, "register", NULL, reg_name(site->reg), "of the operand; null: none");
	SLOT(c, "slot", site->slot, "of the stack, with the operand; null: none");
	COLUMN(c, NONE, NULL, "operand", NULL, put_place(c, site->reg, site->slot));
	COLUMN(c, NONE, "vtable_offset", NULL, "of the vtable",
	       columns__signed(c, site->vtable_offset));
	COLUMN(c, NONE, "sp_delta", NULL, "to the stack pointer by which starts and ends meet",
	       columns__signed(c, site->sp_delta));
	TEXT(c, "key_register", NULL, reg_name(site->key_reg), "of the query's key; null: none");
	SLOT(c, "key_slot", site->key_slot, "of the stack, with the key; null: none");
	COLUMN(c, NONE, NULL, "key", NULL, put_place(c, site->key_reg, site->key_slot));
	COLUMN(c, NONE, NULL, "sp delta", NULL, columns__signed(c, site->sp_delta));
}

static void llvm_columns(struct columns *c, const struct plan_llvm *llvm)
{
	if (!OBJECT(c, "llvm", true, "LLVM's library beside the compiler's"))
		return;
	TEXT(c, "file", NULL, llvm->path, "null: there is none");
	NUMBER(c, COUNT, "passes", NULL, llvm->plan ? llvm->plan->passes.n : 0, "with known names");
	TEXT(c, "problem", NULL, plan_llvm_problem(llvm),
	     "why samples do not have what LLVM does; null: they do");
	BOOL(c, "components", llvm->plan && llvm->plan->layout.passes_return,
	     "passes over components of the call graph have a function");
	columns__leave(c);
}

static void put_problems(struct columns *c, const struct plan *plan)
{
	const struct plan_layout *l = &plan->layout;

	BOOL(c, "names", l->wire.size != 0, "names of definitions can be read");
	TEXT(c, "names_problem", NULL, l->problem, "why not; null: they can");
	BOOL(c, "crates", l->wire.crates.size != 0, "those of other crates, too");
	TEXT(c, "crates_problem", NULL, l->crates_problem, "likewise");
	BOOL(c, "running_names", l->wire.current.known,
	     "also before the compiler drops its query context");
	TEXT(c, "running_names_problem", NULL, l->current_problem, "likewise");
	ADDRESS(c, "finished", NULL, plan->tables.finished, "where all queries are executed");
	BOOL(c, "jobs", plan->jobs.known, "what sampled threads execute is known");
	TEXT(c, "jobs_problem", NULL, plan->jobs.problem, "likewise");
	BOOL(c, "places", l->wire.places.known, "files and lines of definitions can be read");
	TEXT(c, "places_problem", NULL, l->places_problem, "likewise");
	BOOL(c, "calls", l->wire.calls.context_size != 0,
	     "calls of macros that made definitions can be read");
	TEXT(c, "calls_problem", NULL, l->calls_problem, "likewise");
	TEXT(c, "macros_problem", NULL, plan->expansions_problem, "why macros are not named");
	BOOL(c, "results", plan->tables.n > 0, "results of queries can be counted");
	TEXT(c, "results_problem", NULL, plan->tables_problem, "likewise");
	BOOL(c, "result_keys", plan->tables.first > 0, "by item, too");
	TEXT(c, "feeds_problem", NULL, plan->feeds_problem, "why fed results cannot be counted");
}

int plan_json(FILE *out, const struct plan *plan, const struct plan_llvm *llvm)
{
	char build_id[2 * PLAN_BUILD_ID_MAX + 1];
	bool known = plan->mask_disp && plan->mask_disp != PLAN_MASK_DISAGREES;
	struct columns columns = {.to = COLUMNS_JSON, .out = out}, *c = &columns;

	plan_build_id_text(plan, build_id);
	columns__begin(c, "qprof-plan/1", "qprof-plan/1");
	TEXT(c, "file", NULL, plan->path, "the library");
	TEXT(c, "build_id", NULL, *build_id ? build_id : NULL, "null: none");
	TEXT(c, "rustc_version", NULL, plan->rustc_version, "null: unknown");
	TEXT(c, "mangling", NULL, plan->mangling, "of symbols");
	TEXT(c, "symbols", NULL, plan_symbols_name(plan->symbols), "where they come from");
	TEXT(c, "symbols_file", NULL, plan->symbols_file,
	     "the debug file; null: none, or a stored plan");
	ADDRESS(c, "mask_displacement", NULL, known ? plan->mask_disp : 0,
		"of the profiler's events; null: unknown");
	NUMBER(c, COUNT, "complete", NULL, plan_complete_queries(plan),
	       "queries with exact start and end");
	NUMBER(c, COUNT, "folded", NULL, plan_folded_symbols(plan),
	       "body symbols that share their address with one before them");
	NUMBER(c, COUNT, "artifact_sizes", NULL, plan->n_artifacts, "places that record one");
	put_problems(c, plan);
	llvm_columns(c, llvm);
	if (LIST(c, "queries", true, "of the compiler"))
		EACH_ROW (c, i, plan->n_queries)
			plan_query_columns(c, plan, ROW(c, &plan->queries[i]));
	if (LIST(c, "bodies", true, "instances of try_execute_query"))
		EACH_ROW (c, i, plan->n_bodies)
			body_columns(c, ROW(c, &plan->bodies[i]));
	if (LIST(c, "guards", true, "objects that start an interval, and end it when dropped"))
		EACH_ROW (c, i, plan->n_guards)
			plan_guard_columns(c, ROW(c, &plan->guards[i]));
	if (LIST(c, "steps", true, "from a guard's end in another function to its start"))
		EACH_ROW (c, i, plan->n_steps)
			step_columns(c, ROW(c, &plan->steps[i]));
	if (LIST(c, "sites", true, "instructions that carry a probe"))
		EACH_ROW (c, i, plan->n_sites)
			plan_site_columns(c, plan, ROW(c, &plan->sites[i]));
	return columns__end(c);
}
