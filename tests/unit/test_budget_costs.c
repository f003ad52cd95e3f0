// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/costs.h"

#include "test.h"

static void a_switch_is_charged_to_each_compiler(void **state)
{
	struct costs one = {.n_compilers = 1}, three = {.n_compilers = 3}, none = {0};

	assert_int_equal(costs__charge_switch(&one, 2), 0);
	assert_int_equal(costs__charge_switch(&three, 2), 0);
	assert_int_equal(costs__charge_switch(&none, 2), 0);
	assert_true(one.switched_ns > 0);
	assert_int_equal(three.switched_ns, 3 * one.switched_ns);
	assert_int_equal(none.switched_ns, 0);
}

static void a_failed_switch_costs_nothing(void **state)
{
	struct costs c = {.n_compilers = 1};

	assert_int_equal(costs__charge_switch(&c, -EAGAIN), -EAGAIN);
	assert_int_equal(c.switched_ns, 0);
}

static void a_hit_costs_more_in_a_compiler(void **state)
{
	struct costs c = {0};

	costs__set_hit(&c, 1000);
	assert_true(c.hit_ps > 1000);
	costs__set_hit(&c, 0);
	assert_int_equal(c.hit_ps, 0);
}

static void sites_are_installed_one_by_one(void **state)
{
	assert_true(costs_of_install(1) > 0);
	assert_int_equal(costs_of_install(1000), 1000 * costs_of_install(1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_switch_is_charged_to_each_compiler),
		cmocka_unit_test(a_failed_switch_costs_nothing),
		cmocka_unit_test(a_hit_costs_more_in_a_compiler),
		cmocka_unit_test(sites_are_installed_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
