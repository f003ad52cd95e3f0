// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/frames.h"
#include "view/json.h"
#include "view/plan_view.h"

static void add_address(struct json *j, const char *key, uint64_t addr)
{
	if (addr)
		json__hex(j, key, addr);
	else
		json__null(j, key);
}

static void add_index(struct json *j, const char *key, uint32_t index)
{
	json__known(j, key, index != PLAN_NONE, index);
}

static void add_slot(struct json *j, const char *key, int32_t slot)
{
	if (slot != PLAN_NO_SLOT)
		json__value(j, key, json_object_new_int(slot));
	else
		json__null(j, key);
}

/* Offsets within the GlobalCtxt. */
static void put_table(struct json *j, const struct plan *plan, const struct plan_query *q)
{
	const struct wire_query_table *t = &q->table;

	json__text(j, "cache", plan_cache_name(t->kind));
	add_address(j, "cache_offset", t->cache);
	add_address(j, "cache_of_others_offset", t->others);
	add_address(j, "active_offset", t->active);
	add_address(j, "name_offset", t->name);
	json__bool(j, "may_be_fed", t->fed);
	json__text(j, "cache_problem", plan->tables_problem ?: q->table_problem);
	json__bool(j, "result_keys", plan_query__has_keys(q));
	json__number(j, "cache_entry_size", t->entry_size);
	json__number(j, "cache_key_offset", t->key_at);
	json__known(j, "cache_symbol_offset", t->has_text, t->text_at);
	json__text(j, "result_keys_problem", q->result_keys_problem);
}

static void put_query(struct json *j, const struct plan *plan, uint32_t i)
{
	const struct plan_query *q = &plan->queries[i];

	json__text(j, "name", q->name);
	add_address(j, "wrapper", q->wrapper_non_incr);
	add_address(j, "wrapper_incremental", q->wrapper_incr);
	add_address(j, "provider", q->provider);
	add_index(j, "body", q->body_non_incr);
	add_index(j, "body_incremental", q->body_incr);
	json__text(j, "start_role", q->start_role ? plan_role_name(q->start_role) : NULL);
	json__text(j, "key", plan_key_name(q->key));
	json__text(j, "key_type", q->key_type);
	json__bool(j, "key_by_address", q->key_by_address);
	json__number(j, "start_sites", q->n_start);
	json__number(j, "key_sites", plan__key_sites(plan, i));
	json__number(j, "end_sites", q->n_end);
	json__number(j, "request_sites", q->n_request);
	json__bool(j, "start_exact", q->start_exact);
	json__bool(j, "end_exact", q->end_exact);
	json__bool(j, "invocation_id", q->has_id);
	json__bool(j, "active_jobs", q->active.size != 0);
	json__text(j, "in_stacks", plan_shows_name(plan_query__shows(plan, i)));
	put_table(j, plan, q);
	json__put(j);
}

static void put_body(struct json *j, const struct plan *plan, uint32_t i)
{
	const struct plan_body *b = &plan->bodies[i];

	add_address(j, "address", b->addr);
	json__bool(j, "incremental", b->incremental);
	json__number(j, "group", b->group);
	json__number(j, "queries", b->n_queries);
	json__number(j, "symbols", b->n_symbols);
	json__number(j, "end_sites", b->n_ends);
	json__number(j, "between", b->between);
	json__text(j, "problem", b->problem);
	json__put(j);
}

/* NULL: rustc records none. */
static const char *argument_name(const struct plan_guard *g)
{
	static const char *const names[] = {
		[WIRE_ARGUMENT_NONE] = "unknown",    [WIRE_ARGUMENT_STRING] = "string",
		[WIRE_ARGUMENT_SYMBOL] = "symbol",   [WIRE_ARGUMENT_EXPANSION] = "macro",
		[WIRE_ARGUMENT_C_STRING] = "string",
	};

	return g->has_argument ? names[g->source.text] : NULL;
}

static void put_guard(struct json *j, const struct plan *plan, uint32_t i)
{
	const struct plan_guard *g = &plan->guards[i];

	json__text(j, "kind", plan_kind_name(g->kind));
	json__text(j, "label", g->label);
	json__text(j, "function", g->function);
	json__number(j, "scope", g->scope);
	json__number(j, "number", g->number);
	add_index(j, "body", g->body);
	add_slot(j, "label_slot", g->label_slot);
	json__bool(j, "label_of_query", g->label_of_query);
	json__number(j, "end_sites", g->n_end);
	json__bool(j, "exact", g->exact);
	json__text(j, "problem", g->problem);
	json__text(j, "argument", argument_name(g));
	json__put(j);
}

static void put_site(struct json *j, const struct plan *plan, uint32_t i)
{
	const struct plan_site *site = &plan->sites[i];

	json__text(j, "role", plan_site__role_name(site));
	json__text(j, "class", site->cls == PLAN_STEPPED ? "stepped" : "emulated");
	add_address(j, "address", site->addr);
	add_address(j, "offset", site->offset);
	add_index(j, "query", site->query);
	add_index(j, "body", site->body);
	add_index(j, "guard", site->guard);
	json__text(j, "register", site->reg == WIRE_REG_NONE ? NULL : plan_reg_name(site->reg));
	add_slot(j, "slot", site->slot);
	json__value(j, "vtable_offset", json_object_new_int(site->vtable_offset));
	json__value(j, "sp_delta", json_object_new_int(site->sp_delta));
	json__text(j, "key_register",
		   site->key_reg == WIRE_REG_NONE ? NULL : plan_reg_name(site->key_reg));
	add_slot(j, "key_slot", site->key_slot);
	json__put(j);
}

static void put_step(struct json *j, const struct plan *plan, uint32_t i)
{
	const struct plan_step *step = &plan->steps[i];

	json__number(j, "guard", step->guard);
	add_address(j, "return_address", step->addr);
	add_index(j, "body", step->body);
	json__text(j, "register", step->reg == WIRE_REG_NONE ? NULL : plan_reg_name(step->reg));
	add_slot(j, "slot", step->slot);
	json__value(j, "vtable_offset", json_object_new_int(step->vtable_offset));
	json__put(j);
}

static void put_array(struct json *j, const char *key, const struct plan *plan, uint32_t n,
		      void (*put)(struct json *, const struct plan *, uint32_t))
{
	json__array(j, key);
	for (uint32_t i = 0; i < n && !j->err; i++) {
		json__line(j, i);
		put(j, plan, i);
	}
	json__print(j, "]");
}

static void add_llvm(struct json *to, const struct plan_llvm *llvm)
{
	struct json j = {};

	json__begin(&j);
	json__text(&j, "file", llvm->path);
	json__number(&j, "passes", llvm->plan ? llvm->plan->passes.n : 0);
	json__text(&j, "problem", plan_llvm_problem(llvm));
	json__bool(&j, "components", llvm->plan && llvm->plan->layout.passes_return);
	json__value(to, "llvm", json__take(&j));
}

int plan_json(FILE *out, const struct plan *plan, const struct plan_llvm *llvm)
{
	char build_id[2 * PLAN_BUILD_ID_MAX + 1];
	bool known = plan->mask_disp && plan->mask_disp != PLAN_MASK_DISAGREES;
	struct json j = {.out = out};

	plan_build_id_text(plan, build_id);
	json__begin(&j);
	json__text(&j, "schema", "qprof-plan/1");
	json__text(&j, "file", plan->path);
	json__text(&j, "build_id", *build_id ? build_id : NULL);
	json__text(&j, "rustc_version", plan->rustc_version);
	json__text(&j, "mangling", plan->mangling);
	json__text(&j, "symbols", plan_symbols_name(plan->symbols));
	json__text(&j, "symbols_file", plan->symbols_file);
	add_address(&j, "mask_displacement", known ? plan->mask_disp : 0);
	json__number(&j, "complete", plan_complete_queries(plan));
	json__number(&j, "folded", plan_folded_symbols(plan));
	json__number(&j, "artifact_sizes", plan->n_artifacts);
	json__bool(&j, "names", plan->layout.wire.size);
	json__text(&j, "names_problem", plan->layout.problem);
	json__bool(&j, "crates", plan->layout.wire.crates.size);
	json__text(&j, "crates_problem", plan->layout.crates_problem);
	json__bool(&j, "running_names", plan->layout.wire.current.known);
	json__text(&j, "running_names_problem", plan->layout.current_problem);
	add_address(&j, "finished", plan->tables.finished);
	json__bool(&j, "jobs", plan->jobs.known);
	json__text(&j, "jobs_problem", plan->jobs.problem);
	json__bool(&j, "places", plan->layout.wire.places.known);
	json__text(&j, "places_problem", plan->layout.places_problem);
	json__bool(&j, "calls", plan->layout.wire.calls.context_size);
	json__text(&j, "calls_problem", plan->layout.calls_problem);
	json__text(&j, "macros_problem", plan->expansions_problem);
	json__bool(&j, "results", plan->tables.n > 0);
	json__text(&j, "results_problem", plan->tables_problem);
	json__bool(&j, "result_keys", plan->tables.first > 0);
	json__text(&j, "feeds_problem", plan->feeds_problem);
	add_llvm(&j, llvm);
	json__put_open(&j);
	put_array(&j, "queries", plan, plan->n_queries, put_query);
	put_array(&j, "bodies", plan, plan->n_bodies, put_body);
	put_array(&j, "guards", plan, plan->n_guards, put_guard);
	put_array(&j, "steps", plan, plan->n_steps, put_step);
	put_array(&j, "sites", plan, plan->n_sites, put_site);
	json__print(&j, "}\n");
	return j.err;
}
