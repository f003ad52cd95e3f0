// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare_sides.h"

#include "test.h"

static const struct compare_recording clean = {
	.compiles = 3, .probed = true, .sampled = true, .off_cpu = true};

TEST_CASE(what_differs_is_found_between_sides_and_within_one)
{
	struct compare_recording all[] = {clean, clean, clean};

	assert_int_equal(compare_sides_differ(all, 1, 2), 0);
	all[2].reusing = 1;
	assert_int_equal(compare_sides_differ(all, 1, 2), COMPARE_CLEAN_AND_INCREMENTAL);
	all[0].reusing = 2;
	assert_int_equal(compare_sides_differ(all, 1, 2), 0);
	all[1].probed = false;
	assert_int_equal(compare_sides_differ(all, 2, 1), COMPARE_OTHER_RECORDING);
}

TEST_CASE(what_is_recorded_differs_and_not_what_it_costs)
{
	struct compare_recording all[] = {clean, clean};

	all[0].cost_ppm = 80000;
	all[1].cost_ppm = 250000;
	assert_int_equal(compare_sides_differ(all, 1, 1), 0);
	all[1] = (struct compare_recording){.compiles = 3, .probed = true, .off_cpu = true};
	assert_int_equal(compare_sides_differ(all, 1, 1), COMPARE_OTHER_RECORDING);
}

/* One of a crate that was not compiled, for example. */
TEST_CASE(a_trace_without_compiles_does_not_differ)
{
	const struct compare_recording none = {.off_cpu = false}, exact = {.compiles = 1};
	struct compare_recording reusing = clean;

	reusing.reusing = 2;
	assert_int_equal(compare_sides_differ((struct compare_recording[]){none, reusing}, 1, 1),
			 0);
	assert_int_equal(compare_sides_differ((struct compare_recording[]){reusing, none}, 1, 1),
			 0);
	assert_int_equal(
		compare_sides_differ((struct compare_recording[]){none, clean, exact}, 1, 2),
		COMPARE_OTHER_RECORDING);
}

TEST_CASE(recordings_are_told_in_words)
{
	const struct compare_recording exact = {.probed = true, .off_cpu = true};
	const struct compare_recording samples = {.sampled = true, .cost_ppm = 21000};
	const struct compare_recording counts = {.off_cpu = true};
	char buf[COMPARE_RECORDING_TEXT];

	assert_string_equal(compare_recording_text(buf, &clean), "all probes and samples");
	assert_string_equal(compare_recording_text(buf, &exact), "all probes");
	assert_string_equal(compare_recording_text(buf, &counts), "counts alone");
	assert_string_equal(compare_recording_text(buf, &samples),
			    "counts and samples, without off-CPU times (+2.1 % in compilers)");
}

TEST_CASE(a_recording_is_that_of_its_model)
{
	const struct trace_process compile = {.crate = (char *)"a", .cpu_ns = 1100};
	const struct trace_span load = {.kind = TRACE_KIND_LOAD, .end_ns = 5};
	const struct model_options options = {.parts = MODEL_BUILD, .texts = {NULL, NULL}};
	struct compare_recording r;
	struct cost cost;
	_model_ struct model m = {};

	assert_int_equal(model__init(&m, &options), 0);
	assert_int_equal(summary__process(m.summary, &compile), 0);
	assert_int_equal(build__process(m.build, &compile), 0);
	assert_int_equal(build__end(m.build), 0);
	assert_int_equal(summary__span(m.summary, &load, &(struct trace_times){}), 0);
	m.has_overhead = true;
	m.overhead.of[TRACE_OVERHEAD_PROBES] = 100;
	m.overhead.of[TRACE_OVERHEAD_OWN] = 70; /* of another process */
	cost = cost_of(&m, 1);
	r = compare_recording_of(&m, &cost);
	assert_int_equal(r.compiles, 1);
	assert_int_equal(r.reusing, 1);
	assert_int_equal(r.cost_ppm, 100000);
	assert_true(r.probed && !r.sampled && !r.off_cpu);
	m.by_samples = true;
	assert_false(compare_recording_of(&m, &cost).probed);
}

TEST_MAIN(NULL, NULL)
