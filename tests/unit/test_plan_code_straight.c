// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/straight.h"

#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"

/* The assembled tests/fixtures/straight.s. */
static struct elf_image *img;

static int setup(void **state)
{
	if (fixture_dir_setup(state))
		return -1;
	return image_of(fixture("straight.so"), &img);
}

static int teardown(void **state)
{
	elf_image__free(img);
	return fixture_dir_teardown(state);
}

static struct straight *ran(const char *name, uint64_t argument)
{
	struct straight *s = NULL;

	assert_int_equal(straight__run(img, symbol(img, name)->addr, argument, &s), 0);
	return s;
}

static void assert_word(const struct straight *s, uint32_t at, uint64_t expected)
{
	uint64_t value;

	assert_true(straight__word(s, at, &value));
	assert_int_equal(value, expected);
}

static void assert_unknown(const struct straight *s, uint32_t at)
{
	uint64_t value;

	assert_false(straight__word(s, at, &value));
}

static void constants_are_stored(void **state)
{
	_straight_ struct straight *s = ran("constants", 0);

	assert_word(s, 0, -2ull);
	assert_word(s, 8, 0x1122334455667788);
	assert_word(s, 16, 0x1122334455667799);
	assert_word(s, 24, symbol(img, "constants")->addr);
	assert_word(s, 32, 5);
	assert_word(s, 40, 8ull << 32 | 7);
	assert_unknown(s, 48);
	assert_unknown(s, STRAIGHT_RESULT - 8);
	assert_unknown(s, STRAIGHT_RESULT - 4);
}

static void unknown_bytes_stay_unknown(void **state)
{
	_straight_ struct straight *s = ran("unknown", 0);

	assert_unknown(s, 0);
	assert_word(s, 8, 1ull << 32 | 3);
	assert_unknown(s, 16);
	assert_word(s, 24, 4);
}

static void vectors_are_copied(void **state)
{
	_straight_ struct straight *s = ran("vectors", 0);

	assert_word(s, 0, 0);
	assert_word(s, 8, 0);
	assert_word(s, 32, 1);
	assert_word(s, 40, 2);
	assert_word(s, 48, 2);
	assert_word(s, 56, 0);
}

static void the_argument_decides(void **state)
{
	for (uint64_t argument = 0; argument < 2; argument++) {
		_straight_ struct straight *s = ran("choices", argument);

		assert_word(s, 0, 2 + argument);
		assert_word(s, 8, argument);
		assert_word(s, 16, argument);
	}
}

static void loops_end(void **state)
{
	_straight_ struct straight *s = ran("pages", 0);

	assert_word(s, 0, 9);
}

static void calls_are_run_or_passed_over(void **state)
{
	_straight_ struct straight *s = ran("calls", 0);

	assert_word(s, 0, 1);
	assert_word(s, 8, 2);
	assert_word(s, 16, 77);
	assert_unknown(s, 24);
	assert_word(s, 64, 1);
	assert_word(s, 72, 0x0101010101010101);
}

static void what_does_not_return_is_refused(void **state)
{
	static const char *const names[] = {"forever", "trap"};

	for (size_t i = 0; i < N_OF(names); i++) {
		struct straight *s = NULL;

		assert_int_equal(straight__run(img, symbol(img, names[i])->addr, 0, &s), -ENOTSUP);
		assert_null(s);
	}
}

/* The calls that are run are limited; what lies behind is passed over. */
static void recursion_is_limited(void **state)
{
	_straight_ struct straight *s = ran("recursive", 0);

	assert_unknown(s, 0);
}

static void memory_outside_is_left_alone(void **state)
{
	_straight_ struct straight *s = ran("outside", 0x1000);

	assert_unknown(s, 0);
}

static void all_that_is_written_over_is_forgotten(void **state)
{
	_straight_ struct straight *s = ran("repeated", 0);
	_straight_ struct straight *any = ran("repeated_unknown", 0);

	assert_word(s, 0, 1);
	for (uint32_t i = 1; i <= 3; i++)
		assert_unknown(s, 8 * i);
	assert_word(s, 32, 5);
	assert_unknown(s, 40);
	assert_word(any, 0, 1);
	assert_unknown(any, 8);
	assert_unknown(any, 0x800);
}

static void flags_do_not_decide_what_asks_rcx(void **state)
{
	_straight_ struct straight *s = ran("counted", 0);

	assert_word(s, 0, 1);
	assert_unknown(s, 8);
}

static void a_move_that_is_not_made_clears_the_upper_half(void **state)
{
	_straight_ struct straight *s = ran("not_moved", 0);

	assert_word(s, 0, UINT32_MAX);
}

static void wide_stores_are_forgotten_whole(void **state)
{
	_straight_ struct straight *s = ran("wide", 0);

	assert_unknown(s, 0);
	assert_unknown(s, 56);
	assert_word(s, 64, 1);
	assert_unknown(s, 1024);
}

static void constants_of_the_library_are_known(void **state)
{
	_straight_ struct straight *s = ran("library_words", 0);

	assert_word(s, 0, symbol(img, "constants")->addr);
	assert_word(s, 8, 0);
	assert_word(s, 16, 7);
	assert_unknown(s, 24);
	assert_unknown(s, 32);
}

static void copies_are_made(void **state)
{
	_straight_ struct straight *s = ran("copied", 0);
	uint64_t words[3];

	assert_true(straight__bytes(s, 64, words, sizeof(words)));
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(words[i], i + 1);
	assert_word(s, 0, 1);
	assert_unknown(s, 8);
	assert_unknown(s, 16);
	assert_false(straight__bytes(s, 0, words, sizeof(words)));
	assert_false(straight__bytes(s, STRAIGHT_RESULT - 8, words, sizeof(words)));
}

static void the_mode_of_one_thread_decides(void **state)
{
	_straight_ struct straight *s = ran("mode", 0);

	assert_word(s, 0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants_are_stored),
		cmocka_unit_test(unknown_bytes_stay_unknown),
		cmocka_unit_test(vectors_are_copied),
		cmocka_unit_test(the_argument_decides),
		cmocka_unit_test(loops_end),
		cmocka_unit_test(calls_are_run_or_passed_over),
		cmocka_unit_test(what_does_not_return_is_refused),
		cmocka_unit_test(recursion_is_limited),
		cmocka_unit_test(memory_outside_is_left_alone),
		cmocka_unit_test(all_that_is_written_over_is_forgotten),
		cmocka_unit_test(flags_do_not_decide_what_asks_rcx),
		cmocka_unit_test(a_move_that_is_not_made_clears_the_upper_half),
		cmocka_unit_test(wide_stores_are_forgotten_whole),
		cmocka_unit_test(constants_of_the_library_are_known),
		cmocka_unit_test(copies_are_made),
		cmocka_unit_test(the_mode_of_one_thread_decides),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
