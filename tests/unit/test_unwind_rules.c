// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/rules.h"

#include "test.h"
#include "../fixtures/cfa_runs.h"

static uint32_t number(struct unwind_rules *r, struct wire_unwind_rule rule)
{
	uint32_t n = UINT32_MAX;

	assert_int_equal(unwind_rules__number(r, rule, &n), 0);
	return n;
}

static void a_rule_has_one_number(void **state)
{
	_unwind_rules_ struct unwind_rules r = {};

	assert_int_equal(number(&r, RSP_RULE(8)), 1);
	assert_int_equal(number(&r, SAVED_RULE(8, -16)), 2);
	assert_int_equal(number(&r, RSP_RULE(8)), 1);
	assert_int_equal(number(&r, NO_RULE), 0);
	assert_int_equal(number(&r, RBP_RULE(8, -16)), 3);
	assert_int_equal(number(&r, SAVED_RULE(8, -16)), 2);
	assert_int_equal(r.n, 4);
	assert_rule(r.rules[2], SAVED_RULE(8, -16));
}

static void too_many_rules_have_no_number(void **state)
{
	_unwind_rules_ struct unwind_rules r = {};

	for (int i = 1; i < WIRE_UNWIND_RULES_MAX; i++)
		assert_int_equal(number(&r, RSP_RULE(8 * i)), i);
	assert_int_equal(r.refused, 0);
	assert_int_equal(number(&r, RSP_RULE(1)), 0);
	assert_int_equal(number(&r, RSP_RULE(2)), 0);
	assert_int_equal(r.refused, 2);
	/* Those that are there keep theirs. */
	assert_int_equal(number(&r, RSP_RULE(8 * 77)), 77);
	assert_int_equal(r.n, WIRE_UNWIND_RULES_MAX);
}

static void those_used_most_get_the_smallest_numbers(void **state)
{
	const uint32_t uses[] = {1, 5, 9, 5};
	_unwind_rules_ struct unwind_rules r = {};
	uint32_t numbers[4];

	number(&r, RSP_RULE(8));
	number(&r, RSP_RULE(16));
	number(&r, RSP_RULE(24));
	assert_int_equal(unwind_rules__sort(&r, uses, numbers), 0);
	/* Whatever its use, no rule is number 0; equal ones keep their order. */
	assert_int_equal(numbers[0], 0);
	assert_int_equal(numbers[1], 2);
	assert_int_equal(numbers[2], 1);
	assert_int_equal(numbers[3], 3);
	assert_rule(r.rules[0], NO_RULE);
	assert_rule(r.rules[1], RSP_RULE(16));
	assert_rule(r.rules[2], RSP_RULE(8));
	assert_int_equal(number(&r, RSP_RULE(16)), 1);
	assert_int_equal(number(&r, RSP_RULE(8)), 2);
	assert_int_equal(number(&r, RSP_RULE(32)), 4);
}

static void nothing_to_sort_is_no_error(void **state)
{
	_unwind_rules_ struct unwind_rules r = {};

	assert_int_equal(unwind_rules__sort(&r, NULL, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rule_has_one_number),
		cmocka_unit_test(too_many_rules_have_no_number),
		cmocka_unit_test(those_used_most_get_the_smallest_numbers),
		cmocka_unit_test(nothing_to_sort_is_no_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
