// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/cost_shares.h"

#include "test.h"
#include "../fixtures/rows.h"

static void give(struct cost_shares *all, struct cost_share *one, uint8_t type, int n)
{
	while (n--)
		cost_shares__record(all, one, type);
}

/* Takes the time `ns` of this process as told, and divides it. */
static void divide(struct cost_shares *all, struct cost_share *a, struct cost_share *b, uint64_t ns)
{
	const struct overhead_input in = {
		.own_ns = ns - 50, .session.helpers_ns = 50, .set_up_ns = 1000};

	cost_shares__update(all, &in);
	cost_share__divide(a, all);
	cost_share__divide(b, all);
	cost_shares__divided(all);
}

TEST_CASE(own_time_is_divided_by_records)
{
	struct cost_shares all = {};
	struct cost_share a = {}, b = {};

	give(&all, &a, WIRE_SPAN, 6);
	give(&all, &b, WIRE_THREAD, 2);
	give(&all, NULL, WIRE_SPAN, 2);
	/* Set-up is of no build, nor is what was for the last two. */
	divide(&all, &a, &b, 1100);
	assert_int_equal(a.own_ns, 60);
	assert_int_equal(b.own_ns, 20);
	/* Nor is what it takes to wait. */
	divide(&all, &a, &b, 5000);
	give(&all, &b, WIRE_SPAN, 1);
	divide(&all, &a, &b, 5300);
	assert_int_equal(a.own_ns, 60);
	assert_int_equal(b.own_ns, 320);
	/* The time of helpers may seem to go back. */
	give(&all, &b, WIRE_SPAN, 1);
	divide(&all, &a, &b, 5200);
	give(&all, &b, WIRE_SPAN, 1);
	divide(&all, &a, &b, 5310);
	assert_int_equal(b.own_ns, 330);
}

TEST_CASE(what_is_charged_to_one_is_not_divided)
{
	struct cost_shares all = {};
	struct cost_share a = {}, b = {};

	divide(&all, &a, &b, 1100);
	cost_share__charge(&a, &all, 300);
	assert_int_equal(a.own_ns, 300);
	give(&all, &a, WIRE_SPAN, 1);
	give(&all, &b, WIRE_SPAN, 1);
	/* 500 more than before, of which 300 were charged. */
	divide(&all, &a, &b, 1600);
	assert_int_equal(a.own_ns, 400);
	assert_int_equal(b.own_ns, 100);
}

TEST_CASE(hits_are_divided_by_intervals)
{
	struct cost_shares all = {};
	struct cost_share a = {}, b = {};

	assert_int_equal(cost_share__hits(&a, &all, 100), 0);
	give(&all, &a, WIRE_SPAN, 10);
	give(&all, &b, WIRE_SPAN, 25);
	give(&all, &b, WIRE_HIT, 10);
	/* No probe is hit for these. */
	give(&all, &b, WIRE_OFF_CPU, 100);
	assert_int_equal(cost_share__hits(&a, &all, 100), 25);
	assert_int_equal(cost_share__hits(&b, &all, 100), 75);
	/* Those of threads that run are not counted yet. */
	assert_int_equal(cost_share__hits(&a, &all, 8), 20);
}

TEST_CASE(times_are_divided_by_samples_and_intervals)
{
	const uint64_t counters[WIRE_COUNTER_MAX] = {
		[WIRE_COUNT_TICKS] = 40,
		[WIRE_COUNT_SAMPLES_NS] = 4000,
		[WIRE_COUNT_NAMES_NS] = 900,
	};
	uint64_t own[WIRE_COUNTER_MAX] = {0};
	struct cost_shares all = {};
	struct cost_share a = {}, b = {};

	cost_share__times(&a, &all, counters, own);
	assert_int_equal(own[WIRE_COUNT_TICKS], 0);
	give(&all, &a, WIRE_SAMPLE, 1);
	give(&all, &b, WIRE_SAMPLE, 3);
	give(&all, &a, WIRE_SPAN, 2);
	give(&all, &b, WIRE_SPAN, 1);
	cost_share__times(&a, &all, counters, own);
	assert_pairs(own[WIRE_COUNT_TICKS], 10, own[WIRE_COUNT_SAMPLES_NS], 1000,
		     own[WIRE_COUNT_NAMES_NS], 600);
}

TEST_CASE(the_rest_is_counted_for_each)
{
	const struct probe_costs costs = {.emulated.hit_ps = 800000};
	const struct overhead_input in = {
		.costs = &costs,
		.session = {.breakpoints = 500, .helpers_ns = 30, .waited_ns = 99, .n_waited = 9},
		.own_ns = 100,
		.set_up_ns = 90,
	};
	const uint64_t counters[WIRE_COUNTER_MAX] = {[WIRE_COUNT_HITS] = 7};
	struct cost_share a = {.own_ns = 5, .waited_ns = 77, .n_waited = 2};
	struct cost_shares all = {};
	struct overhead_input own;

	give(&all, &a, WIRE_SAMPLE, 3);
	assert_int_equal(a.samples, 3);
	cost_shares__update(&all, &in);
	own = cost_share__input(&a, &all, counters);
	assert_ptr_equal(own.counters, counters);
	assert_ptr_equal(own.costs, &costs);
	assert_pairs(own.own_ns, 5, own.set_up_ns, 0, own.session.breakpoints, 500,
		     own.session.helpers_ns, 0, own.session.waited_ns, 77, own.session.n_waited, 2);
}

TEST_MAIN(NULL, NULL)
