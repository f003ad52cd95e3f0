// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/sample_output.h"

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sampled_trace.h"
#include "../fixtures/temporary.h"
#include "../fixtures/trace_dump.h"

static const struct sampling_options options = {.hz = 499};

static uint32_t add(struct sample_output *o, uint32_t parent, uint8_t kind, uint32_t place)
{
	const struct trace_stack s = {.parent = parent, .kind = kind, .place = place};
	uint32_t id = 77;

	sample_output__stack(o, &s, &id);
	return id;
}

TEST_CASE_WITH(samples_reach_the_trace_and_are_counted, temporary_make, temporary_remove)
{
	_trace_output_ struct trace_output trace = {.writer = sampled_trace_open(temporary)};
	struct sample_output o = {.trace = &trace};
	struct trace_sample s = sampled_trace_sample(5, TRACE_NO_STACK);
	_free_ char *text = NULL;

	sample_output__begin(&o, &options, false);
	s.stack = add(&o, TRACE_NO_STACK, TRACE_STACK_QUERY, SAMPLED_TYPECK);
	sample_output__sample(&o, &s);
	s.cut = TRACE_CUT_NO_MAP;
	s.stack = TRACE_NO_STACK;
	sample_output__sample(&o, &s);
	assert_int_equal(o.n, 2);
	assert_int_equal(o.n_cut, 1);
	assert_int_equal(o.n_no_room, 0);
	assert_int_equal(trace_writer__finish(trace.writer), 0);
	text = dump_trace(temporary);
	assert_contains(text, "sampling 499 Hz, faults by 0\n");
	assert_contains(text, "stack=1: 1:typeck\n");
	assert_contains(text, "cut=1 stack=0:\nwhole\n");
}

/* A page fault has the innermost frame only, as was asked for. */
TEST_CASE_WITH(a_stack_that_was_not_asked_for_is_not_cut, temporary_make, temporary_remove)
{
	static const struct sampling_options light = {
		.fault_period = 10, .light = WIRE_LIGHT_NEAR, .hz = 499};
	_trace_output_ struct trace_output trace = {.writer = sampled_trace_open(temporary)};
	struct sample_output o = {.trace = &trace};
	struct trace_sample s = sampled_trace_sample(5, TRACE_NO_STACK);
	_free_ char *text = NULL;

	sample_output__begin(&o, &light, false);
	s.cut = TRACE_CUT_TOO_DEEP;
	sample_output__sample(&o, &s);
	s.cause = TRACE_SAMPLE_FAULT;
	sample_output__sample(&o, &s);
	assert_int_equal(o.n, 2);
	assert_int_equal(o.n_cut, 1);
	assert_int_equal(trace_writer__finish(trace.writer), 0);
	text = dump_trace(temporary);
	assert_contains(text, "sampling 499 Hz, faults by 10, light\n");
}

TEST_CASE_WITH(without_samples_nothing_is_written, temporary_make, temporary_remove)
{
	_trace_output_ struct trace_output trace = {.writer = sampled_trace_open(temporary)};
	struct sample_output o = {.trace = &trace};
	_free_ char *text = NULL;

	sample_output__begin(&o, &(struct sampling_options){0}, false);
	assert_int_equal(trace_writer__finish(trace.writer), 0);
	text = dump_trace(temporary);
	assert_lacks(text, "sampling");
}

/* A stack that is too deep stands for one that finds no room: the writer says the same. */
TEST_CASE_WITH(a_stack_without_room_is_left_out_whole, temporary_make, temporary_remove)
{
	_trace_output_ struct trace_output trace = {.writer = sampled_trace_open(temporary)};
	struct sample_output o = {.trace = &trace};
	struct trace_sample s = sampled_trace_sample(5, TRACE_NO_STACK);
	_free_ char *text = NULL;
	struct output out;

	sample_output__begin(&o, &options, false);
	output_begin(&out);
	for (int round = 0; round < 2; round++) {
		s.stack = TRACE_NO_STACK;
		for (int i = 0; i < TRACE_STACK_DEPTH_MAX; i++)
			s.stack = add(&o, s.stack, TRACE_STACK_LOCATION, 1);
		assert_int_equal(s.stack, TRACE_STACK_DEPTH_MAX);
		s.stack = add(&o, s.stack, TRACE_STACK_LOCATION, 1);
		assert_int_equal(s.stack, TRACE_NO_STACK);
		/* The entries inside it must not become outermost ones. */
		s.stack = add(&o, s.stack, TRACE_STACK_LOCATION, 2);
		assert_int_equal(s.stack, TRACE_NO_STACK);
		sample_output__sample(&o, &s);
	}
	output_end(&out);
	assert_contains(out.text[1], "the trace has no room for more stacks of samples");
	assert_one_line(out.text[1]);
	output_free(&out);
	s.stack = add(&o, TRACE_NO_STACK, TRACE_STACK_LOCATION, 2);
	sample_output__sample(&o, &s);
	assert_int_equal(o.n, 3);
	assert_int_equal(o.n_no_room, 2);
	assert_int_equal(trace_writer__finish(trace.writer), 0);
	text = dump_trace(temporary);
	assert_contains(text, "stack=0:\nsample 0/40 cpu 5 2004008 stack=0:\n"
			      "sample 0/40 cpu 5 2004008 stack=2049: rustc_driver::main+1"
			      "(/lib/librustc_driver.so)\nwhole\n");
}

TEST_CASE(nothing_goes_into_a_trace_that_failed)
{
	_trace_output_ struct trace_output trace = {.err = -ENOSPC};
	struct sample_output o = {.trace = &trace};
	const struct trace_sample s = sampled_trace_sample(5, TRACE_NO_STACK);

	sample_output__begin(&o, &options, false);
	assert_int_equal(add(&o, TRACE_NO_STACK, TRACE_STACK_LOCATION, 1), TRACE_NO_STACK);
	sample_output__sample(&o, &s);
	assert_int_equal(trace.err, -ENOSPC);
}

TEST_MAIN(NULL, NULL)
