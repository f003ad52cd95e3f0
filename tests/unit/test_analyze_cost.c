// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/cost.h"

#include "test.h"

static const struct trace_costs costs = {.ps = {[TRACE_COST_EMULATED] = 500000}};

static const char *no_text(const void *ctx, uint32_t id)
{
	return "";
}

static struct trace_process process(uint32_t index, uint64_t cpu_ns)
{
	return (struct trace_process){
		.index = index,
		.pid = 100 + index,
		.start_ns = 1,
		.end_ns = 2,
		.cpu_ns = cpu_ns,
		.exit_status = TRACE_EXIT_UNKNOWN,
	};
}

/* Two compilers that used 900 and 300 ns, and 40 hits. */
static void make(struct model *m, const struct trace_overhead *overhead, bool cpu)
{
	const struct model_options options = {.texts = {.text = no_text}, .budget_ppm = 70000};
	struct trace_process a = process(0, cpu ? 900 : 0), b = process(1, cpu ? 300 : 0);
	struct trace_item items[] = {
		{.kind = TRACE_ITEM_COSTS, .costs = costs},
		{.kind = TRACE_ITEM_PROCESS, .process = &a},
		{.kind = TRACE_ITEM_PROCESS, .process = &b},
		{.kind = TRACE_ITEM_LOSSES, .losses.count[TRACE_COUNT_HITS] = 40},
	};
	struct trace_item last = {.kind = TRACE_ITEM_OVERHEAD};

	assert_int_equal(model__init(m, &options), 0);
	for (size_t i = 0; i < N_OF(items); i++)
		assert_int_equal(model__item(m, &items[i]), 0);
	if (overhead) {
		last.overhead = *overhead;
		assert_int_equal(model__item(m, &last), 0);
	}
	assert_int_equal(model__end(m), 0);
}

static void the_parts_add_up(void **state)
{
	const struct trace_overhead overhead = {.of = {100, 70, 25, 60, 5000, 2, 14, 45, 5}};
	_model_ struct model m = {};
	uint64_t sum = 0;
	struct cost c;

	make(&m, &overhead, true);
	c = cost_of(&m);
	for (int i = 0; i < COST_PARTS; i++)
		sum += c.ns[i];
	assert_true(c.whole);
	assert_int_equal(c.added_ns, 260);
	/* 75 of 1,000 ns come with each compiler. */
	assert_int_equal(c.budget_ppm, 70000);
	assert_int_equal(cost__fixed_ns(&c), 75);
	assert_true(cost__fixed_exceeds_budget(&c));
	c.budget_ppm = 75000;
	assert_false(cost__fixed_exceeds_budget(&c));
	assert_int_equal(sum, c.added_ns);
	assert_int_equal(c.hits, 40);
	assert_int_equal(c.breakpoints, 14);
	/* A part of ours, which is in the sum already. */
	assert_int_equal(c.set_up_ns, 45);
	/* Waiting is no CPU time. */
	assert_int_equal(c.waited_ns, 5000);
	assert_int_equal(c.n_waited, 2);
	/* 1,200 ns less the four parts that are in it. */
	assert_int_equal(c.compilers_ns, 1000);
	assert_int_equal(cost__share_ppm(&c), 260000);
}

/* An earlier version told only how many hits there were, and what one costs. */
static void without_parts_the_hits_are_known(void **state)
{
	_model_ struct model m = {};
	struct cost c;

	make(&m, NULL, true);
	c = cost_of(&m);
	assert_false(c.whole);
	assert_int_equal(c.added_ns, 40 * 500);
	assert_int_equal(c.ns[COST_PROBES], c.added_ns);
}

static void without_cpu_times_there_is_no_share(void **state)
{
	const struct trace_overhead overhead = {.of = {100, 70, 30, 60}};
	_model_ struct model m = {};
	struct cost c;

	make(&m, &overhead, false);
	c = cost_of(&m);
	assert_int_equal(c.added_ns, 260);
	assert_int_equal(c.compilers_ns, 0);
	assert_int_equal(cost__share_ppm(&c), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_parts_add_up),
		cmocka_unit_test(without_parts_the_hits_are_known),
		cmocka_unit_test(without_cpu_times_there_is_no_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
