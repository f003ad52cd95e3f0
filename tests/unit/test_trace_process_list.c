// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/process_list.h"

#include "test.h"

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
		cmocka_unit_test(a_record_is_appended_or_replaces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
