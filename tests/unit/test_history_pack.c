// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/pack.h"

#include "test.h"

static const struct pack_format format = {.exact = 2, .times = 2};

static struct pack_row sample[] = {
	{.key = 3, .exact = {7, PACK_UNKNOWN}, .times = {1000, 5000}},
	{.key = 4, .exact = {0, 1}, .times = {0, PACK_UNKNOWN}},
	{.key = 900, .exact = {UINT64_MAX - 1, 1}, .times = {PACK_UNKNOWN, 77000}},
	{.key = 901, .exact = {1, 1}, .times = {4000000000, 3999000000}},
};
static const struct pack_rows rows = {.at = sample, .n = N_OF(sample)};

static int decode(const struct byte_buffer *shape, const struct byte_buffer *times,
		  struct pack_rows *out)
{
	return pack_shape__decode(shape->data, shape->size, &format, out)
		       ?: pack_times__decode(times->data, times->size, &format, 0, out);
}

static void encode(struct byte_buffer *shape, struct byte_buffer *times)
{
	pack_shape__encode(shape, &format, &rows);
	pack_times__encode(times, &format, &rows);
}

static void rows_are_read_as_they_were_written(void **state)
{
	struct byte_buffer shape = {}, times = {};
	_pack_rows_ struct pack_rows read = {};

	encode(&shape, &times);
	assert_int_equal(decode(&shape, &times, &read), 0);
	assert_int_equal(read.n, rows.n);
	for (uint32_t i = 0; i < rows.n; i++) {
		assert_int_equal(read.at[i].key, sample[i].key);
		assert_memory_equal(read.at[i].exact, sample[i].exact, 2 * sizeof(uint64_t));
		for (int t = 0; t < 2; t++)
			assert_int_equal(read.at[i].times[t], pack_rounded(sample[i].times[t]));
	}
	byte_buffer__destroy(&shape);
	byte_buffer__destroy(&times);
}

static void one_row_is_read_alone(void **state)
{
	struct byte_buffer shape = {}, times = {};
	_pack_rows_ struct pack_rows read = {};

	encode(&shape, &times);
	assert_int_equal(pack_shape__decode(shape.data, shape.size, &format, &read), 0);
	assert_int_equal(pack_times__decode(times.data, times.size, &format, 900, &read), 0);
	assert_int_equal(read.at[2].times[0], PACK_UNKNOWN);
	assert_int_equal(read.at[2].times[1], pack_rounded(77000));
	/* None of this key. */
	assert_int_equal(pack_times__decode(times.data, times.size, &format, 5, &read), 0);
	byte_buffer__destroy(&shape);
	byte_buffer__destroy(&times);
}

static void times_may_differ_from_those_of_the_shape(void **state)
{
	struct pack_row first[] = {
		{.key = 3, .exact = {7, 7}, .times = {900000, 900000}},
		{.key = 4, .exact = {0, 1}, .times = {70000, 3000000000}},
		{.key = 5, .exact = {0, 1}, .times = {12000, 12000}},
		{.key = 900, .exact = {UINT64_MAX - 1, 1}, .times = {5, PACK_UNKNOWN}},
	};
	struct pack_rows former = {.at = first, .n = N_OF(first)};
	_pack_rows_ struct pack_rows united = {}, read = {};
	struct byte_buffer shape = {}, times = {};

	assert_int_equal(pack_rows__unite(&(struct pack_rows){}, &format, &former, &united), 0);
	pack_shape__encode(&shape, &format, &united);
	first[0].times[0] = 850000;
	first[0].times[1] = UINT64_MAX - 1;
	first[1].times[1] = 0;
	first[2].absent = true;
	assert_int_equal(pack_shape__decode(shape.data, shape.size, &format, &read), 0);
	for (uint32_t i = 0; i < read.n; i++) {
		memcpy(read.at[i].times, first[i].times, sizeof(first[i].times));
		read.at[i].absent = first[i].absent;
	}
	pack_times__encode(&times, &format, &read);
	assert_int_equal(decode(&shape, &times, &read), 0);
	for (uint32_t i = 0; i < read.n; i++) {
		assert_int_equal(read.at[i].absent, first[i].absent);
		for (int t = 0; t < 2 && !first[i].absent; t++)
			assert_int_equal(read.at[i].times[t], pack_rounded(first[i].times[t]));
	}
	byte_buffer__destroy(&shape);
	byte_buffer__destroy(&times);
}

static void bytes_that_end_early_are_refused(void **state)
{
	struct byte_buffer shape = {}, times = {};
	_pack_rows_ struct pack_rows read = {};
	size_t size;

	encode(&shape, &times);
	for (size = shape.size; size--;)
		assert_int_equal(pack_shape__decode(shape.data, size, &format, &read), -EBADMSG);
	assert_int_equal(pack_shape__decode(shape.data, shape.size, &format, &read), 0);
	for (size = times.size; size--;)
		assert_int_equal(pack_times__decode(times.data, size, &format, 0, &read), -EBADMSG);
	/* Or late. */
	byte_buffer__varint(&shape, 0);
	byte_buffer__varint(&times, 0);
	assert_int_equal(pack_times__decode(times.data, times.size, &format, 0, &read), -EBADMSG);
	assert_int_equal(pack_shape__decode(shape.data, shape.size, &format, &read), -EBADMSG);
	byte_buffer__destroy(&shape);
	byte_buffer__destroy(&times);
}

static void keys_must_grow(void **state)
{
	static const uint8_t equal[] = {2, 5, 0, 1, 1, 1, 1};
	static const uint8_t many[] = {0xff, 0xff, 3, 1};
	_pack_rows_ struct pack_rows read = {};

	assert_int_equal(pack_shape__decode(equal, sizeof(equal), &format, &read), -EBADMSG);
	assert_int_equal(pack_shape__decode(many, sizeof(many), &format, &read), -EBADMSG);
	assert_int_equal(read.capacity, 2);
}

static void a_shape_serves_builds_with_fewer_rows(void **state)
{
	struct pack_rows fewer = {.at = sample + 1, .n = 2}, other = {.at = sample, .n = 1};
	_pack_rows_ struct pack_rows shape = {};
	struct pack_row changed = sample[0];

	assert_int_equal(pack_rows__unite(&fewer, &format, &other, &shape), 0);
	assert_int_equal(shape.n, 3);
	assert_false(shape.at[0].absent);
	assert_true(shape.at[1].absent);
	assert_true(pack_rows__fit(&shape, &format, &fewer));
	assert_true(shape.at[0].absent);
	assert_int_equal(shape.at[2].times[1], 77000);
	assert_false(pack_rows__fit(&shape, &format, &rows));
	/* Not with another count. */
	changed.exact[0]++;
	other.at = &changed;
	assert_false(pack_rows__fit(&shape, &format, &other));
	assert_int_equal(pack_rows__unite(&rows, &format, &other, &shape), -EEXIST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_read_as_they_were_written),
		cmocka_unit_test(one_row_is_read_alone),
		cmocka_unit_test(times_may_differ_from_those_of_the_shape),
		cmocka_unit_test(bytes_that_end_early_are_refused),
		cmocka_unit_test(keys_must_grow),
		cmocka_unit_test(a_shape_serves_builds_with_fewer_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
