// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/diff_rows.h"

#include "test.h"
#include "../fixtures/output.h"

TEST_CASE(what_makes_builds_hard_to_compare_is_said)
{
	const struct compare_recording sampled = {
		.compiles = 5, .cost_ppm = 21000, .sampled = true, .off_cpu = true};
	const struct compare_recording exact = {
		.compiles = 4, .reusing = 3, .probed = true, .off_cpu = true};
	const struct diff_trace traces[] = {
		{.side = COMPARE_BASE, .compiler = "rustc 1", .recording = sampled},
		{.side = COMPARE_NEW, .compiler = "rustc 2", .recording = exact}};
	const struct compare_result r = {
		.few_crates = true, .n_crates = 3, .n_crates_in = {3, 1}, .n_crates_in_both = 1};
	const struct diff_view v = {
		.result = &r,
		.traces = traces,
		.n_traces = 2,
		.differences = COMPARE_CLEAN_AND_INCREMENTAL | COMPARE_OTHER_RECORDING,
		.other_compilers = {&traces[0], &traces[1]},
	};
	_free_ char *text = printed_text(diff_head__differences(out, &v, "- ") ? 0 : -1);

	assert_string_equal(
		text,
		"- different work: base is a clean build; in new 3 of 4 compiles reused results "
		"(incremental): neither times nor executions say which is better\n"
		"- different work: crates compiled: 3 in base, 1 in new, 1 in both: the "
		"whole build is not compared\n"
		"- different compilers: base by `rustc 1`, new by `rustc 2`\n"
		"- recorded differently: base with counts and samples (+2.1 % in "
		"compilers), new with all probes: CPU and wall time hold the cost of recording, "
		"which "
		"differs, and are not compared; record all with --exact and the same options to "
		"compare them\n");
}

TEST_CASE(costs_of_recording_that_are_known_are_taken_out)
{
	const struct diff_trace traces[] = {
		{.side = COMPARE_BASE,
		 .recording = {.compiles = 1, .probed = true, .off_cpu = true}},
		{.side = COMPARE_NEW, .recording = {.compiles = 1, .sampled = true}}};
	struct compare_result r = {.without_cost = true};
	const struct diff_view v = {.result = &r,
				    .traces = traces,
				    .n_traces = 2,
				    .differences = COMPARE_OTHER_RECORDING};
	_free_ char *out_of_times = printed_text((diff_head__differences(out, &v, ""), 0));
	_free_ char *mixed = NULL;

	assert_contains(out_of_times, ": the cost of recording differs, and is taken out of CPU "
				      "times\n");
	r.mixed_cpu = true;
	mixed = printed_text((diff_head__differences(out, &v, ""), 0));
	assert_contains(mixed, ": CPU times are not compared: those of a trace are counted by "
			       "samples\n");
}

/* Beside the CPU time, whatever the rows are about; noise is only of what is compared. */
TEST_CASE(what_is_taken_out_of_cpu_times_is_said)
{
	static const struct {
		struct compare_result result;
		const char *text;
	} cases[] = {
		{{.without_cost = true},
		 "- CPU times are without what recording added in compilers: 14.0 ms in base, 0 ns "
		 "in new; half "
		 "of the difference counts as noise\n"},
		{{.without_cost = true, .rules.different_work = true},
		 "- CPU times are without what recording added in compilers: 14.0 ms in base, 0 ns "
		 "in new\n"},
		{{.without_cost = true, .mixed_cpu = true},
		 "- CPU times are without what recording added in compilers: 14.0 ms in base, 0 ns "
		 "in new\n"},
		{{}, ""},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct compare_result r = cases[i].result;
		const struct diff_view v = {.result = &r};
		_free_ char *text = NULL;

		r.rules.metric = COMPARE_COUNT;
		r.build.recording_ns[COMPARE_BASE] = 14000000;
		text = printed_text((diff_head__costs(out, &v, "- "), 0));
		if (*cases[i].text)
			assert_contains(text, cases[i].text);
		else
			assert_lacks(text, "recording");
	}
}

TEST_CASE(other_recordings_beside_a_side_are_a_reason)
{
	const char *const sides[] = {NULL, "beside base:", "beside new:", "beside both:"};

	for (unsigned int i = 0; i < N_OF(sides); i++) {
		const struct diff_trace traces[] = {
			{.side = COMPARE_BASE, .recording = {.n_beside = i & 1}},
			{.side = COMPARE_NEW, .recording = {.n_beside = i & 2}}};
		const struct compare_result r = {};
		const struct diff_view v = {.result = &r, .traces = traces, .n_traces = 2};
		_free_ char *text = printed_text(
			diff_head__differences(out, &v, "") == (sides[i] != NULL) ? 0 : -1);

		if (sides[i])
			assert_contains(text, sides[i]);
		else
			assert_string_equal(text, "");
	}
}

TEST_CASE(a_trace_without_compiles_was_not_recorded_differently)
{
	const struct diff_trace traces[] = {
		{.side = COMPARE_BASE},
		{.side = COMPARE_BASE, .recording = {.compiles = 1, .probed = true}},
		{.side = COMPARE_NEW, .recording = {.compiles = 1, .sampled = true}}};
	const struct compare_result r = {};
	const struct diff_view v = {.result = &r,
				    .traces = traces,
				    .n_traces = 3,
				    .differences = COMPARE_OTHER_RECORDING};
	_free_ char *text = printed_text((diff_head__differences(out, &v, ""), 0));

	assert_contains(text, "recorded differently: base with all probes, without off-CPU times, "
			      "new with counts and samples, without off-CPU times: ");
}

TEST_CASE(texts_of_a_trace_cannot_move_the_cursor)
{
	const struct diff_trace traces[] = {{.side = COMPARE_BASE, .compiler = "rustc \033[2J"},
					    {.side = COMPARE_NEW, .compiler = "rustc 2"}};
	const struct compare_unit unit = {.name = "a\033[2J"};
	struct compare_row crates[] = {{.unit = &unit}, {.unit = &unit}};
	struct compare_result r = {.crates = crates, .n_crates = 2};
	const struct diff_view v = {
		.result = &r, .traces = traces, .other_compilers = {&traces[0], &traces[1]}};
	_free_ char *compilers = NULL, *costs = NULL;

	for (int i = 0; i < COMPARE_N_SIDES; i++) {
		r.build.of[COMPARE_PEAK][i].median = 1 << 20;
		crates[0].of[COMPARE_PEAK][i].median = 1 << 20;
	}
	compilers = printed_text((diff_head__differences(out, &v, ""), 0));
	assert_string_equal(compilers, "different compilers: base by rustc ?[2J, new by rustc 2\n");
	costs = printed_text((diff_head__costs(out, &v, ""), 0));
	assert_contains(costs, ", most in a?[2J\n");
}

TEST_CASE(costs_are_said_with_the_metric_of_the_limits_first)
{
	struct compare_result r = {.rules.metric = COMPARE_PEAK};
	const struct diff_view v = {.result = &r};
	_free_ char *text = NULL, *self = NULL;

	for (int m = 0; m < COMPARE_N_METRICS; m++) {
		r.build.of[m][COMPARE_BASE].median = 1 << 20;
		r.build.of[m][COMPARE_NEW].median = 2 << 20;
	}
	r.build.known = r.build.changed = 0xff;
	text = printed_text((diff_head__costs(out, &v, ""), 0));
	assert_string_equal(text, "peak memory:  1.00 MiB -> 2.00 MiB, +1.00 MiB (+100.0 %)\n"
				  "wall time:    1.05 ms -> 2.10 ms, +1.05 ms (+100.0 %)\n"
				  "CPU time:     1.05 ms -> 2.10 ms, +1.05 ms (+100.0 %)\n"
				  "executions:   1,048,576 -> 2,097,152, +1,048,576 (+100.0 %)\n");
	r.rules.metric = COMPARE_SELF;
	r.build.of[COMPARE_PEAK][0].median = r.build.of[COMPARE_PEAK][1].median = 0;
	r.build.known &= ~(1 << COMPARE_WALL);
	r.build.changed = 1 << COMPARE_SELF;
	self = printed_text((diff_head__costs(out, &v, ""), 0));
	assert_contains(self,
			"wall time:    1.05 ms -> 2.10 ms, +1.05 ms (+100.0 %): no verdict with "
			"fewer than 3 traces a side\n"
			"CPU time:     1.05 ms -> 2.10 ms, +1.05 ms (+100.0 %): within noise\n"
			"self time:    1.05 ms -> 2.10 ms, +1.05 ms (+100.0 %)\n");
	assert_lacks(self, "memory");
	assert_lacks(self, "results");
}

TEST_MAIN(NULL, NULL)
