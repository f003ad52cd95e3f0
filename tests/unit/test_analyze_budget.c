// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void decide(struct budget *b, uint64_t ns, uint32_t label, uint8_t watch)
{
	const struct trace_decision d = {
		.time_ns = ns, .label = label, .watch = watch, .budget_ppm = ns};

	assert_int_equal(budget__decision(b, &d), 0);
}

static void time_counts_for_what_was_decided_last(void **state)
{
	struct budget b = {0};

	(void)state;
	decide(&b, 100, 7, TRACE_WATCH_COUNTED);
	decide(&b, 110, 3, TRACE_WATCH_OFF);
	decide(&b, 130, 7, TRACE_WATCH_OFF);
	decide(&b, 170, 7, TRACE_WATCH_FULL);
	decide(&b, 200, 7, TRACE_WATCH_COUNTED);
	budget__end(&b, 205);
	assert_int_equal(b.n, 2);
	assert_int_equal(b.decisions, 5);
	assert_int_equal(b.ppm, 200);
	assert_int_equal(b.rows[0].label, 7);
	assert_int_equal(b.rows[0].decisions, 4);
	assert_int_equal(b.rows[0].watch, TRACE_WATCH_COUNTED);
	assert_int_equal(b.rows[0].ns[TRACE_WATCH_COUNTED], 35);
	assert_int_equal(b.rows[0].ns[TRACE_WATCH_OFF], 40);
	assert_int_equal(b.rows[0].ns[TRACE_WATCH_FULL], 30);
	assert_int_equal(b.rows[1].ns[TRACE_WATCH_OFF], 95);
	budget__destroy(&b);
}

static void time_that_goes_backwards_counts_for_nothing(void **state)
{
	struct budget b = {0};

	(void)state;
	decide(&b, 100, 7, TRACE_WATCH_OFF);
	decide(&b, 50, 7, TRACE_WATCH_COUNTED);
	decide(&b, 120, 7, TRACE_WATCH_FULL);
	budget__end(&b, 60);
	assert_int_equal(b.rows[0].ns[TRACE_WATCH_OFF], 0);
	assert_int_equal(b.rows[0].ns[TRACE_WATCH_COUNTED], 20);
	assert_int_equal(b.rows[0].ns[TRACE_WATCH_FULL], 0);
	budget__destroy(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_counts_for_what_was_decided_last),
		cmocka_unit_test(time_that_goes_backwards_counts_for_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
