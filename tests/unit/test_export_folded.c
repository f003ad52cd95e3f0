// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/export_trace.h"

static void the_small_trace_is_as_it_was(void **state)
{
	struct export_job job = {};
	size_t size;
	char *text = export_small(export_folded, &job, &size);

	assert_golden("export/small.folded", text);
	free(text);
}

static void raw_times_are_longer(void **state)
{
	struct export_job job = {.raw = true};
	size_t size;
	char *text = export_small(export_folded, &job, &size);

	/* 988 without the probe costs. */
	assert_contains(text, "rustdoc (4711);typeck 1000\n");
	assert_int_equal(job.written, 8);
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
