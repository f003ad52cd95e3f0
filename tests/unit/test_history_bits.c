// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/bits.h"

#include "test.h"

static const uint64_t numbers[] = {0, 1, 2, 7, 11, 12, 13, 1000, (UINT64_C(1) << BITS_MAX) - 1};

static void numbers_are_read_as_they_were_written(void **state)
{
	for (unsigned int k = 0; k <= 16; k++) {
		struct byte_buffer bytes = {};
		struct bit_writer w = {.out = &bytes};
		struct bit_reader r;
		size_t bits = 0;

		for (size_t i = 0; i < N_OF(numbers); i++) {
			bit_writer__rice(&w, numbers[i], k);
			bits += bits_of_rice(numbers[i], k);
		}
		bit_writer__end(&w);
		assert_int_equal(bytes.size, (bits + 7) / 8);
		r = (struct bit_reader){.at = bytes.data, .end = bytes.data + bytes.size};
		for (size_t i = 0; i < N_OF(numbers); i++)
			assert_int_equal(bit_reader__rice(&r, k), numbers[i]);
		assert_true(bit_reader__ends(&r));
		byte_buffer__destroy(&bytes);
	}
}

static void the_end_is_found(void **state)
{
	static const uint8_t ones[] = {0xff, 0xff, 0xff};
	struct bit_reader r = {.at = ones, .end = ones + 1};

	assert_int_equal(bit_reader__get(&r, 7), 0x7f);
	assert_false(bit_reader__ends(&r)); /* the rest is not zero */
	assert_int_equal(bit_reader__get(&r, 2), 0);
	assert_true(r.bad);
	/* A number of 31 bits that are not there. */
	r = (struct bit_reader){.at = ones, .end = ones + 3};
	assert_int_equal(bit_reader__rice(&r, 3), 0);
	assert_true(r.bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_read_as_they_were_written),
		cmocka_unit_test(the_end_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
