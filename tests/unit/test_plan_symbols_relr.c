// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/relr.h"

#include "test.h"
#include "base/array.h"

#define ALL UINT64_MAX

struct found {
	uint64_t at[256];
	size_t n;
	size_t stop; /* fail at this one */
};

static int note(void *arg, uint64_t place)
{
	struct found *f = arg;

	assert_true(f->n < N_OF(f->at));
	f->at[f->n++] = place;
	return f->n == f->stop ? -5 : 0;
}

static struct found read_table(const uint64_t *words, size_t n)
{
	struct found f = {0};

	assert_int_equal(relr__each((const uint8_t *)words, n * sizeof(*words), note, &f), 0);
	return f;
}

#define READ(...) \
	read_table((const uint64_t[]){__VA_ARGS__}, N_OF(((const uint64_t[]){__VA_ARGS__})))

static void an_even_word_is_a_place(void **state)
{
	struct found f = READ(0x1000, 0x1008, 0x2000);

	assert_int_equal(f.n, 3);
	assert_int_equal(f.at[0], 0x1000);
	assert_int_equal(f.at[1], 0x1008);
	assert_int_equal(f.at[2], 0x2000);
}

static void an_odd_word_has_a_bit_for_each_of_63_words(void **state)
{
	struct found f = READ(0x1000, 1 | 1 << 1 | 1 << 3, 1, 1 | 1 << 1 | 1ULL << 63, 0x2000);

	assert_int_equal(f.n, 6);
	assert_int_equal(f.at[1], 0x1008);
	assert_int_equal(f.at[2], 0x1018);
	assert_int_equal(f.at[3], 0x1008 + 2 * 63 * 8);
	assert_int_equal(f.at[4], 0x1008 + 2 * 63 * 8 + 62 * 8);
	assert_int_equal(f.at[5], 0x2000);
}

/* A place that came again and again would be kept each time. */
static void places_that_do_not_ascend_end_the_table(void **state)
{
	assert_int_equal(READ(0x1000, 0x1000, 0x2000).n, 1);
	assert_int_equal(READ(0x1000, ALL, 0x1100, 0x2000).n, 64);
	assert_int_equal(READ(0x1000, 0x800).n, 1);
}

static void places_beyond_the_last_address_end_the_table(void **state)
{
	assert_int_equal(READ(0x1000, ALL - 1, 1).n, 1);
	assert_int_equal(READ(ALL - 15, ALL, 0x1000).n, 1);
	assert_int_equal(READ(ALL - 63 * 8 - 7, ALL).n, 1);
	assert_int_equal(READ(ALL - 63 * 8 - 9, ALL).n, 64);
}

static void a_word_that_is_cut_is_left_out(void **state)
{
	const uint64_t words[] = {0x1000, 0x2000};
	struct found f = {0};

	assert_int_equal(relr__each((const uint8_t *)words, 15, note, &f), 0);
	assert_int_equal(f.n, 1);
	assert_int_equal(relr__each(NULL, 0, note, &f), 0);
	assert_int_equal(f.n, 1);
}

static void a_result_ends_the_reading(void **state)
{
	const uint64_t words[] = {0x1000, ALL, 0x2000};

	for (size_t stop = 1; stop < 3; stop++) {
		struct found f = {.stop = stop};

		assert_int_equal(relr__each((const uint8_t *)words, sizeof(words), note, &f), -5);
		assert_int_equal(f.n, stop);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_even_word_is_a_place),
		cmocka_unit_test(an_odd_word_has_a_bit_for_each_of_63_words),
		cmocka_unit_test(places_that_do_not_ascend_end_the_table),
		cmocka_unit_test(places_beyond_the_last_address_end_the_table),
		cmocka_unit_test(a_word_that_is_cut_is_left_out),
		cmocka_unit_test(a_result_ends_the_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
