// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/stack_sums.h"

#include "test.h"

static const struct trace_stack *entry(const void *ctx, uint32_t id)
{
	static const struct trace_stack any;

	return id && id < 10 ? &any : NULL;
}

static void samples_of_one_cause_are_summed_by_stack(void **state)
{
	struct stack_sums s = {.cause = TRACE_SAMPLE_CPU, .source = {.entry = entry}};
	struct trace_sample sample = {.cause = TRACE_SAMPLE_CPU, .stack = 9, .value = 5};

	assert_int_equal(stack_sums__add(&s, &sample), 0);
	assert_int_equal(stack_sums__add(&s, &sample), 0);
	sample.stack = 2;
	assert_int_equal(stack_sums__add(&s, &sample), 0);
	sample.cause = TRACE_SAMPLE_FAULT;
	assert_int_equal(stack_sums__add(&s, &sample), 0);
	assert_int_equal(s.at[9].n, 2);
	assert_int_equal(s.at[9].value, 10);
	assert_int_equal(s.at[2].n, 1);
	assert_int_equal(s.all.n, 3);
	stack_sums__destroy(&s);
}

/* It takes no memory for numbers up to it. */
static void a_stack_that_is_not_there_is_none(void **state)
{
	struct stack_sums s = {.cause = TRACE_SAMPLE_CPU, .source = {.entry = entry}};
	const struct trace_sample sample = {
		.cause = TRACE_SAMPLE_CPU, .stack = UINT32_MAX - 1, .value = 5};

	assert_int_equal(stack_sums__add(&s, &sample), 0);
	assert_int_equal(s.at[TRACE_NO_STACK].n, 1);
	assert_true(s.n < 1000);
	stack_sums__destroy(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_of_one_cause_are_summed_by_stack),
		cmocka_unit_test(a_stack_that_is_not_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
