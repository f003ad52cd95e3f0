// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/executions.h"

#include "test.h"

static void a_noted_execution_is_found_by_its_invocation_id(void **state)
{
	struct executions e = {NULL, 0};

	assert_int_equal(executions__query(&e, 0), WIRE_NO_QUERY);
	assert_int_equal(executions__note(&e, 7, 0), 0);
	assert_int_equal(executions__note(&e, 100000, 65534), 0);
	assert_int_equal(executions__note(&e, 8, WIRE_NO_QUERY), 0);
	assert_int_equal(executions__query(&e, 7), 0);
	assert_int_equal(executions__query(&e, 100000), 65534);
	assert_int_equal(executions__query(&e, 8), WIRE_NO_QUERY);
	assert_int_equal(executions__query(&e, 6), WIRE_NO_QUERY);
	assert_int_equal(executions__query(&e, UINT32_MAX), WIRE_NO_QUERY);
	executions__clear(&e);
	assert_int_equal(executions__query(&e, 7), WIRE_NO_QUERY);
}

static void memory_is_bounded(void **state)
{
	struct executions e = {NULL, 0};

	assert_int_equal(executions__note(&e, EXECUTIONS_MAX, 1), 0);
	assert_int_equal(executions__note(&e, WIRE_NO_INVOCATION, 1), 0);
	assert_int_equal(e.n, 0);
	assert_int_equal(executions__note(&e, EXECUTIONS_MAX - 1, 1), 0);
	assert_int_equal(e.n, EXECUTIONS_MAX);
	assert_int_equal(executions__query(&e, EXECUTIONS_MAX - 1), 1);
	executions__clear(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_noted_execution_is_found_by_its_invocation_id),
		cmocka_unit_test(memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
