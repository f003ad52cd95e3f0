// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare_compilers.h"

#include "test.h"

/* Of cargo's question, of a compiler that executed nothing, and of one that compiled. */
TEST_CASE(those_that_compiled_are_collected)
{
	const struct trace_process all[] = {
		{.index = 0,
		 .crate = (char *)"___",
		 .command = (char *)"rustc - --crate-name ___ --print=cfg"},
		{.index = 1, .crate = (char *)"idle"},
		{.index = 2, .crate = (char *)"a", .start_ns = 5},
	};
	_compare_compilers_ struct compare_compilers cs = {};
	_summary_ struct summary *s = NULL;

	assert_int_equal(summary__new(&s), 0);
	for (uint32_t i = 0; i < 3; i++) {
		const struct trace_span span = {.process = i, .end_ns = 7};

		assert_int_equal(summary__process(s, &all[i]), 0);
		if (i != 1)
			assert_int_equal(summary__span(s, &span, &(struct trace_times){}), 0);
	}
	assert_int_equal(compare_compilers__init(&cs, s), 0);
	assert_int_equal(cs.n, 1);
	assert_string_equal(cs.processes[0]->crate, "a");
	assert_int_equal(cs.all[0].n, 1);
	/* Its end was not seen. */
	assert_int_equal(compare_compiler__wall_ns(&cs.all[0]), 7);
}

TEST_MAIN(NULL, NULL)
