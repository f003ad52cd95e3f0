// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/decisions.h"

#include "test.h"

#define _decisions_ __cleanup(decisions__destroy)

static void decide_on(struct decisions *all, uint8_t kind, uint64_t ns, uint32_t label,
		      uint8_t watch)
{
	const struct trace_decision d = {
		.kind = kind, .time_ns = ns, .label = label, .watch = watch, .budget_ppm = ns};

	assert_int_equal(decisions__add(all, &d), 0);
}

static void decide(struct decisions *all, uint64_t ns, uint32_t label, uint8_t watch)
{
	decide_on(all, TRACE_KIND_QUERY, ns, label, watch);
}

static void time_counts_for_what_was_decided_last(void **state)
{
	_decisions_ struct decisions all = {0};

	decide(&all, 100, 7, TRACE_WATCH_COUNTED);
	decide(&all, 110, 3, TRACE_WATCH_OFF);
	decide(&all, 130, 7, TRACE_WATCH_OFF);
	decide(&all, 170, 7, TRACE_WATCH_FULL);
	decide(&all, 200, 7, TRACE_WATCH_COUNTED);
	decisions__end(&all, 205);
	assert_int_equal(all.rows.n, 2);
	assert_int_equal(all.total, 5);
	assert_int_equal(all.ppm, 200);
	assert_int_equal(all.rows.at[0].label, 7);
	assert_int_equal(all.rows.at[0].decisions, 4);
	assert_int_equal(all.rows.at[0].watch, TRACE_WATCH_COUNTED);
	assert_int_equal(all.rows.at[0].ns[TRACE_WATCH_COUNTED], 35);
	assert_int_equal(all.rows.at[0].ns[TRACE_WATCH_OFF], 40);
	assert_int_equal(all.rows.at[0].ns[TRACE_WATCH_FULL], 30);
	assert_int_equal(all.rows.at[1].ns[TRACE_WATCH_OFF], 95);
}

static void time_that_goes_backwards_counts_for_nothing(void **state)
{
	_decisions_ struct decisions all = {0};

	decide(&all, 100, 7, TRACE_WATCH_OFF);
	decide(&all, 50, 7, TRACE_WATCH_COUNTED);
	decide(&all, 120, 7, TRACE_WATCH_FULL);
	decisions__end(&all, 60);
	assert_int_equal(all.rows.at[0].ns[TRACE_WATCH_OFF], 0);
	assert_int_equal(all.rows.at[0].ns[TRACE_WATCH_COUNTED], 20);
	assert_int_equal(all.rows.at[0].ns[TRACE_WATCH_FULL], 0);
}

static void decisions_about_loads_have_their_own_row(void **state)
{
	_decisions_ struct decisions all = {0};

	decide(&all, 100, 7, TRACE_WATCH_OFF);
	decide_on(&all, TRACE_KIND_LOAD, 100, 7, TRACE_WATCH_OFF);
	assert_int_equal(all.rows.n, 2);
	assert_int_equal(all.rows.at[1].kind, TRACE_KIND_LOAD);
}

static void loads_switched_on_late_are_watched_from_then_on(void **state)
{
	_decisions_ struct decisions all = {0};

	decide_on(&all, TRACE_KIND_LOAD, 100, 7, TRACE_WATCH_OFF);
	assert_true(decisions__watched_from(&all, TRACE_KIND_LOAD) == UINT64_MAX);
	assert_int_equal(decisions__watched_from(&all, TRACE_KIND_BLOCKED), 0);
	decide_on(&all, TRACE_KIND_LOAD, 200, 7, TRACE_WATCH_FULL);
	decisions__end(&all, 1000);
	assert_int_equal(decisions__watched_from(&all, TRACE_KIND_LOAD), 200);
}

static void queries_are_off_by_their_last_decision(void **state)
{
	_decisions_ struct decisions all = {0};

	decide_on(&all, TRACE_KIND_LOAD, 100, 7, TRACE_WATCH_OFF);
	assert_false(decisions__any_off(&all));
	decide_on(&all, TRACE_KIND_QUERY, 100, 8, TRACE_WATCH_OFF);
	decide_on(&all, TRACE_KIND_QUERY, 100, 9, TRACE_WATCH_OFF);
	decide_on(&all, TRACE_KIND_QUERY, 200, 9, TRACE_WATCH_FULL);
	assert_true(decisions__any_off(&all));
	assert_int_equal(decisions__queries(&all), 2);
	assert_true(decisions__is_off(&all, 8));
	assert_false(decisions__is_off(&all, 7));
	assert_false(decisions__is_off(&all, 9));
	assert_false(decisions__is_off(&all, 10));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_counts_for_what_was_decided_last),
		cmocka_unit_test(time_that_goes_backwards_counts_for_nothing),
		cmocka_unit_test(decisions_about_loads_have_their_own_row),
		cmocka_unit_test(loads_switched_on_late_are_watched_from_then_on),
		cmocka_unit_test(queries_are_off_by_their_last_decision),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
