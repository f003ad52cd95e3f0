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

static void the_head_names_the_file(void **state)
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

static void every_field_of_a_query_is_there(void **state)
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

static void every_field_of_a_body_is_there(void **state)
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

static void every_field_of_a_guard_is_there(void **state)
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

static void every_field_of_a_site_is_there(void **state)
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

static void every_field_of_a_step_is_there(void **state)
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

static void it_says_whether_names_can_be_read(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_head_names_the_file),
		cmocka_unit_test(it_says_whether_names_can_be_read),
		cmocka_unit_test(every_field_of_a_query_is_there),
		cmocka_unit_test(every_field_of_a_body_is_there),
		cmocka_unit_test(every_field_of_a_guard_is_there),
		cmocka_unit_test(every_field_of_a_site_is_there),
		cmocka_unit_test(every_field_of_a_step_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
