// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/spans_trace.h"
#include "export/size_limit.h"
/* For intervals of 1 to 1000 ns. */
static uint64_t least_for(uint64_t max_bytes)
{
	static struct trace_span spans[1000];
	struct trace_reader *readers[2];
	struct export_job job = {.max_bytes = max_bytes};

	for (uint32_t i = 0; i < 1000; i++)
		spans[i] = (struct trace_span){.start_ns = 10000 * i,
					       .end_ns = 10000 * i + i + 1,
					       .invocation = TRACE_NO_INVOCATION};
	spans_trace(spans, 1000, 1, 1, NULL, readers, 2);
	job.r = readers[0];
	job.survey = readers[1];
	assert_int_equal(size_limit_least(&job, 10), 0);
	trace_reader__free(readers[0]);
	trace_reader__free(readers[1]);
	return job.least_ns;
}

static void the_longest_fit(void **state)
{
	assert_int_equal(least_for(0), 0);
	assert_int_equal(least_for(10000), 0);
	assert_int_equal(least_for(1000000000), 0);
	/* 999 fit: all but the shortest. */
	assert_int_equal(least_for(9990), 2);
	/* The 105 intervals of at least 896 ns fit into 105 places, but not into 104. */
	assert_int_equal(least_for(1050), 896);
	assert_int_equal(least_for(1040), 960);
	assert_int_equal(least_for(9), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
