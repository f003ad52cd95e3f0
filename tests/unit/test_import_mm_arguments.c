// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/directory.h"
#include "import/measureme.h"
#include "qprof/trace_format.h"
#include "trace/reader.h"

/* good-arguments.txt lists its content. */
#define PROFILE "tests/golden/mm/good-arguments.mm_profdata"

static struct mm_reader *profile(void)
{
	struct mm_reader *r = NULL;
	const char *why;

	assert_int_equal(mm_reader__open(PROFILE, &r, &why), 0);
	return r;
}

static struct trace_writer *new_trace(void)
{
	const struct trace_process p = {.exit_status = TRACE_EXIT_UNKNOWN};
	const struct trace_info info = {.tool = (char *)"t"};
	struct trace_writer *w = NULL;

	unlink(directory_path("x"));
	assert_int_equal(trace_writer__open(directory_path("x"), &info, &w), 0);
	assert_int_equal(trace_writer__process(w, &p), 0);
	return w;
}

/* A string that is stored once in the profile is stored once in the trace. */
static void strings_stay_shared(void **state)
{
	_mm_reader_ struct mm_reader *r = profile();
	_trace_writer_ struct trace_writer *w = new_trace();
	struct mm_arguments a = {.w = w, .strings = mm_reader__strings(r)};
	_trace_reader_ struct trace_reader *trace = NULL;
	struct trace_item item;

	assert_int_equal(mm_arguments__map(&a), 0);
	assert_int_equal(a.kept, 3);
	assert_false(a.full);
	mm_arguments__destroy(&a);
	assert_int_equal(trace_writer__finish(w), 0);
	assert_int_equal(trace_reader__open(directory_path("x"), &trace, NULL), 0);
	while (!trace_reader__next(trace, &item) && item.kind != TRACE_ITEM_END)
		;
	/* "", a, a::f, typeck, a::f::{closure#0}\x1etypeck, bc: a path is not written out twice. */
	assert_int_equal(trace_reader__stats(trace).strings, 6);
	assert_int_equal(trace_reader__stats(trace).mapped, 4);
}

/* The trace is still complete except for the arguments, and the result reports the loss. */
static void a_trace_may_be_full(void **state)
{
	const struct trace_mapping all = {.process = TRACE_NO_PROCESS, .n = QPT_MAPPED_MAX};
	_mm_reader_ struct mm_reader *r = profile();
	_trace_writer_ struct trace_writer *w = new_trace();
	struct measureme_found found;
	uint32_t id;

	assert_int_equal(trace_writer__intern(w, "x", &id), 0);
	assert_int_equal(trace_writer__map(w, &all), 0);
	assert_int_equal(import_measureme(w, 0, r, "x", &found), 0);
	assert_true(found.too_many_arguments);
	assert_int_equal(found.spans, 9);
	assert_int_equal(trace_writer__finish(w), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_stay_shared),
		cmocka_unit_test(a_trace_may_be_full),
	};

	return cmocka_run_group_tests(tests, directory_make, directory_remove);
}
