// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/writer.h"

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sampled_trace.h"
#include "../fixtures/temporary.h"
#include "../fixtures/trace_dump.h"
#include "../fixtures/walks.h"

static void samples_come_back_with_their_stacks(void **state)
{
	_trace_writer_ struct trace_writer *w = sampled_trace_open(temporary);
	struct trace_sample s;
	_free_ char *text = NULL;

	sampled_trace_begin(w);
	s = sampled_trace_sample(1000, sampled_trace_stack(w, SAMPLED_TYPECK, 5));
	assert_int_equal(trace_writer__sample(w, &s), 0);
	s = sampled_trace_sample(2000, sampled_trace_stack(w, SAMPLED_MIR_BUILT, 6));
	s.cut = TRACE_CUT_NO_RULE;
	s.label = SAMPLED_TYPECK;
	s.kind = TRACE_KIND_BLOCKED;
	s.depth = 3;
	assert_int_equal(trace_writer__sample(w, &s), 0);
	s = sampled_trace_sample(3000, TRACE_NO_STACK);
	s.cause = TRACE_SAMPLE_FAULT;
	s.value = 409600;
	assert_int_equal(trace_writer__sample(w, &s), 0);
	assert_int_equal(trace_writer__finish(w), 0);
	text = dump_trace(temporary);
	assert_string_equal(
		text, "info [t] [k] [h] 0 0\n"
		      "sampling 499 Hz, faults by 100, off-cpu\n"
		      "process 0 pid=40 parent=0 start=0 end=0 [rustc] [-] [-] [-] [-] [-]\n"
		      "sample 0/40 cpu 1000 2004008 stack=3:"
		      " rustc_hir::walk+5(/lib/librustc_driver.so) 1:typeck"
		      " rustc_driver::main+7(/lib/librustc_driver.so)\n"
		      "sample 0/40 cpu 2000 2004008 cut=2 in=typeck [QueryBlocked] depth=3 stack=5:"
		      " rustc_hir::walk+6(/lib/librustc_driver.so) 1:mir_built"
		      " rustc_driver::main+7(/lib/librustc_driver.so)\n"
		      "sample 0/40 fault 3000 409600 stack=0:\n"
		      "whole\n");
}

static void samples_come_back_with_what_llvm_was_doing(void **state)
{
	const struct trace_llvm entries[] = {
		{SAMPLED_TYPECK, SAMPLED_MIR_BUILT, TRACE_LLVM_FUNCTION, true},
		{SAMPLED_TYPECK, TRACE_NO_STRING, TRACE_LLVM_MODULE, false},
	};
	_trace_writer_ struct trace_writer *w = sampled_trace_open(temporary);
	struct trace_sample s = sampled_trace_sample(1000, TRACE_NO_STACK);
	_free_ char *text = NULL;

	sampled_trace_begin(w);
	s.llvm = 1;
	assert_int_equal(trace_writer__sample(w, &s), -EINVAL);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(trace_writer__llvm(w, &entries[i / 2], &s.llvm), 0);
		assert_int_equal(s.llvm, 1 + i / 2);
		assert_int_equal(trace_writer__sample(w, &s), 0);
		s.time_ns += 1000;
	}
	assert_int_equal(trace_writer__finish(w), 0);
	text = dump_trace(temporary);
	assert_contains(text, "cpu 2000 2004008 llvm=codegen:typeck:function:mir_built stack=0");
	assert_contains(text, "cpu 4000 2004008 llvm=typeck:module stack=0");
}

static void it_says_that_stacks_were_not_asked_for(void **state)
{
	_trace_writer_ struct trace_writer *w = sampled_trace_open(temporary);
	const struct trace_sampling sampling = {.fault_period = 10, .light = true};
	_free_ char *text = NULL;

	assert_int_equal(trace_writer__sampling(w, &sampling), 0);
	assert_int_equal(trace_writer__finish(w), 0);
	text = dump_trace(temporary);
	assert_contains(text, "sampling 0 Hz, faults by 10, light\n");
}

static void what_was_not_added_is_refused(void **state)
{
	_trace_writer_ struct trace_writer *w = sampled_trace_open(temporary);
	const struct trace_sampling sampling = {.hz = 1};
	const struct trace_sample good = sampled_trace_sample(5, TRACE_NO_STACK);
	struct trace_sample bad[] = {good, good, good, good, good, good, good, good};

	assert_int_equal(trace_writer__sample(w, &good), -EINVAL);
	sampled_trace_begin(w);
	assert_int_equal(trace_writer__sampling(w, &sampling), -EINVAL);
	bad[0].process = 1;
	bad[1].stack = 1;
	bad[2].label = 100;
	bad[3].label = TRACE_VIRTUAL;
	bad[4].cause = 0;
	bad[5].cause = TRACE_SAMPLE_CAUSES;
	bad[6].cut = TRACE_CUT_MAX;
	bad[7].cause = TRACE_SAMPLE_OFF_CPU;
	bad[7].value = UINT64_MAX - 4;
	for (size_t i = 0; i < N_OF(bad); i++)
		assert_int_equal(trace_writer__sample(w, &bad[i]), -EINVAL);
	assert_int_equal(trace_writer__sample(w, &good), 0);
	assert_int_equal(trace_writer__finish(w), 0);
}

/* More than a chunk of samples and of entries, with flushes between. */
static void nothing_is_lost_between_chunks(void **state)
{
	struct rng rng = rng_new();
	struct walk walk = {.rng = &rng};
	_trace_writer_ struct trace_writer *w = sampled_trace_open(temporary);
	_trace_reader_ struct trace_reader *r = NULL;
	const struct trace_function code = {1000, 1000000, 0, "beef", "code", NULL};
	struct trace_item item;
	uint32_t n = 0, entries = 0;

	sampled_trace_begin(w);
	assert_int_equal(trace_writer__function(w, &code), 0);
	for (int i = 0; i < 10000; i++) {
		struct trace_sample s = sampled_trace_sample(walk.now_ns, TRACE_NO_STACK);

		walk_step(&walk);
		for (uint32_t k = 0; k < walk.depth; k++) {
			struct trace_stack entry = walk_entry(&walk, k);

			entry.place += 1000;
			s.stack = sampled_trace_entry(w, s.stack, entry.kind, entry.place);
		}
		/* The time is as good a place as any for what it should be. */
		s.time_ns = walk_entry(&walk, walk.depth - 1).place + 1000;
		assert_int_equal(trace_writer__sample(w, &s), 0);
		entries = s.stack > entries ? s.stack : entries;
		if (!rng_below(&rng, 2000))
			assert_int_equal(trace_writer__flush(w), 0);
	}
	assert_int_equal(trace_writer__finish(w), 0);
	assert_int_equal(trace_reader__open(temporary, &r, NULL), 0);
	while (!trace_reader__next(r, &item) && item.kind != TRACE_ITEM_END) {
		if (item.kind != TRACE_ITEM_SAMPLE)
			continue;
		n++;
		assert_int_equal(trace_reader__stack(r, item.sample.stack)->place,
				 item.sample.time_ns);
	}
	assert_null(trace_reader__problem(r));
	assert_int_equal(n, 10000);
	assert_int_equal(trace_reader__stacks(r), entries);
	assert_int_equal(trace_reader__stats(r).stacks, entries);
}

static void the_file_of_a_library_is_stored_once(void **state)
{
	_trace_writer_ struct trace_writer *w = sampled_trace_open(temporary);
	struct trace_function f = {1000, 10, 0, "feed", "more", "/elsewhere"};
	_trace_reader_ struct trace_reader *r = NULL;
	struct trace_location at;
	struct trace_item item;

	assert_int_equal(trace_writer__function(w, &f), 0);
	f = (struct trace_function){2000, 10, 0, "beef", "", NULL};
	assert_int_equal(trace_writer__function(w, &f), 0);
	assert_int_equal(trace_writer__finish(w), 0);
	assert_int_equal(trace_reader__open(temporary, &r, NULL), 0);
	while (!trace_reader__next(r, &item) && item.kind != TRACE_ITEM_END)
		;
	assert_true(trace_reader__location(r, 1000, &at));
	assert_string_equal(at.function->file, "/lib/librustc_driver.so");
	assert_true(trace_reader__location(r, 2000, &at));
	assert_null(at.function->file);
	assert_string_equal(at.function->name, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(samples_come_back_with_their_stacks, temporary_make,
						temporary_remove),
		cmocka_unit_test_setup_teardown(samples_come_back_with_what_llvm_was_doing,
						temporary_make, temporary_remove),
		cmocka_unit_test_setup_teardown(it_says_that_stacks_were_not_asked_for,
						temporary_make, temporary_remove),
		cmocka_unit_test_setup_teardown(what_was_not_added_is_refused, temporary_make,
						temporary_remove),
		cmocka_unit_test_setup_teardown(nothing_is_lost_between_chunks, temporary_make,
						temporary_remove),
		cmocka_unit_test_setup_teardown(the_file_of_a_library_is_stored_once,
						temporary_make, temporary_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
