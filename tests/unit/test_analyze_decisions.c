// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/decisions.h"

#include "test.h"

#define _decisions_ __cleanup(decisions__destroy)

static void decide(struct decisions *all, uint8_t kind, uint32_t label, uint64_t cost_ppm)
{
	const struct trace_decision d = {
		.kind = kind, .label = label, .cost_ppm = cost_ppm, .budget_ppm = 50000};

	assert_int_equal(decisions__add(all, &d), 0);
}

static void the_last_cost_and_the_budget_are_kept(void **state)
{
	_decisions_ struct decisions all = {0};

	decide(&all, TRACE_KIND_QUERY, 7, 41000);
	decide(&all, TRACE_KIND_QUERY, 3, 39000);
	decide(&all, TRACE_KIND_QUERY, 7, 40000);
	assert_int_equal(all.total, 3);
	assert_int_equal(all.ppm, 50000);
	assert_int_equal(all.last_cost_ppm, 40000);
	assert_int_equal(all.rows.n, 2);
	assert_int_equal(all.rows.at[0].label, 7);
	assert_int_equal(all.rows.at[0].decisions, 2);
}

static void decisions_about_loads_have_their_own_row(void **state)
{
	_decisions_ struct decisions all = {0};

	decide(&all, TRACE_KIND_QUERY, 7, 0);
	decide(&all, TRACE_KIND_LOAD, 7, 0);
	assert_int_equal(all.rows.n, 2);
	assert_int_equal(all.rows.at[1].kind, TRACE_KIND_LOAD);
}

static void queries_are_off_by_decisions_on_them(void **state)
{
	_decisions_ struct decisions all = {0};

	decide(&all, TRACE_KIND_LOAD, 7, 0);
	assert_int_equal(decisions__queries(&all), 0);
	decide(&all, TRACE_KIND_QUERY, 8, 0);
	decide(&all, TRACE_KIND_QUERY, 9, 0);
	assert_int_equal(decisions__queries(&all), 2);
	assert_true(decisions__is_off(&all, 8));
	assert_false(decisions__is_off(&all, 7));
	assert_false(decisions__is_off(&all, 10));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_cost_and_the_budget_are_kept),
		cmocka_unit_test(decisions_about_loads_have_their_own_row),
		cmocka_unit_test(queries_are_off_by_decisions_on_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
