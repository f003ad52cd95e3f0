// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/function_list.h"

#include "qprof/trace_format.h"

#include "test.h"
#include "base/cleanup.h"

#define _byte_buffer_	__cleanup(byte_buffer__destroy)
#define _function_list_ __cleanup(function_list__destroy)

static int add(struct function_list *l, uint32_t first, uint32_t size)
{
	const struct trace_function f = {.first = first, .size = size, .addr = 77};

	return function_list__add(l, &f, 3, 4);
}

static void ranges_are_one_pc_value_table(void **state)
{
	/* n, base; locations: 4 of function 0, 2 of none, 1 of 1; library, address, name of each */
	static const uint8_t want[] = {2, 5, 2, 4, 1, 2, 4, 1, 0, 3, 77, 4, 3, 77, 4};
	static const uint8_t next[] = {1, 12, 6, 1, 0, 3, 77, 4};
	_function_list_ struct function_list l = {0};
	_byte_buffer_ struct byte_buffer b = {0};

	assert_int_equal(function_list__end(&l), 1);
	assert_int_equal(add(&l, 5, 3), 0);
	assert_int_equal(add(&l, 11, 0), 0);
	assert_int_equal(function_list__payload(&l, &b), 0);
	assert_int_equal(b.size, sizeof(want));
	assert_memory_equal(b.data, want, sizeof(want));
	assert_int_equal(function_list__end(&l), 12);
	byte_buffer__clear(&b);
	assert_int_equal(add(&l, 12, 0), 0);
	assert_int_equal(function_list__payload(&l, &b), 0);
	assert_int_equal(b.size, sizeof(next));
	assert_memory_equal(b.data, next, sizeof(next));
}

static void ranges_that_overlap_or_do_not_fit_are_refused(void **state)
{
	_function_list_ struct function_list l = {0};

	assert_int_equal(add(&l, 0, 1), -EINVAL);
	assert_int_equal(add(&l, 5, 3), 0);
	assert_int_equal(add(&l, 8, 3), -EINVAL);
	assert_int_equal(add(&l, 2, 1), -EINVAL);
	assert_int_equal(add(&l, 10, UINT32_MAX - 10), -EINVAL);
	assert_int_equal(add(&l, UINT32_MAX, 0), -EINVAL);
	assert_int_equal(l.n, 1);
	assert_int_equal(add(&l, 10, UINT32_MAX - 11), 0);
	assert_int_equal(function_list__end(&l), UINT32_MAX);
	assert_int_equal(add(&l, UINT32_MAX, 0), -EINVAL);
}

static void lines_are_two_pc_value_tables(void **state)
{
	/* function 0; files: none for 1 byte, 2 for 9; lines: 0 for 1, 100 for 3, 99 for 6 */
	static const uint8_t want[] = {0, 2, 1, 6, 9, 0, 2, 1, 0xc8, 1, 3, 1, 6, 0};
	static const struct trace_line rows[] = {{1, 2, 100}, {4, 2, 99}};
	_function_list_ struct function_list l = {0};
	_byte_buffer_ struct byte_buffer b = {0};

	assert_int_equal(add(&l, 5, 10), 0);
	assert_int_equal(function_list__lines(&l, 5, rows, 2, 3, &b), 0);
	assert_int_equal(b.size, sizeof(want));
	assert_memory_equal(b.data, want, sizeof(want));
}

static void lines_that_do_not_fit_are_refused(void **state)
{
	static const struct trace_line back[] = {{1, 0, 5}, {1, 0, 6}};
	static const struct trace_line beyond[] = {{0, 0, 5}, {10, 0, 6}};
	static const struct trace_line file[] = {{0, 3, 5}};
	static const struct trace_line none[] = {{0, 3, 0}};
	_function_list_ struct function_list l = {0};
	_byte_buffer_ struct byte_buffer b = {0};

	assert_int_equal(function_list__lines(&l, 5, none, 1, 3, &b), -EINVAL);
	assert_int_equal(add(&l, 5, 10), 0);
	assert_int_equal(add(&l, 20, 0), 0);
	assert_int_equal(function_list__lines(&l, 6, none, 1, 3, &b), -EINVAL);
	assert_int_equal(function_list__lines(&l, 20, none, 1, 3, &b), -EINVAL);
	assert_int_equal(function_list__lines(&l, 5, back, 2, 3, &b), -EINVAL);
	assert_int_equal(function_list__lines(&l, 5, beyond, 2, 3, &b), -EINVAL);
	assert_int_equal(function_list__lines(&l, 5, file, 1, 3, &b), -EINVAL);
	assert_int_equal(b.size, 0);
	/* A row without a line needs no file. Only the second attempt is refused. */
	assert_int_equal(function_list__lines(&l, 5, none, 1, 3, &b), 0);
	assert_int_equal(function_list__lines(&l, 5, none, 1, 3, &b), -EINVAL);
	byte_buffer__clear(&b);
	assert_int_equal(function_list__lines(&l, 20, NULL, 0, 3, &b), 0);
	assert_int_equal(b.size, 0);
}

static void lines_beyond_a_chunk_are_refused(void **state)
{
	enum { N = 800000 };
	_free_ struct trace_line *rows = calloc(N, sizeof(*rows));
	_function_list_ struct function_list l = {0};
	_byte_buffer_ struct byte_buffer b = {0};

	for (uint32_t i = 0; i < N; i++)
		rows[i] = (struct trace_line){i, 0, i % 2 ? 10 : 100000};
	assert_int_equal(add(&l, 5, N), 0);
	assert_int_equal(function_list__lines(&l, 5, rows, N, 1, &b), -E2BIG);
	assert_int_equal(b.size, 0);
	assert_int_equal(function_list__lines(&l, 5, rows, 1000, 1, &b), 0);
	assert_true(l.line_bytes >= 1000 && l.line_bytes <= b.size);
}

static void lines_beyond_a_trace_are_refused(void **state)
{
	const struct trace_line row = {0, 0, 1};
	_function_list_ struct function_list l = {.line_bytes = QPT_LINE_BYTES_MAX - 3};
	_byte_buffer_ struct byte_buffer b = {0};

	assert_int_equal(add(&l, 5, 10), 0);
	assert_int_equal(function_list__lines(&l, 5, &row, 1, 1, &b), -E2BIG);
	assert_int_equal(b.size, 0);
	l.line_bytes = 0;
	assert_int_equal(function_list__lines(&l, 5, &row, 1, 1, &b), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_are_one_pc_value_table),
		cmocka_unit_test(ranges_that_overlap_or_do_not_fit_are_refused),
		cmocka_unit_test(lines_are_two_pc_value_tables),
		cmocka_unit_test(lines_that_do_not_fit_are_refused),
		cmocka_unit_test(lines_beyond_a_chunk_are_refused),
		cmocka_unit_test(lines_beyond_a_trace_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
