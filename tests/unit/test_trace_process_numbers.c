// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/process_numbers.h"

#include "test.h"

static void process_numbers_clear(struct process_numbers *p)
{
	process_numbers__destroy(p);
}

static uint32_t number_of_process(struct process_numbers *p, uint32_t index, uint32_t pid)
{
	const struct trace_process process = {.index = index, .pid = pid};
	struct trace_item item = {.kind = TRACE_ITEM_PROCESS, .process = &process};
	int err = 0;

	assert_true(process_numbers__translate(p, &item, &err));
	assert_int_equal(err, 0);
	assert_int_equal(item.process->pid, pid);
	return item.process->index;
}

static void numbers_have_no_gaps(void **state)
{
	__cleanup(process_numbers_clear) struct process_numbers p = {.on = true};

	assert_int_equal(number_of_process(&p, 7, 107), 0);
	assert_int_equal(number_of_process(&p, 2, 102), 1);
	assert_int_equal(number_of_process(&p, 7, 108), 0);
	assert_int_equal(number_of_process(&p, 0, 100), 2);
	assert_int_equal(process_numbers__index(&p, 0), 7);
	assert_int_equal(process_numbers__index(&p, 2), 0);
	assert_int_equal(process_numbers__index(&p, TRACE_NO_PROCESS), TRACE_NO_PROCESS);
}

static void what_belongs_to_a_process_has_its_number(void **state)
{
	__cleanup(process_numbers_clear) struct process_numbers p = {.on = true};
	struct trace_item span = {.kind = TRACE_ITEM_SPAN, .span = {.process = 5}};
	struct trace_item sample = {.kind = TRACE_ITEM_SAMPLE, .sample = {.process = 5}};
	struct trace_item tally = {.kind = TRACE_ITEM_TALLY, .tally = {.process = 4}};
	struct trace_item losses = {.kind = TRACE_ITEM_LOSSES};
	int err = 0;

	number_of_process(&p, 3, 1);
	number_of_process(&p, 5, 2);
	assert_true(process_numbers__translate(&p, &span, &err));
	assert_int_equal(span.span.process, 1);
	assert_true(process_numbers__translate(&p, &sample, &err));
	assert_int_equal(sample.sample.process, 1);
	assert_false(process_numbers__translate(&p, &tally, &err));
	assert_true(process_numbers__translate(&p, &losses, &err));
}

static void without_a_filter_indices_stay(void **state)
{
	struct process_numbers p = {};
	struct trace_item span = {.kind = TRACE_ITEM_SPAN, .span = {.process = 5}};
	int err = 0;

	assert_true(process_numbers__translate(&p, &span, &err));
	assert_int_equal(span.span.process, 5);
	assert_int_equal(process_numbers__index(&p, 9), 9);
}

/* ---- Process list ---------------------------------------------------------------------------- */

static void a_record_is_appended_or_replaces(void **state)
{
	struct trace_process *entries[100];
	struct process_list l = {0};

	for (uint32_t i = 0; i < 100; i++) {
		struct trace_process record = {.index = i, .pid = 1000 + i};

		entries[i] = process_list__set(&l, &record);
		assert_non_null(entries[i]);
		assert_int_equal(l.n, i + 1);
	}
	for (uint32_t i = 0; i < 100; i++) {
		struct trace_process record = {.index = i, .pid = 2000 + i};

		assert_int_equal(entries[i]->pid, 1000 + i);
		assert_ptr_equal(process_list__set(&l, &record), entries[i]);
		assert_int_equal(l.at[i]->pid, 2000 + i);
	}
	assert_int_equal(l.n, 100);
	process_list__destroy(&l);
	assert_int_equal(l.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_no_gaps),
		cmocka_unit_test(what_belongs_to_a_process_has_its_number),
		cmocka_unit_test(without_a_filter_indices_stay),
		cmocka_unit_test(a_record_is_appended_or_replaces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
