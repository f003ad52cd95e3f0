// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <json-c/json.h>

#include "test.h"
#include "../fixtures/export_trace.h"
#include "../fixtures/sampled_build.h"

static void the_small_trace_is_as_it_was(void **state)
{
	assert_small_golden(export_speedscope, "export/small.speedscope.json");
}

static void weights_add_up_to_the_end(void **state)
{
	_free_ char *text = export_small_text(export_speedscope, &(struct export_job){.raw = true});
	struct json_object *document = json_tokener_parse(text), *profiles;

	assert_non_null(document);
	assert_true(json_object_object_get_ex(document, "profiles", &profiles));
	assert_int_equal(json_object_array_length(profiles), 3);
	for (size_t i = 0; i < 3; i++) {
		struct json_object *p = json_object_array_get_idx(profiles, i), *weights, *end;
		int64_t sum = 0;

		assert_true(json_object_object_get_ex(p, "weights", &weights));
		assert_true(json_object_object_get_ex(p, "endValue", &end));
		for (size_t k = 0; k < json_object_array_length(weights); k++)
			sum += json_object_get_int64(json_object_array_get_idx(weights, k));
		assert_int_equal(sum, json_object_get_int64(end));
	}
	json_object_put(document);
}

static void with_keys_frames_have_places(void **state)
{
	_free_ char *text =
		export_small_text(export_speedscope, &(struct export_job){.keys = true});

	assert_contains(text,
			"{\"name\":\"mir_built(a::main)\",\"file\":\"src/main.rs\",\"line\":12}");
	assert_int_equal(occurrences(text, "\"file\":"), 1);
}

/* The CPU time first, unless the wall time is asked for. */
static void waits_have_profiles_of_wall_times(void **state)
{
	char path[] = "/tmp/qprof-test-XXXXXX";
	struct export_job cpu = {.cause = TRACE_SAMPLE_CPU};
	struct export_job wall = {.cause = TRACE_SAMPLE_CPU, .wall = true};
	size_t size;

	close(mkstemp(path));
	unlink(path);
	sampled_build_write(path);
	_free_ char *first = export_of(path, export_speedscope, &cpu, &size);
	_free_ char *second = export_of(path, export_speedscope, &wall, &size);

	unlink(path);
	assert_contains(first, "\"all compilers, CPU time\"");
	assert_contains(first, "\"all compilers, wall time\"");
	assert_contains(first, "\"activeProfileIndex\":0");
	assert_contains(second, "\"activeProfileIndex\":1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_small_trace_is_as_it_was),
		cmocka_unit_test(weights_add_up_to_the_end),
		cmocka_unit_test(with_keys_frames_have_places),
		cmocka_unit_test(waits_have_profiles_of_wall_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
