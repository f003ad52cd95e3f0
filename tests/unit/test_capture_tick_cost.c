// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/tick_cost.h"

#include <sched.h>

#include "test.h"

/* Without the right to open an event it is not measured; no figure is longer than a gap may be. */
static void a_tick_is_measured_and_the_thread_may_move_again(void **state)
{
	cpu_set_t before, after;

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	assert_true(tick_cost_ns() < 100000);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tick_is_measured_and_the_thread_may_move_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
