// SPDX-License-Identifier: Apache-2.0 OR MIT
/* tests/e2e/test_sampled_reports.py decodes the format, by its published numbers of fields. */

#include "test.h"
#include "../fixtures/export_trace.h"
#include "../fixtures/llvm_build.h"
#include "../fixtures/sampled_build.h"

static char *exported(struct export_job *job, size_t *size)
{
	char path[] = "/tmp/qprof-export-XXXXXX.qpt";
	char *bytes;

	temporary_name(path);
	sampled_build_write(path);
	bytes = export_of(path, export_perfetto, job, size);
	unlink(path);
	return bytes;
}

/* How often a text is in the bytes. */
static unsigned int count(const char *bytes, size_t size, const char *text)
{
	const char *end = bytes + size;
	unsigned int n = 0;

	while ((bytes = memmem(bytes, end - bytes, text, strlen(text)))) {
		bytes += strlen(text);
		n++;
	}
	return n;
}

static void samples_are_as_they_were(void **state)
{
	struct export_job job = {};
	size_t size;
	_free_ char *bytes = exported(&job, &size);

	assert_golden_bytes("export/sampled.pftrace", bytes, size);
	assert_int_equal(job.samples_left_out, 0);
}

/* A name is sent once in each of the two sequences of samples at most, and in texts of waits. */
static void names_are_sent_once(void **state)
{
	struct export_job job = {};
	size_t size;
	_free_ char *bytes = exported(&job, &size);

	assert_int_equal(count(bytes, size, "[typeck]"), 3);
	assert_int_equal(count(bytes, size, "CPU time"), 1);
	/* The timebase, and a track for each process of which faults were sampled. */
	assert_int_equal(count(bytes, size, "memory touched"), 3);
}

/* One entry of a pass and a function in each stack, and their names once. */
static void what_llvm_compiles_is_in_the_stack(void **state)
{
	char path[] = "/tmp/qprof-export-XXXXXX.qpt";
	struct export_job job = {};
	_free_ char *bytes = NULL;
	size_t size;

	temporary_name(path);
	llvm_build_write(path, true);
	bytes = export_of(path, export_perfetto, &job, &size);
	unlink(path);
	assert_int_equal(count(bytes, size, "[app::generic_big]"), 1);
	assert_int_equal(count(bytes, size, "[InstCombine]"), 1);
	assert_int_equal(count(bytes, size, "[app::huge]"), 1);
	assert_int_equal(count(bytes, size, "[app::small::s"), 100);
}

/* Waits have different durations: they are slices, with the stack as a text. */
static void waits_are_slices_with_a_stack(void **state)
{
	struct export_job job = {};
	size_t size;
	_free_ char *bytes = exported(&job, &size);

	assert_int_equal(count(bytes, size, "waits"), 2);
	assert_int_equal(count(bytes, size,
			       "__read\n<jobserver::imp::Client>::acquire_allow_interrupts\n"
			       "std::rt::lang_start"),
			 1);
}

static void samples_beyond_the_size_limit_are_left_out(void **state)
{
	struct export_job job = {.max_bytes = 300};
	size_t size;
	_free_ char *bytes = exported(&job, &size);

	assert_true(job.samples_left_out > 0);
	assert_int_equal(count(bytes, size, "samples are left out, as the file is to be no larger"),
			 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_as_they_were),
		cmocka_unit_test(names_are_sent_once),
		cmocka_unit_test(what_llvm_compiles_is_in_the_stack),
		cmocka_unit_test(waits_are_slices_with_a_stack),
		cmocka_unit_test(samples_beyond_the_size_limit_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
