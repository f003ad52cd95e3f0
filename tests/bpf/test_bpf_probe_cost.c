// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Measuring the probe costs leaves nothing in the following capture. */
#include "capture/probe_cost.h"

#include "capture.h"

static void measure(enum kernel_attach attach)
{
	struct kernel_options opt = {.attach = attach, .ring_bytes = 1 << 20};
	uint64_t counters[WIRE_COUNTER_MAX];
	_kernel_ struct kernel *k = NULL;
	struct records got = {0};
	struct probe_costs c;

	assert_int_equal(kernel__open(&opt, &k), 0);
	assert_int_equal(probe_costs__measure(k, &c), 0);
	assert_true(c.emulated.hit_ps > 0);
	assert_in_range(c.emulated.inside_ps, 1, 2 * c.emulated.hit_ps);
	assert_true(c.stepped.hit_ps > 0);
	assert_in_range(c.stepped.inside_ps, 1, 2 * c.stepped.hit_ps);

	assert_int_equal(kernel__drain(k, keep_record, &got), 0);
	assert_int_equal(got.n_spans + got.n_forks + got.n_execs + got.n_exits + got.n_others, 0);
	assert_false(kernel__follows_any(k));
	assert_int_equal(kernel__counters(k, counters), 0);
	for (int i = 0; i < WIRE_COUNTER_MAX; i++)
		assert_int_equal(counters[i], 0);
}

TEST_CASE(costs_are_measured_and_leave_no_trace)
{
	need_capture();
	measure(KERNEL_ATTACH_AUTO);
}

TEST_CASE(with_perf_events_too)
{
	need_capture();
	measure(KERNEL_ATTACH_PERF);
}

TEST_CASE(a_capture_is_exact_after_it)
{
	struct probe_costs costs;
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	capture_open(&c, KERNEL_ATTACH_AUTO, 4u << 20, 0);
	assert_int_equal(probe_costs__measure(c.kernel, &costs), 0);
	assert_true(costs.emulated.hit_ps > 0);
	capture_script(&c, "abcCdDehz a(b(c(C(d(D(e(h(z))))))))");
	assert_as_expected(&c);
	assert_whole(&c);
}

TEST_MAIN(NULL, NULL)
