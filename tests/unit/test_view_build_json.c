// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <json-c/json.h>

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_build.h"

static void a_build_is_as_agreed(void **state)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *text = NULL;

	text = printed_build(build_json, &v);
	assert_golden("view/build.json", text);
}

static void it_is_json(void **state)
{
	struct json_object *object, *crates, *pairs;
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *text = NULL;

	v.top = 1;
	text = printed_build(build_json, &v);
	object = json_tokener_parse(text);
	assert_non_null(object);
	/* --top does not limit the crates. */
	crates = json_object_object_get(object, "crates");
	assert_int_equal(json_object_array_length(crates), 4);
	pairs = json_object_object_get(object, "pairs");
	assert_int_equal(json_object_array_length(pairs), 1);
	json_object_put(object);
}

static void items_are_there_if_known(void **state)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	struct json_object *object, *items, *first;
	_free_ char *text = NULL;

	sample_build__items(&s, &v);
	text = printed_build(build_json, &v);
	object = json_tokener_parse(text);
	assert_non_null(object);
	items = json_object_object_get(object, "items");
	assert_int_equal(json_object_array_length(items), SB_ITEMS);
	first = json_object_array_get_idx(items, 1);
	assert_string_equal(
		json_object_to_json_string_ext(first, JSON_C_TO_STRING_PLAIN),
		"{\"crate\":\"a_crate_of_some_name\",\"name\":\"a_crate_of_some_name::module_of_a_"
		"module::{{impl}}[13]::a_long_method\",\"executions\":2,\"charged\":0,\"self_ns\":"
		"19000000,\"self_cpu_ns\":19000000,\"query\":\"typeck\","
		"\"query_self_ns\":10000000,\"query_self_cpu_ns\":10000000}");
	json_object_put(object);
}

static void waits_of_a_late_compiler_are_lower_limits(void **state)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *whole = printed_build(build_json, &v), *text = NULL;

	assert_null(strstr(whole, "\"waits_at_least\":true"));
	((struct build_totals *)build__totals(v.build))->late = 1;
	text = printed_build(build_json, &v);
	assert_contains(text, "\"waits_at_least\":true,\"blocked_ns\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_build_is_as_agreed),
		cmocka_unit_test(it_is_json),
		cmocka_unit_test(items_are_there_if_known),
		cmocka_unit_test(waits_of_a_late_compiler_are_lower_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
