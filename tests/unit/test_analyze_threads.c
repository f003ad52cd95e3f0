// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/threads.h"

#include "test.h"

static void add(struct threads *t, uint32_t process, uint32_t tid, uint32_t label, uint64_t end)
{
	const struct trace_span span = {
		.end_ns = end,
		.process = process,
		.tid = tid,
		.label = label,
		.invocation = 10 * label,
	};
	const struct trace_times times = {
		.self_ns = 100, .self_probe_ns = 30, .off_ns = 50, .self_off_ns = 10};

	assert_int_equal(threads__span(t, &span, &times), 0);
}

static void threads_of_processes_are_distinguished(void **state)
{
	_threads_ struct threads *t = NULL;
	struct thread_row row;

	assert_int_equal(threads__new(&t), 0);
	assert_int_equal(threads__n(t), 0);
	add(t, 0, 7, 3, 1000);
	add(t, 1, 7, 4, 1100);
	add(t, 0, 8, 5, 1200);
	add(t, 0, 7, 6, 1300);
	assert_int_equal(threads__n(t), 3);
	row = threads__at(t, 0);
	assert_int_equal(row.process, 0);
	assert_int_equal(row.tid, 7);
	assert_int_equal(row.count, 2);
	assert_int_equal(row.self_ns, 2 * (100 - 30));
	assert_int_equal(row.self_off_ns, 20);
	assert_int_equal(row.last_label, 6);
	assert_int_equal(row.last_invocation, 60);
	assert_int_equal(row.last_ns, 1300);
	assert_int_equal(threads__at(t, 1).process, 1);
	assert_int_equal(threads__at(t, 2).last_label, 5);
}

static void a_name_may_come_first_and_change(void **state)
{
	const struct trace_thread first = {0, 7, "rustc"}, later = {0, 7, "opt cgu.0"};
	_threads_ struct threads *t = NULL;

	assert_int_equal(threads__new(&t), 0);
	assert_int_equal(threads__name(t, &first), 0);
	assert_int_equal(threads__at(t, 0).last_label, TRACE_NO_STRING);
	add(t, 0, 7, 3, 1000);
	assert_int_equal(threads__name(t, &later), 0);
	assert_int_equal(threads__n(t), 1);
	assert_string_equal(threads__at(t, 0).name, "opt cgu.0");
}

static void an_off_cpu_span_adds_no_thread(void **state)
{
	const struct trace_span off = {.kind = TRACE_KIND_OFF_CPU, .label = 9, .end_ns = 50};
	_threads_ struct threads *t = NULL;

	assert_int_equal(threads__new(&t), 0);
	assert_int_equal(threads__span(t, &off, &(struct trace_times){0}), 0);
	assert_int_equal(threads__n(t), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_of_processes_are_distinguished),
		cmocka_unit_test(a_name_may_come_first_and_change),
		cmocka_unit_test(an_off_cpu_span_adds_no_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
