// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The sums themselves are tested with history/extract. */
#include "history/crate_sums.h"

#include "test.h"

static void a_long_text_is_cut_between_characters(void **state)
{
	_history_rows_ struct history_rows rows;
	char text[HISTORY_TEXT_MAX + 10];
	const char *cut;

	history_rows__init(&rows);
	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = 0;
	memcpy(text + HISTORY_TEXT_MAX - 1, "\xc3\xa9", 2);
	cut = crate_sums_text(&rows, text);
	assert_int_equal(strlen(cut), HISTORY_TEXT_MAX - 1);
	memcpy(text + HISTORY_TEXT_MAX - 2, "\xc3\xa9z", 3);
	assert_int_equal(strlen(crate_sums_text(&rows, text)), HISTORY_TEXT_MAX);
}

static void a_text_is_printable(void **state)
{
	_history_rows_ struct history_rows rows;

	history_rows__init(&rows);
	assert_string_equal(crate_sums_text(&rows, "a\n\xff"), "a??");
	assert_string_equal(crate_sums_text(&rows, NULL), "");
}

static void a_number_fits_a_store_and_is_known(void **state)
{
	assert_int_equal(crate_sums_number(7), 7);
	assert_true(crate_sums_number(UINT64_MAX) == HISTORY_NUMBER_MAX - 1);
	assert_true(crate_sums_number(HISTORY_NUMBER_MAX) == HISTORY_NUMBER_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_text_is_cut_between_characters),
		cmocka_unit_test(a_text_is_printable),
		cmocka_unit_test(a_number_fits_a_store_and_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
