// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/export_trace.h"

static void the_small_trace_is_as_it_was(void **state)
{
	assert_small_golden(export_counts, "export/small.csv");
}

static void raw_times_are_longer(void **state)
{
	_free_ char *text = export_small_text(export_counts, &(struct export_job){.raw = true});

	assert_contains(text, "\nmir_built,4,0.001996500\n" + 1);
}

/* By default the wall time of an activity is no number beside CPU times of queries by samples. */
static void write_sampled(const char *path)
{
	const struct trace_info info = {.tool = "t", .kernel = "k"};
	const struct trace_sampling sampling = {.hz = 499, .queries = true};
	const struct trace_process process = {.pid = 1, .end_ns = 90000000, .crate = "a"};
	struct trace_tally typeck = {.kind = TRACE_KIND_RESULTS, .events = 10};
	struct trace_stack entry = {.parent = TRACE_NO_STACK, .kind = TRACE_STACK_QUERY};
	struct trace_sample sample = {.value = 2000000,
				      .tid = 1,
				      .label = TRACE_NO_STRING,
				      .job = TRACE_NO_JOB,
				      .cause = TRACE_SAMPLE_CPU};
	struct trace_span pass = {.end_ns = 50000000,
				  .tid = 1,
				  .kind = TRACE_KIND_ACTIVITY,
				  .invocation = TRACE_NO_INVOCATION};
	_trace_writer_ struct trace_writer *w = NULL;

	assert_int_equal(trace_writer__open(path, &info, &w), 0);
	assert_int_equal(trace_writer__process(w, &process), 0);
	assert_int_equal(trace_writer__sampling(w, &sampling), 0);
	assert_int_equal(trace_writer__intern(w, "typeck", &typeck.label), 0);
	assert_int_equal(trace_writer__intern(w, "LLVM_passes", &pass.label), 0);
	entry.place = typeck.label;
	assert_int_equal(trace_writer__stack(w, &entry, &sample.stack), 0);
	assert_int_equal(trace_writer__sample(w, &sample), 0);
	assert_int_equal(trace_writer__span(w, &pass), 0);
	assert_int_equal(trace_writer__tally(w, &typeck), 0);
	assert_int_equal(trace_writer__losses(w, &(struct trace_losses){}), 0);
	assert_int_equal(trace_writer__finish(w), 0);
}

static void all_seconds_are_of_one_kind(void **state)
{
	char path[] = "/tmp/qprof-export-XXXXXX.qpt";
	struct export_job job = {};
	_free_ char *text = NULL;
	size_t size;

	temporary_name(path);
	write_sampled(path);
	text = export_of(path, export_counts, &job, &size);
	unlink(path);
	assert_string_equal(text, "typeck,10,0.002000000\nLLVM_passes,1,0.000000000\n");
	assert_true(job.cpu_by_samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_small_trace_is_as_it_was),
		cmocka_unit_test(raw_times_are_longer),
		cmocka_unit_test(all_seconds_are_of_one_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
