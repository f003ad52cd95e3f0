// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/bytes.h"

#include "test.h"
#include "../fixtures/random.h"

static void numbers_are_little_endian(void **state)
{
	const uint8_t bytes[8] = {0x01, 0x02, 0x03, 0x84, 0x05, 0x06, 0x07, 0x88};
	uint8_t back[4];

	assert_int_equal(bytes_load_u16(bytes), 0x0201);
	assert_true(bytes_load_u32(bytes) == 0x84030201u);
	assert_true(bytes_load_u64(bytes) == 0x8807060584030201u);
	bytes_store_u32(back, 0x84030201u);
	assert_memory_equal(back, bytes, 4);
	bytes_store_u16(back, 0x8403);
	assert_memory_equal(back, bytes + 2, 2);
}

static void varints_come_back(void **state)
{
	struct rng rng = rng_new();

	for (int i = 0; i < 10000; i++) {
		uint64_t v = i ? rng_any_size(&rng) : UINT64_MAX;
		uint8_t bytes[BYTES_VARINT_MAX];
		const uint8_t *end = bytes_store_varint(bytes, v);
		struct byte_reader whole = {.at = bytes, .end = end};
		struct byte_reader cut = {.at = bytes, .end = end - 1};

		assert_true(byte_reader__varint(&whole) == v);
		assert_false(whole.bad);
		assert_ptr_equal(whole.at, end);
		assert_true(byte_reader__varint(&cut) == 0);
		assert_true(cut.bad);
	}
}

static void zigzag_folds_the_sign(void **state)
{
	struct rng rng = rng_new();

	assert_int_equal(bytes_zigzag(0), 0);
	assert_int_equal(bytes_zigzag(-1), 1);
	assert_int_equal(bytes_zigzag(1), 2);
	assert_true(bytes_zigzag((uint64_t)INT64_MIN) == UINT64_MAX);
	for (int i = 0; i < 1000; i++) {
		uint64_t v = rng_u64(&rng);

		assert_true(bytes_unzigzag(bytes_zigzag(v)) == v);
	}
}

static void malformed_varints_are_refused(void **state)
{
	static const struct {
		uint8_t bytes[12];
		size_t size;
	} cases[] = {
		{{0}, 0},
		{{0x80}, 1},
		{{0x80, 0x00}, 2}, /* longer than necessary */
		{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}, 10},
		{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0x01}, 11},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct byte_reader r = {cases[i].bytes, cases[i].bytes + cases[i].size, false};

		assert_true(byte_reader__varint(&r) == 0);
		assert_true(r.bad);
		assert_ptr_equal(r.at, r.end);
	}
}

static void a_bad_reader_reads_zeroes(void **state)
{
	const uint8_t bytes[] = {5, 1, 2, 3};
	struct byte_reader r = {bytes, bytes + sizeof(bytes), false};

	assert_int_equal(byte_reader__varint_max(&r, 4), 0);
	assert_true(r.bad);
	assert_int_equal(byte_reader__varint(&r), 0);
	assert_null(byte_reader__bytes(&r, 1));
}

static void bytes_are_taken_within_bounds(void **state)
{
	const uint8_t bytes[] = {1, 2, 3};
	struct byte_reader r = {bytes, bytes + sizeof(bytes), false};

	assert_int_equal(byte_reader__varint_max(&r, 1), 1);
	assert_ptr_equal(byte_reader__bytes(&r, 2), bytes + 1);
	assert_false(r.bad);
	assert_null(byte_reader__bytes(&r, SIZE_MAX));
	assert_true(r.bad);
}

static void a_buffer_grows(void **state)
{
	struct byte_buffer b = {0};
	struct byte_reader r;

	for (uint64_t i = 0; i < 1000; i++) {
		byte_buffer__varint(&b, i * i);
		byte_buffer__bytes(&b, "abc", i % 4);
	}
	assert_false(b.failed);
	r = (struct byte_reader){.at = b.data, .end = b.data + b.size};
	for (uint64_t i = 0; i < 1000; i++) {
		assert_int_equal(byte_reader__varint(&r), i * i);
		assert_memory_equal(byte_reader__bytes(&r, i % 4), "abc", i % 4);
	}
	assert_ptr_equal(r.at, r.end);
	byte_buffer__clear(&b);
	assert_int_equal(b.size, 0);
	byte_buffer__destroy(&b);
}

/* Varints of all lengths, minimal and overlong, complete and truncated. */
static void many_at_once_are_those_one_by_one(void **state)
{
	struct rng rng = rng_new();

	for (int round = 0; round < 20000; round++) {
		uint8_t bytes[64];
		size_t size = rng_below(&rng, sizeof(bytes) + 1);
		uint32_t n = rng_below(&rng, 40), high = rng_below(&rng, 5);
		struct byte_reader one = {.at = bytes, .end = bytes + size}, many = one;
		uint64_t values[40];

		for (size_t i = 0; i < size; i++)
			bytes[i] = rng_below(&rng, 128) | (rng_below(&rng, 4) < high ? 128 : 0);
		byte_reader__varints(&many, values, n);
		for (uint32_t i = 0; i < n; i++)
			assert_true(byte_reader__varint(&one) == values[i]);
		assert_true(one.bad == many.bad);
		assert_ptr_equal(one.at, many.at);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_little_endian),
		cmocka_unit_test(varints_come_back),
		cmocka_unit_test(zigzag_folds_the_sign),
		cmocka_unit_test(malformed_varints_are_refused),
		cmocka_unit_test(a_bad_reader_reads_zeroes),
		cmocka_unit_test(bytes_are_taken_within_bounds),
		cmocka_unit_test(a_buffer_grows),
		cmocka_unit_test(many_at_once_are_those_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
