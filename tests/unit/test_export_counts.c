// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/export_trace.h"

static void the_small_trace_is_as_it_was(void **state)
{
	struct export_job job = {};
	size_t size;
	char *text = export_small(export_counts, &job, &size);

	assert_golden("export/small.csv", text);
	free(text);
}

static void raw_times_are_longer(void **state)
{
	struct export_job job = {.raw = true};
	size_t size;
	char *text = export_small(export_counts, &job, &size);

	assert_contains(text, "\nmir_built,4,0.001996500\n" + 1);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_small_trace_is_as_it_was),
		cmocka_unit_test(raw_times_are_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
