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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_build_is_as_agreed),
		cmocka_unit_test(it_is_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
