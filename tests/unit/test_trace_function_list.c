// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/function_list.h"

#include "qprof/trace_format.h"

#include "test.h"
#include "base/cleanup.h"
#include "../fixtures/random.h"

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

/* ---- Locations ------------------------------------------------------------------------------- */

#define N_LIBRARIES 5
#define N_FUNCTIONS 400 /* per library */

/* The expected range of a function. */
struct model {
	uint32_t size;
	uint32_t start; /* 0: not touched yet */
};

static uint32_t touch(struct locations *l, uint64_t key, uint32_t size, uint32_t offset, bool new)
{
	uint32_t locindex = 0;
	bool is_new = !new;

	assert_int_equal(locations__index(l, key, size, offset, &locindex, &is_new), 0);
	assert_int_equal(is_new, new);
	return locindex;
}

static void numbers_follow_the_order_of_first_touches(void **state)
{
	_locations_ struct locations *l = NULL;

	assert_int_equal(locations__new(&l), 0);
	/* 0 means "none", so the first is 1. A function of 10 bytes takes 11 numbers. */
	assert_int_equal(touch(l, 70, 10, 4, true), 5);
	assert_int_equal(touch(l, 30, 0, 0, true), 12);
	assert_int_equal(touch(l, 50, 3, 3, true), 16);
	assert_int_equal(touch(l, 70, 10, 0, false), 1);
	assert_int_equal(touch(l, 70, 10, 10, false), 11);
	assert_int_equal(touch(l, 50, 3, 0, false), 13);
}

/* A function's key contains its library, so libraries do not collide. */
static void every_location_has_its_own_number(void **state)
{
	static struct model all[N_LIBRARIES * N_FUNCTIONS];
	struct rng rng = rng_new();
	_locations_ struct locations *l = NULL;
	uint64_t next = 1;

	assert_int_equal(locations__new(&l), 0);
	for (int i = 0; i < N_LIBRARIES * N_FUNCTIONS; i++)
		all[i] = (struct model){rng_below(&rng, 5000), 0};
	for (int i = 0; i < 50000; i++) {
		uint32_t library = rng_below(&rng, N_LIBRARIES);
		uint32_t function = rng_below(&rng, N_FUNCTIONS);
		struct model *m = &all[library * N_FUNCTIONS + function];
		uint32_t offset = rng_below(&rng, m->size + 1);
		uint64_t key = (uint64_t)library << 56 | (uint64_t)function * 16;
		uint32_t locindex = touch(l, key, m->size, offset, !m->start);

		if (!m->start) {
			m->start = next;
			next += m->size + 1;
		}
		assert_int_equal(locindex, m->start + offset);
	}
}

static void offsets_beyond_the_function_are_refused(void **state)
{
	_locations_ struct locations *l = NULL;
	uint32_t locindex = 77;
	bool is_new;

	assert_int_equal(locations__new(&l), 0);
	assert_int_equal(locations__index(l, 1, 8, 9, &locindex, &is_new), -EINVAL);
	assert_int_equal(locations__index(l, 1, 8, UINT32_MAX, &locindex, &is_new), -EINVAL);
	assert_int_equal(locindex, 77);
	/* A refused index does not touch the function. */
	assert_int_equal(touch(l, 1, 8, 8, true), 9);
}

static void numbers_that_run_out_are_refused_and_never_wrap(void **state)
{
	_locations_ struct locations *l = NULL;
	uint32_t locindex = 77;
	bool is_new;

	assert_int_equal(locations__new(&l), 0);
	assert_int_equal(locations__index(l, 9, UINT32_MAX, 0, &locindex, &is_new), -EOVERFLOW);
	assert_int_equal(touch(l, 1, UINT32_MAX - 100, 0, true), 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(locations__index(l, 2, 98, 0, &locindex, &is_new), -EOVERFLOW);
	assert_int_equal(locindex, 77);
	/* A smaller function still fits, and existing numbers stay. */
	assert_int_equal(touch(l, 3, 97, 97, true), UINT32_MAX - 1);
	assert_int_equal(locations__index(l, 4, 0, 0, &locindex, &is_new), -EOVERFLOW);
	assert_int_equal(touch(l, 1, UINT32_MAX - 100, UINT32_MAX - 100, false), UINT32_MAX - 99);
	assert_int_equal(touch(l, 3, 97, 0, false), UINT32_MAX - 98);
}

/* Two traces with the same touches have the same numbers. */
static void numbers_depend_on_touches_alone(void **state)
{
	_locations_ struct locations *a = NULL, *b = NULL;
	struct rng rng = rng_new();

	assert_int_equal(locations__new(&a), 0);
	assert_int_equal(locations__new(&b), 0);
	for (int i = 0; i < 10000; i++) {
		uint64_t key = rng_below(&rng, 3000) * 0x9e3779b97f4a7c15;
		uint32_t size = key >> 52, offset = rng_below(&rng, size + 1), of_a, of_b;
		bool new_a, new_b;

		assert_int_equal(locations__index(a, key, size, offset, &of_a, &new_a), 0);
		assert_int_equal(locations__index(b, key, size, offset, &of_b, &new_b), 0);
		assert_int_equal(of_a, of_b);
		assert_int_equal(new_a, new_b);
	}
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
		cmocka_unit_test(numbers_follow_the_order_of_first_touches),
		cmocka_unit_test(every_location_has_its_own_number),
		cmocka_unit_test(offsets_beyond_the_function_are_refused),
		cmocka_unit_test(numbers_that_run_out_are_refused_and_never_wrap),
		cmocka_unit_test(numbers_depend_on_touches_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
