// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/parsed_json.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_plan.h"
#include "view/plan_view.h"

static struct json_object *json_of(const struct plan *plan)
{
	_free_ char *text = printed_text(plan_json(out, plan, &(struct plan_llvm){0}));

	return parsed_json(text);
}

static void assert_text(struct json_object *object, const char *key, const char *expected)
{
	assert_string_equal(json_object_get_string(member(object, key)), expected);
}

static void assert_number(struct json_object *object, const char *key, int64_t expected)
{
	assert_int_equal(json_object_get_int64(member(object, key)), expected);
}

TEST_CASE(the_head_names_the_file)
{
	_plan_ struct plan *plan = sample_plan();
	struct json_object *object = json_of(plan);

	assert_text(object, "schema", "qprof-plan/1");
	assert_text(object, "file", "/lib/librustc_driver-1.so");
	assert_text(object, "build_id", "abcd01");
	assert_text(object, "rustc_version", "rustc version 1.95.0");
	assert_text(object, "mask_displacement", "0x1ef50");
	assert_number(object, "complete", 1);
	assert_number(object, "folded", 2);
	json_object_put(object);
	plan->mask_disp = PLAN_MASK_DISAGREES;
	object = json_of(plan);
	assert_null(member(object, "mask_displacement"));
	json_object_put(object);
}

TEST_CASE(every_field_of_a_query_is_there)
{
	_plan_ struct plan *plan = sample_plan();
	struct json_object *object = json_of(plan), *q;

	q = json_object_array_get_idx(member(object, "queries"), 1);
	assert_text(q, "name", "typeck");
	assert_text(q, "wrapper", "0x2000");
	assert_null(member(q, "wrapper_incremental"));
	assert_text(q, "provider", "0x2200");
	assert_number(q, "body", 0);
	assert_null(member(q, "start_role"));
	assert_null(member(q, "body_incremental"));
	assert_number(q, "start_sites", 1);
	assert_null(member(q, "key"));
	assert_text(q, "key_type", "PseudoCanonicalInput<Ty>");
	assert_true(json_object_get_boolean(member(q, "key_by_address")));
	assert_number(q, "key_sites", 1);
	assert_number(q, "end_sites", 2);
	assert_number(q, "request_sites", 0);
	assert_false(json_object_get_boolean(member(q, "start_exact")));
	assert_true(json_object_get_boolean(member(q, "end_exact")));
	assert_false(json_object_get_boolean(member(q, "invocation_id")));
	assert_text(q, "in_stacks", "no");
	q = json_object_array_get_idx(member(object, "queries"), 0);
	assert_text(q, "key", "DefId");
	assert_text(q, "key_type", "DefId");
	assert_false(json_object_get_boolean(member(q, "key_by_address")));
	assert_text(q, "in_stacks", "always");
	assert_number(q, "key_sites", 1);
	json_object_put(object);
}

TEST_CASE(every_field_of_a_body_is_there)
{
	_plan_ struct plan *plan = sample_plan();
	struct json_object *object, *body;

	plan->bodies[1].between = 384;
	object = json_of(plan);
	body = json_object_array_get_idx(member(object, "bodies"), 1);
	assert_number(body, "between", 384);
	assert_text(body, "address", "0x9000");
	assert_text(body, "problem", "no mask test");
	assert_number(body, "symbols", 1);
	body = json_object_array_get_idx(member(object, "bodies"), 0);
	assert_null(member(body, "problem"));
	assert_number(body, "between", 0);
	assert_number(body, "queries", 2);
	assert_number(body, "symbols", 3);
	assert_number(body, "end_sites", 1);
	json_object_put(object);
}

TEST_CASE(every_field_of_a_guard_is_there)
{
	_plan_ struct plan *plan = sample_plan();
	struct json_object *object = json_of(plan), *guard;

	assert_number(object, "artifact_sizes", 9);
	guard = json_object_array_get_idx(member(object, "guards"), 0);
	assert_text(guard, "kind", "GenericActivity");
	assert_text(guard, "label", "early_lint_checks");
	assert_text(guard, "function", "rustc_ast_lowering::lower_crate");
	assert_number(guard, "scope", 2);
	assert_number(guard, "number", 1);
	assert_null(member(guard, "body"));
	assert_null(member(guard, "label_slot"));
	assert_false(json_object_get_boolean(member(guard, "label_of_query")));
	assert_number(guard, "end_sites", 1);
	assert_true(json_object_get_boolean(member(guard, "exact")));
	assert_null(member(guard, "problem"));
	guard = json_object_array_get_idx(member(object, "guards"), 1);
	assert_text(guard, "kind", "QueryBlocked");
	assert_null(member(guard, "label"));
	assert_number(guard, "body", 0);
	assert_number(guard, "label_slot", 0x18);
	assert_true(json_object_get_boolean(member(guard, "label_of_query")));
	assert_text(guard, "problem", "no end");
	json_object_put(object);
}

TEST_CASE(every_field_of_a_site_is_there)
{
	_plan_ struct plan *plan = sample_plan();
	struct json_object *object = json_of(plan), *sites, *site;

	sites = member(object, "sites");
	assert_int_equal(json_object_array_length(sites), 8);
	site = json_object_array_get_idx(sites, 1);
	assert_text(site, "role", "start");
	assert_text(site, "class", "stepped");
	assert_text(site, "address", "0x2200");
	assert_text(site, "offset", "0x1200");
	assert_number(site, "query", 1);
	assert_null(member(site, "body"));
	assert_null(member(site, "register"));
	assert_null(member(site, "slot"));
	assert_number(site, "sp_delta", -8);
	assert_null(member(site, "key_register"));
	assert_number(site, "key_slot", 0x14);
	assert_text(json_object_array_get_idx(sites, 0), "key_register", "rsi");
	assert_text(json_object_array_get_idx(sites, 2), "register", "r15");
	assert_number(json_object_array_get_idx(sites, 2), "vtable_offset", 24);
	assert_number(json_object_array_get_idx(sites, 3), "slot", 0x54);
	assert_text(json_object_array_get_idx(sites, 4), "role", "request");
	assert_number(json_object_array_get_idx(sites, 4), "slot", 8);
	assert_null(member(json_object_array_get_idx(sites, 3), "guard"));
	assert_number(json_object_array_get_idx(sites, 6), "guard", 1);
	assert_text(json_object_array_get_idx(sites, 6), "role", "guard-query");
	json_object_put(object);
}

TEST_CASE(every_field_of_a_step_is_there)
{
	_plan_ struct plan *plan = sample_plan();
	struct json_object *object = json_of(plan), *steps = member(object, "steps"), *step;

	assert_int_equal(json_object_array_length(steps), 2);
	step = json_object_array_get_idx(steps, 0);
	assert_number(step, "guard", 1);
	assert_text(step, "return_address", "0x8123");
	assert_null(member(step, "body"));
	assert_null(member(step, "register"));
	assert_number(step, "slot", 0x78);
	step = json_object_array_get_idx(steps, 1);
	assert_number(step, "body", 0);
	assert_text(step, "register", "r14");
	assert_null(member(step, "slot"));
	assert_number(step, "vtable_offset", 448);
	json_object_put(object);
}

TEST_CASE(it_says_whether_names_can_be_read)
{
	struct plan *plan = sample_plan_with_names();
	struct json_object *object = json_of(plan);

	assert_true(json_object_get_boolean(member(object, "names")));
	assert_null(member(object, "names_problem"));
	assert_true(json_object_get_boolean(member(object, "crates")));
	assert_null(member(object, "crates_problem"));
	assert_true(json_object_get_boolean(member(object, "running_names")));
	assert_null(member(object, "running_names_problem"));
	assert_true(json_object_get_boolean(member(object, "places")));
	assert_null(member(object, "places_problem"));
	assert_true(json_object_get_boolean(member(object, "calls")));
	assert_null(member(object, "calls_problem"));
	json_object_put(object);
	plan->layout.wire.current.known = 0;
	plan->layout.current_problem = strdup("there is no def_id_debug");
	plan->layout.wire.places.known = 0;
	plan->layout.places_problem = strdup("there is no SourceFile::lines");
	plan->layout.wire.calls.context_size = 0;
	plan->layout.calls_problem = strdup("there is no SyntaxContext::outer_expn");
	object = json_of(plan);
	assert_false(json_object_get_boolean(member(object, "places")));
	assert_text(object, "places_problem", "there is no SourceFile::lines");
	assert_false(json_object_get_boolean(member(object, "calls")));
	assert_text(object, "calls_problem", "there is no SyntaxContext::outer_expn");
	assert_false(json_object_get_boolean(member(object, "running_names")));
	assert_text(object, "running_names_problem", "there is no def_id_debug");
	json_object_put(object);
	plan__free(plan);
	plan = sample_plan();
	plan->layout.problem = strdup("there is no Symbol::as_str");
	object = json_of(plan);
	assert_false(json_object_get_boolean(member(object, "names")));
	assert_text(object, "names_problem", "there is no Symbol::as_str");
	json_object_put(object);
	plan__free(plan);
}

/* ---- Plan text ------------------------------------------------------------------------------- */

static char *text_of(const struct plan *plan, bool full)
{
	return printed_text(plan_text(out, plan, &(struct plan_llvm){0}, full));
}

/* The sample plan without its problems. */
static struct plan *whole_plan(void)
{
	struct plan *plan = sample_plan();

	for (uint32_t i = 0; i < plan->n_queries; i++)
		plan->queries[i].start_exact = plan->queries[i].end_exact = true;
	plan->queries[0].n_request = 2;
	plan->queries[1].n_request = 1;
	plan->queries[1].body_incr = 1;
	plan->queries[1].table.kind = WIRE_CACHE_HASH;
	for (uint32_t i = 0; i < plan->n_sites; i++)
		plan->sites[i].cls = PLAN_EMULATED;
	return plan;
}

TEST_CASE(the_summary_shows_what_is_missing)
{
	_plan_ struct plan *plan = sample_plan();
	_free_ char *text = text_of(plan, false);

	assert_contains(text, "/lib/librustc_driver-1.so");
	assert_contains(text, "abcd01");
	assert_contains(text, "rustc version 1.95.0");
	assert_contains(text, "with start and end         1   50.0 %\n");
	assert_contains(text, "with callers               0    0.0 %\n");
	assert_contains(
		text, "\nkeys        1 of 2 queries name a definition or a crate; 0 can be read\n");
	assert_contains(text, "\nsites       7; 1 more with --callers\n");
	assert_contains(text, "2 are single-stepped");
	assert_contains(text, "2 symbols folded");
	assert_contains(text, "in sampled stacks          1   50.0 %\n"
			      "    even if forced           1   50.0 %\n");
	assert_contains(text, "problems\n  mir_built: not every caller is seen\n");
	assert_contains(text,
			"  typeck: not every start is seen\n"
			"  typeck: not every caller is seen\n"
			"  typeck: sampled stacks do not show it; its time is its parent's\n");
	assert_lacks(text, "0x1201");
}

TEST_CASE(the_summary_counts_guards_by_kind)
{
	_plan_ struct plan *plan = sample_plan();
	_free_ char *text = text_of(plan, false);

	assert_contains(text, "guards      2\n");
	assert_contains(text, "GenericActivity       1      1         1\n");
	assert_contains(text, "QueryBlocked          1      0         1\n");
	assert_lacks(text, "IncrementalLoadResult");
	assert_contains(text, "9 more places record the size of an artifact");
	assert_contains(text, "  without an exact end\n    (a query's): no end\n");
	assert_contains(text, "with an argument: 1; it can be read of 1\n");
	assert_lacks(text, "early_lint_checks");
}

TEST_CASE(a_whole_plan_has_no_problems)
{
	_plan_ struct plan *plan = whole_plan();
	_free_ char *text = text_of(plan, false);

	assert_contains(text, "with start and end         2  100.0 %\n");
	assert_contains(text, "with callers               2  100.0 %\n");
	assert_contains(text, "sites       7, all emulated by the kernel; 1 more with --callers\n");
	assert_lacks(text, "problems");
}

TEST_CASE(a_problem_names_its_cause)
{
	_plan_ struct plan *plan = sample_plan();
	_free_ char *text = NULL;

	plan->queries[0].end_exact = false;
	text = text_of(plan, false);
	assert_contains(text, "  mir_built: not every end is seen: no mask test\n");
}

TEST_CASE(results_that_are_not_counted_by_item_are_a_problem)
{
	_plan_ struct plan *plan = whole_plan();
	_free_ char *before = text_of(plan, false), *text = NULL;

	assert_contains(before,
			"results     of 2 of 2 queries can be counted in the compiler's "
			"memory, of 1 by item; 1 may be fed some, 1 loaded from the disk\n");
	plan->queries[1].result_keys_problem = strdup("no size");
	text = text_of(plan, false);
	assert_contains(text, "problems\n  typeck: its results are not counted by item: no size\n");
}

TEST_CASE(many_intervals_without_an_exact_end_are_counted)
{
	_plan_ struct plan *plan = sample_plan();
	struct plan_guard first = plan->guards[0], *own = plan->guards;
	struct plan_guard guards[12];
	uint32_t n = plan->n_guards;
	_free_ char *text = NULL;

	first.exact = false;
	for (size_t i = 0; i < N_OF(guards); i++)
		guards[i] = first;
	plan->guards = guards;
	plan->n_guards = N_OF(guards);
	text = text_of(plan, false);
	plan->guards = own;
	plan->n_guards = n;
	assert_contains(text, "    and 2 more: --full lists all\n");
}

TEST_CASE(full_lists_queries_and_sites)
{
	_plan_ struct plan *plan = sample_plan();
	_free_ char *text = text_of(plan, true);

	assert_contains(
		text, "mir_built   0x1000       0x1100    0x1200       2     4    yes     always  "
		      "DefId  ");
	assert_contains(text,
			"typeck      0x2000            -    0x2200       1     2     no         no "
			"     -  PseudoCanonicalInput<Ty> ");
	assert_contains(text, "0x1201");
	assert_contains(text, "r15");
	assert_contains(text, "sp+84");
	assert_contains(text, " rsi ");
	assert_contains(text, "sp+20");
	assert_contains(text, "early_lint_checks");
	assert_contains(text, "rustc_ast_lowering::lower_crate");
	assert_contains(text, "(a query's)");
	assert_contains(text, "no: no end");
}

TEST_CASE(almost_all_is_not_100_percent)
{
	_plan_ struct plan *plan = sample_plan();
	struct plan_query *queries = calloc(5000, sizeof(*queries));
	_free_ char *text = NULL;

	for (uint32_t i = 0; i < 5000; i++) {
		queries[i] = plan->queries[0];
		queries[i].name = strdup("q");
		queries[i].key_type = NULL;
		queries[i].start_exact = i != 0;
	}
	for (int i = 0; i < 2; i++) {
		free(plan->queries[i].name);
		free(plan->queries[i].key_type);
		free(plan->queries[i].table_problem);
		free(plan->queries[i].result_keys_problem);
	}
	free(plan->queries);
	plan->queries = queries;
	plan->n_queries = 5000;
	text = text_of(plan, false);
	assert_contains(text, "with start and end      4999   99.9 %\n");
}

TEST_CASE(an_empty_plan_can_be_printed)
{
	struct plan plan = {.path = (char *)"x", .mangling = (char *)"v0"};
	_free_ char *text = text_of(&plan, true);

	assert_contains(text, "build-id    none\n");
	assert_contains(text, "unknown version");
}

TEST_CASE(full_says_whether_names_can_be_read)
{
	struct plan *plan = sample_plan_with_names();
	char *text = text_of(plan, true);

	assert_contains(text, "\nnames       of definitions can be read\n"
			      "crates      and definitions of other crates can be named\n");
	free(text);
	plan->layout.wire.current.known = 0;
	plan->layout.current_problem = strdup("there is no def_id_debug");
	text = text_of(plan, true);
	assert_contains(text, "can be named\n"
			      "running     compilers, and those that were killed, have no names: "
			      "there is no def_id_debug\n");
	free(text);
	plan->layout.wire.calls.context_size = 0;
	plan->layout.calls_problem = strdup("there is no SyntaxContext::outer_expn");
	text = text_of(plan, true);
	assert_contains(text,
			"\ncalls       of macros that made definitions cannot be read: there is "
			"no SyntaxContext::outer_expn\n");
	free(text);
	plan->layout.wire.places.known = 0;
	plan->layout.places_problem = strdup("there is no SourceFile::lines");
	text = text_of(plan, true);
	assert_contains(text,
			"\nplaces      files and lines of definitions cannot be read: there is no "
			"SourceFile::lines\n");
	free(text);
	text = text_of(plan, false);
	assert_lacks(text, "names  ");
	assert_contains(text,
			"\nplaces      files and lines of definitions cannot be read: there is no "
			"SourceFile::lines\n"
			"memory      keys that are in memory cannot be read: no kinds\n");
	free(text);
	plan__free(plan);
	plan = sample_plan();
	plan->layout.problem = strdup("there is no Symbol::as_str");
	text = text_of(plan, true);
	assert_contains(text, "\nnames       of definitions cannot be read: there is no "
			      "Symbol::as_str\n");
	plan__free(plan);
	free(text);
}

TEST_CASE(a_line_says_whether_llvm_is_understood)
{
	static struct llvm_plan known = {.problem = LLVM_FOUND}, other = {.problem = LLVM_NO_NAMES};
	struct plan_llvm llvm = {.path = (char *)"/lib/libLLVM.so", .plan = &known};
	_plan_ struct plan *plan = whole_plan();
	_free_ char *without = text_of(plan, false), *with = NULL, *wrong = NULL;

	with = printed_text(plan_text(out, plan, &llvm, false));
	assert_contains(with, "passes over components of the call graph have no function");
	free(with);
	known.layout.passes_return = 0x1000;
	with = printed_text(plan_text(out, plan, &llvm, false));
	assert_null(strstr(with, "components"));
	llvm.plan = &other;
	wrong = printed_text(plan_text(out, plan, &llvm, false));
	assert_contains(without,
			"\nLLVM        passes and functions are not known in samples: there is "
			"no library of LLVM's beside it");
	assert_contains(with, "\nLLVM        /lib/libLLVM.so\n");
	assert_contains(wrong,
			"not known in samples: Value::getName() does not show where names are\n");
}

TEST_MAIN(NULL, NULL)
