// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/probe_share.h"

#include "test.h"
#include "../fixtures/sample_summary.h"

static const struct trace_costs costs = {.ps = {[TRACE_COST_EMULATED] = 500000}};

static void hits_are_multiplied_by_their_cost(void **state)
{
	const struct trace_losses losses = {
		.count = {[TRACE_COUNT_HITS] = 1000, [TRACE_COUNT_HITS_OTHER] = 77}};
	_summary_ struct summary *s = sample_one();
	struct probe_share share = probe_share_of(s, &costs, &losses);

	assert_int_equal(share.hits, 1000);
	assert_int_equal(share.probe_ns, 500000);
	assert_int_equal(share.wall_ns, 800);
}

/* In a cut trace, threads have not reported their hits yet. */
static void each_span_had_two(void **state)
{
	const struct trace_losses losses = {.count = {[TRACE_COUNT_HITS] = 1}};
	_summary_ struct summary *s = sample_one();
	uint64_t hits = 2 * summary__spans(s);

	assert_int_equal(probe_share_of(s, &costs, &losses).hits, hits);
	assert_int_equal(probe_share_of(s, &costs, NULL).probe_ns, hits * 500);
}

static void unknown_costs_are_none(void **state)
{
	_summary_ struct summary *s = sample_one();

	assert_int_equal(probe_share_of(s, NULL, NULL).probe_ns, 0);
	assert_int_equal(probe_share_of(s, NULL, NULL).hits, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hits_are_multiplied_by_their_cost),
		cmocka_unit_test(each_span_had_two),
		cmocka_unit_test(unknown_costs_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
