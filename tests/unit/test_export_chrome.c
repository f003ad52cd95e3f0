// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <json-c/json.h>

#include "test.h"
#include "../fixtures/export_trace.h"

static void the_small_trace_is_as_it_was(void **state)
{
	assert_small_golden(export_chrome, "export/small.chrome.json");
}

static void it_is_json_and_hostile_names_are_texts_in_it(void **state)
{
	_free_ char *text = export_small_text(export_chrome, &(struct export_job){});
	struct json_object *document = json_tokener_parse(text), *events, *name;
	bool found = false;

	assert_non_null(document);
	assert_true(json_object_object_get_ex(document, "traceEvents", &events));
	for (size_t i = 0; i < json_object_array_length(events); i++) {
		json_object_object_get_ex(json_object_array_get_idx(events, i), "name", &name);
		found |= !strcmp(json_object_get_string(name),
				 "<b>\"'&;,\\ ]]></script>\x01\xef\xbf\xbd");
	}
	assert_true(found);
	json_object_put(document);
}

static void intervals_left_out_for_the_size_limit_are_noted(void **state)
{
	struct export_job job = {.max_bytes = 1000};
	_free_ char *text = export_small_text(export_chrome, &job);

	assert_true(job.left_out > 0 && job.least_ns > 0);
	assert_contains(text, "\"note\":\"");
	assert_contains(text, " intervals are left out, those shorter than ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_small_trace_is_as_it_was),
		cmocka_unit_test(it_is_json_and_hostile_names_are_texts_in_it),
		cmocka_unit_test(intervals_left_out_for_the_size_limit_are_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
