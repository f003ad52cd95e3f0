// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/sample_reader.h"

#include "test.h"
#include "../fixtures/sampled_trace.h"
#include "../fixtures/temporary.h"
#include "trace/reader.h"

/* Samples at 1000 (typeck), 2000 (mir_built), 3000 (no stack), and off the CPU 4000 to 5000. */
static void write_trace(void)
{
	_trace_writer_ struct trace_writer *w = sampled_trace_open(temporary);
	struct trace_process other = {
		.index = 1, .pid = 41, .exit_status = TRACE_EXIT_UNKNOWN, .command = "rustc"};
	struct trace_sample s[4];

	sampled_trace_begin(w);
	assert_int_equal(trace_writer__process(w, &other), 0);
	s[0] = sampled_trace_sample(1000, sampled_trace_stack(w, SAMPLED_TYPECK, 5));
	s[1] = sampled_trace_sample(2000, sampled_trace_stack(w, SAMPLED_MIR_BUILT, 6));
	/* The interval that probes saw does not count for the filter. */
	s[2] = sampled_trace_sample(3000, TRACE_NO_STACK);
	s[2].label = SAMPLED_TYPECK;
	s[3] = sampled_trace_sample(4000, sampled_trace_entry(w, 2, TRACE_STACK_UNKNOWN, 0));
	s[3].cause = TRACE_SAMPLE_OFF_CPU;
	s[3].value = 1000;
	s[3].process = 1;
	for (size_t i = 0; i < N_OF(s); i++)
		assert_int_equal(trace_writer__sample(w, &s[i]), 0);
	assert_int_equal(trace_writer__finish(w), 0);
}

/* The sum of the times of the samples that a filter lets pass. */
static uint64_t times_of(const struct trace_filter *filter)
{
	_trace_reader_ struct trace_reader *r = NULL;
	struct trace_item item;
	uint64_t sum = 0;

	assert_int_equal(trace_reader__open(temporary, &r, NULL), 0);
	trace_reader__filter(r, filter);
	while (!trace_reader__next(r, &item) && item.kind != TRACE_ITEM_END)
		sum += item.kind == TRACE_ITEM_SAMPLE ? item.sample.time_ns : 0;
	assert_null(trace_reader__problem(r));
	assert_int_equal(trace_reader__stats(r).samples, 4);
	return sum;
}

static bool is_typeck(void *ctx, const char *text)
{
	return !strcmp(text, "typeck");
}

static bool is_first(void *ctx, const struct trace_process *p)
{
	return !p->index;
}

static void filters_apply_to_samples(void **state)
{
	struct trace_filter filter = {.to_ns = UINT64_MAX};

	write_trace();
	assert_int_equal(times_of(&filter), 10000);
	filter.from_ns = 2500;
	assert_int_equal(times_of(&filter), 7000);
	filter.from_ns = 5000;
	assert_int_equal(times_of(&filter), 4000);
	filter.from_ns = 5001;
	assert_int_equal(times_of(&filter), 0);
	filter = (struct trace_filter){.to_ns = 2000};
	assert_int_equal(times_of(&filter), 3000);
	filter = (struct trace_filter){.to_ns = UINT64_MAX, .process = is_first};
	assert_int_equal(times_of(&filter), 6000);
	/* An execution that is unknown counts for the interval around it. */
	filter = (struct trace_filter){.to_ns = UINT64_MAX, .label = is_typeck};
	assert_int_equal(times_of(&filter), 5000);
}

static void what_probes_saw_is_resolved(void **state)
{
	_trace_writer_ struct trace_writer *w = sampled_trace_open(temporary);
	_trace_reader_ struct trace_reader *r = NULL;
	struct trace_sample s = sampled_trace_sample(1, TRACE_NO_STACK);
	struct trace_item item = {0};

	sampled_trace_begin(w);
	s.label = SAMPLED_MIR_BUILT;
	s.kind = TRACE_KIND_LOAD;
	s.cut = TRACE_CUT_TOO_DEEP;
	assert_int_equal(trace_writer__sample(w, &s), 0);
	assert_int_equal(trace_writer__finish(w), 0);
	assert_int_equal(trace_reader__open(temporary, &r, NULL), 0);
	while (item.kind != TRACE_ITEM_SAMPLE)
		assert_int_equal(trace_reader__next(r, &item), 0);
	assert_int_equal(item.sample.label, SAMPLED_MIR_BUILT);
	assert_int_equal(item.sample.kind, TRACE_KIND_LOAD);
	assert_int_equal(trace_reader__stats(r).cut_samples, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(filters_apply_to_samples, temporary_make,
						temporary_remove),
		cmocka_unit_test_setup_teardown(what_probes_saw_is_resolved, temporary_make,
						temporary_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
