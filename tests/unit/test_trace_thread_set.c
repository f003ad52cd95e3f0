// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/thread_set.h"

#include "test.h"
#include "qprof/trace_format.h"

static void threads_count_once_and_up_to_the_limit(void **state)
{
	struct thread_set s = {0};

	for (int again = 0; again < 2; again++)
		for (uint32_t i = 0; i < QPT_THREADS_MAX; i++)
			assert_int_equal(thread_set__add(&s, i % 1000, i), 0);
	assert_int_equal(s.known.used, QPT_THREADS_MAX);
	assert_int_equal(thread_set__add(&s, 1000, 0), -E2BIG);
	assert_int_equal(thread_set__add(&s, 0, 0), 0);
	thread_set__destroy(&s);
	assert_int_equal(thread_set__add(&s, 0, 0), 0);
	assert_int_equal(s.known.used, 1);
	thread_set__destroy(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_count_once_and_up_to_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
