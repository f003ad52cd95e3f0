// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/export_trace.h"

static void the_small_trace_is_as_it_was(void **state)
{
	assert_small_golden(export_folded, "export/small.folded");
}

static void raw_times_are_longer(void **state)
{
	struct export_job job = {.raw = true};
	_free_ char *text = export_small_text(export_folded, &job);

	/* 988 without the probe costs. */
	assert_contains(text, "rustdoc x (4711);typeck 1000\n");
	assert_int_equal(job.written, 8);
}

/* Two executions of mir_built, in different places; the ids of others are not mapped. */
static void keys_distinguish_frames(void **state)
{
	struct export_job job = {.keys = true};
	_free_ char *text = export_small_text(export_folded, &job);

	assert_contains(text, ";typeck;mir_built(a::main) 288\n");
	assert_contains(text, ";mir_built 188\n");
	assert_contains(text, "a (4711);typeck 388\n");
	assert_contains(text, "rustdoc x (4711);typeck 988\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_small_trace_is_as_it_was),
		cmocka_unit_test(raw_times_are_longer),
		cmocka_unit_test(keys_distinguish_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
