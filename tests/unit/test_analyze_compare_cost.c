// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare_cost.h"

#include "test.h"

static const char *text_of(const void *ctx, uint32_t id)
{
	return "typeck";
}

/* One compiler of 20 intervals. */
static void fill(struct model *m)
{
	const struct trace_process compile = {.crate = (char *)"a", .cpu_ns = 100000};
	const struct model_options options = {.parts = MODEL_BUILD, .texts.text = text_of};
	const struct trace_span span = {.end_ns = 5};

	assert_int_equal(model__init(m, &options), 0);
	assert_int_equal(summary__process(m->summary, &compile), 0);
	assert_int_equal(build__process(m->build, &compile), 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(summary__span(m->summary, &span, &(struct trace_times){}), 0);
	m->has_losses = true;
	m->losses.count[TRACE_COUNT_HITS] = 160;
	m->overhead.of[TRACE_OVERHEAD_PROBES] = 4000;
	m->overhead.of[TRACE_OVERHEAD_BREAKPOINTS] = 300;
	m->overhead.of[TRACE_OVERHEAD_SAMPLES] = 20;
	m->overhead.of[TRACE_OVERHEAD_NAMES] = 60;
	m->overhead.of[TRACE_OVERHEAD_OWN] = 800;
	m->overhead.of[TRACE_OVERHEAD_WAITED] = 90;
	m->overhead.of[TRACE_OVERHEAD_N_WAITED] = 2;
}

static void it_is_what_compilers_took(void **state)
{
	struct compare_cost cost;
	_model_ struct model m = {};

	fill(&m);
	/* An earlier version tells hits only. */
	assert_false(compare_cost_of(&m, 1).known);
	m.has_overhead = true;
	cost = compare_cost_of(&m, 1);
	assert_true(cost.known);
	assert_int_equal(cost.ns[COMPARE_COST_PROBES], 4000);
	assert_int_equal(cost.ns[COMPARE_COST_SAMPLES], 20);
	assert_int_equal(cost.ns[COMPARE_COST_BREAKPOINTS], 300);
	assert_int_equal(cost.ns[COMPARE_COST_NAMES], 60);
	assert_int_equal(cost.ns[COMPARE_COST_WAITED], 90);
	assert_int_equal(cost.ns[COMPARE_COST_OWN], 800);
	/* Off-CPU times are unknown here, so CPU times are by samples, and whole. */
	assert_int_equal(cost.in_cpu, 1 << COMPARE_COST_PROBES | 1 << COMPARE_COST_SAMPLES |
					      1 << COMPARE_COST_NAMES |
					      1 << COMPARE_COST_BREAKPOINTS);
}

/* CPU times that begin at the first probe do not have them, but wall times do. */
static void breakpoints_are_in_wall_times(void **state)
{
	const struct trace_span off = {.end_ns = 5, .kind = TRACE_KIND_OFF_CPU};
	struct compare_cost cost;
	_model_ struct model m = {};

	fill(&m);
	m.has_overhead = true;
	assert_int_equal(build__span(m.build, &off), 0);
	cost = compare_cost_of(&m, 1);
	assert_int_equal(cost.ns[COMPARE_COST_BREAKPOINTS], 300);
	assert_int_equal(cost.in_cpu, 1 << COMPARE_COST_PROBES | 1 << COMPARE_COST_SAMPLES |
					      1 << COMPARE_COST_NAMES);
}

/*
 * The cost is that of the whole recording, of which the model has a quarter of the hits, and one of
 * three processes.
 */
static void a_part_of_a_recording_has_a_part_of_it(void **state)
{
	struct compare_cost cost;
	_model_ struct model m = {};

	fill(&m);
	m.has_overhead = true;
	/* How many samples the others had is not known. */
	assert_false(compare_cost_of(&m, 3).known);
	m.overhead.of[TRACE_OVERHEAD_SAMPLES] = 0;
	cost = compare_cost_of(&m, 3);
	assert_true(cost.known);
	assert_int_equal(cost.ns[COMPARE_COST_PROBES], 1000);
	assert_int_equal(cost.ns[COMPARE_COST_SAMPLES], 0);
	assert_int_equal(cost.ns[COMPARE_COST_OWN], 200);
	assert_int_equal(cost.ns[COMPARE_COST_BREAKPOINTS], 100);
	assert_int_equal(cost.ns[COMPARE_COST_NAMES], 20);
	/* It may be one of the two that waited. */
	assert_int_equal(cost.ns[COMPARE_COST_WAITED], 45);
	assert_int_equal(cost.n_waited, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_what_compilers_took),
		cmocka_unit_test(breakpoints_are_in_wall_times),
		cmocka_unit_test(a_part_of_a_recording_has_a_part_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
