// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/export_trace.h"

static void the_small_trace_is_as_it_was(void **state)
{
	assert_small_golden(export_counts, "export/small.csv");
}

static void raw_times_are_longer(void **state)
{
	_free_ char *text = export_small_text(export_counts, &(struct export_job){.raw = true});

	assert_contains(text, "\nmir_built,4,0.001996500\n" + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_small_trace_is_as_it_was),
		cmocka_unit_test(raw_times_are_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
