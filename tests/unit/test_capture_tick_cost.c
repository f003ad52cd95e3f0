// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/tick_cost.h"

#include <sched.h>

#include "test.h"

#define READING_NS 40
#define TICK_NS	   22000

static void add(struct tick_gaps *g, uint64_t ns, unsigned int times)
{
	for (unsigned int i = 0; i < times; i++)
		assert_true(tick_gaps__add(g, ns));
}

/* Readings without an interrupt, and another thread that ran meanwhile, are no ticks. */
TEST_CASE(only_interrupts_are_gaps)
{
	struct tick_gaps g = {0};

	add(&g, READING_NS, 1000);
	add(&g, 4000000, 20);
	assert_int_equal(g.n, 0);
	assert_int_equal(tick_gaps__median(&g), 0);
}

/* The machine has other interrupts, fewer of them: shorter ones and longer ones. */
TEST_CASE(the_median_is_a_tick)
{
	struct tick_gaps g = {0};

	add(&g, 90000, 5);
	for (unsigned int i = 0; i < 25; i++) {
		add(&g, READING_NS, 3000);
		add(&g, TICK_NS + i, 1);
	}
	add(&g, 1500, 7);
	assert_int_equal(g.n, 37);
	/* 7 shorter ones are before it. */
	assert_int_equal(tick_gaps__median(&g), TICK_NS + 18 - 7);
}

TEST_CASE(few_gaps_are_no_ticks)
{
	struct tick_gaps g = {0};

	add(&g, TICK_NS, 11);
	assert_int_equal(tick_gaps__median(&g), 0);
	add(&g, TICK_NS, 1);
	assert_int_equal(tick_gaps__median(&g), TICK_NS);
}

TEST_CASE(gaps_without_room_are_dropped)
{
	struct tick_gaps g = {0};

	add(&g, TICK_NS, TICK_GAPS_MAX - 1);
	assert_false(tick_gaps__add(&g, TICK_NS));
	assert_false(tick_gaps__add(&g, 2 * TICK_NS));
	assert_int_equal(g.n, TICK_GAPS_MAX);
	assert_int_equal(tick_gaps__median(&g), TICK_NS);
}

/* With or without the right to open an event. */
TEST_CASE(the_thread_may_move_again)
{
	cpu_set_t before, after;

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	tick_cost_ns();
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
}

TEST_MAIN(NULL, NULL)
