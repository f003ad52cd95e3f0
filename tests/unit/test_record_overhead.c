// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/overhead.h"

#include "test.h"

TEST_CASE(parts_are_numbers_times_costs)
{
	uint64_t counters[WIRE_COUNTER_MAX] = {
		[WIRE_COUNT_HITS] = 1000,    [WIRE_COUNT_SAMPLES] = 2,	 [WIRE_COUNT_TICKS] = 3,
		[WIRE_COUNT_SAMPLES_NS] = 9, [WIRE_COUNT_NAMES_NS] = 44,
	};
	const struct probe_costs costs = {.emulated.hit_ps = 800000};
	struct overhead_input in = {
		.counters = counters,
		.costs = &costs,
		.session = {.breakpoint_ns = 4000,
			    .helpers_ns = 30,
			    .tick_ns = 2500,
			    .waited_ns = 77,
			    .n_waited = 2},
		.breakpoints = 3000,
		.own_ns = 100,
		.set_up_ns = 90,
		.read_ns = 600,
		.command_ns = 5000,
	};
	struct trace_overhead o = overhead_of(&in);

	/* A hit in a compiler costs a quarter more than where it is measured. */
	assert_int_equal(o.of[TRACE_OVERHEAD_PROBES], 1000 * 1000);
	assert_int_equal(o.of[TRACE_OVERHEAD_N_BREAKPOINTS], 3000);
	assert_int_equal(o.of[TRACE_OVERHEAD_BREAKPOINTS], 3000 * 4000);
	/* A tick without a sample has its cost, too. */
	assert_int_equal(o.of[TRACE_OVERHEAD_SAMPLES], 3 * 2500 + 9);
	assert_int_equal(o.of[TRACE_OVERHEAD_NAMES], 44);
	assert_int_equal(o.of[TRACE_OVERHEAD_OWN], 130);
	assert_int_equal(o.of[TRACE_OVERHEAD_SET_UP], 90);
	assert_int_equal(o.of[TRACE_OVERHEAD_READ], 600);
	assert_int_equal(o.of[TRACE_OVERHEAD_WAITED], 77);
	assert_int_equal(o.of[TRACE_OVERHEAD_N_WAITED], 2);
	/* With probes each process is seen; from outside, what was read. */
	assert_int_equal(o.of[TRACE_OVERHEAD_UNSEEN], 0);
	in.session.seen_ns = 4200;
	assert_int_equal(overhead_of(&in).of[TRACE_OVERHEAD_UNSEEN], 800);
	in.session.seen_ns = 5200;
	assert_int_equal(overhead_of(&in).of[TRACE_OVERHEAD_UNSEEN], 0);
}

/* While it is recorded, nothing is measured yet; hits never are where no query has a probe. */
TEST_CASE(hits_breakpoints_and_ticks_have_usual_costs)
{
	const uint64_t counters[WIRE_COUNTER_MAX] = {[WIRE_COUNT_HITS] = 1, [WIRE_COUNT_TICKS] = 1};
	const struct probe_costs costs = {};
	struct overhead_input in = {
		.counters = counters,
		.costs = &costs,
		.breakpoints = 10,
	};

	assert_true(overhead_of(&in).of[TRACE_OVERHEAD_PROBES] > 0);
	assert_true(overhead_of(&in).of[TRACE_OVERHEAD_BREAKPOINTS] > 0);
	assert_true(overhead_of(&in).of[TRACE_OVERHEAD_SAMPLES] > 0);
}

/* A part that is attached later is in no compiler that came before. */
TEST_CASE(compilers_have_the_breakpoints_of_their_time)
{
	struct breakpoints b = {0};

	assert_int_equal(breakpoints__count(&b, 0, 1000), 0);
	assert_int_equal(breakpoints__count(&b, 3, 1000), 3000);
	assert_int_equal(breakpoints__count(&b, 3, 1500), 3000);
	assert_int_equal(breakpoints__count(&b, 5, 1500), 6000);
}

TEST_CASE(the_command_is_not_ours)
{
	assert_int_equal(overhead_own_ns(UINT64_MAX), 0);
}

TEST_MAIN(NULL, NULL)
