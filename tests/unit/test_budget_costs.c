// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/costs.h"

#include "test.h"

static void a_hit_costs_more_in_a_compiler(void **state)
{
	struct costs c = {0};

	costs__set_hit(&c, 1000000);
	assert_true(c.hit_ps > 1000000 && c.hit_ps < 3000000);
	costs__set_hit(&c, 0);
	assert_int_equal(c.hit_ps, 0);
}

static void every_site_is_installed(void **state)
{
	assert_int_equal(costs_of_install(0), 0);
	assert_int_equal(costs_of_install(1000), 1000 * costs_of_install(1));
	assert_in_range(costs_of_install(1), 1000, 20000);
}

static void samples_leave_most_of_a_budget_to_probes(void **state)
{
	uint32_t last = 0;

	for (uint64_t ppm = 1; ppm <= 1000000; ppm = ppm * 5 / 4 + 1) {
		uint32_t hz = costs_sample_hz(ppm);

		assert_in_range(hz, 1, 499);
		assert_true(hz >= last);
		assert_true(hz == 1 || 4 * costs_of_samples_ppm(hz) <= ppm);
		last = hz;
	}
	assert_int_equal(last, 499);
	assert_int_equal(costs_sample_hz(100000), 499);
	/* Interrupts of the clock are a part of it: 1.9 % at the usual rate. */
	assert_in_range(costs_of_samples_ppm(499), 18000, 20000);
	assert_in_range(costs_sample_hz(30000), 150, 250);
	assert_int_equal(costs_of_samples_ppm(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hit_costs_more_in_a_compiler),
		cmocka_unit_test(every_site_is_installed),
		cmocka_unit_test(samples_leave_most_of_a_budget_to_probes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
