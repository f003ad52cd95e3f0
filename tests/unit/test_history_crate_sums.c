// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The sums themselves are tested with history/extract. */
#include "history/crate_sums.h"

#include "test.h"

TEST_CASE(a_long_text_is_cut_between_characters)
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

TEST_CASE(a_text_is_printable)
{
	_history_rows_ struct history_rows rows;

	history_rows__init(&rows);
	assert_string_equal(crate_sums_text(&rows, "a\n\xff"), "a??");
	assert_string_equal(crate_sums_text(&rows, NULL), "");
}

TEST_CASE(a_number_fits_a_store_and_is_known)
{
	assert_int_equal(crate_sums_number(7), 7);
	assert_true(crate_sums_number(UINT64_MAX) == HISTORY_NUMBER_MAX - 1);
	assert_true(crate_sums_number(HISTORY_NUMBER_MAX) == HISTORY_NUMBER_MAX - 1);
}

TEST_MAIN(NULL, NULL)
