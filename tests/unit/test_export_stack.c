// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/spans_trace.h"
#include "export/stack.h"
static void each_stack_comes_once(void **state)
{
	/* Process 0: q0 > q1 > q2, q0 > q2; process 1: nothing; process 2: q1 */
	const struct trace_span spans[] = {
		{.start_ns = 12, .end_ns = 13, .depth = 2, .label = 2},
		{.start_ns = 11, .end_ns = 14, .depth = 1, .label = 1},
		{.start_ns = 15, .end_ns = 16, .depth = 1, .label = 2},
		{.start_ns = 10, .end_ns = 20, .depth = 0, .label = 0},
		{.start_ns = 10, .end_ns = 20, .depth = 0, .label = 1, .process = 2},
	};
	struct export_job job = {};
	_flame_ struct flame *f = NULL;
	_stack_ struct stack s = {0};
	char text[256] = "";

	spans_trace(spans, 5, 3, 3, NULL, &job.r, 1);
	assert_int_equal(flame__build(&job, &f), 0);
	stack__begin(&s, f, 0, UINT32_MAX);
	while (stack__next(&s) == 1) {
		for (uint32_t i = 0; i < s.n; i++) {
			strcat(text, flame__name(f, flame__node(f, s.nodes[i])));
			strcat(text, i + 1 < s.n ? ">" : " ");
		}
	}
	assert_string_equal(text, "unknown (100)>q0 unknown (100)>q0>q1 unknown (100)>q0>q1>q2 "
				  "unknown (100)>q0>q2 unknown (102)>q1 ");
	assert_int_equal(flame__n_stacks(f), 5);
	trace_reader__free(job.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_stack_comes_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
