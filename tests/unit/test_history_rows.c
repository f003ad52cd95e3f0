// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/rows.h"

#include "test.h"

TEST_CASE(equal_texts_are_one)
{
	_history_rows_ struct history_rows r;
	const char *first;
	char text[] = "typeck";

	history_rows__init(&r);
	assert_null(history_rows__text(&r, NULL));
	first = history_rows__text(&r, text);
	assert_ptr_not_equal(first, text);
	text[0] = 'T';
	assert_string_equal(first, "typeck");
	assert_string_equal(history_rows__text(&r, text), "Typeck");
	assert_ptr_equal(history_rows__text(&r, "typeck"), first);
	assert_string_equal(history_rows__text(&r, ""), "");
}

TEST_CASE(texts_stay_where_they_are)
{
	_history_rows_ struct history_rows r;
	const char *all[500];

	history_rows__init(&r);
	for (size_t i = 0; i < N_OF(all); i++) {
		char text[16];

		snprintf(text, sizeof(text), "crate%zu", i);
		all[i] = history_rows__text(&r, text);
	}
	for (size_t i = 0; i < N_OF(all); i++) {
		char text[16];

		snprintf(text, sizeof(text), "crate%zu", i);
		assert_string_equal(all[i], text);
		assert_ptr_equal(history_rows__text(&r, text), all[i]);
	}
}

TEST_CASE(nothing_is_known_of_an_appended_row)
{
	_history_rows_ struct history_rows r;

	history_rows__init(&r);
	assert_true(r.build.start_ns == HISTORY_UNKNOWN);
	assert_null(r.build.build);
	for (uint64_t i = 0; i < 100; i++) {
		struct history_query *row = history_rows__append(&r, HISTORY_QUERY);

		assert_null(row->crate);
		assert_true(row->count == HISTORY_UNKNOWN);
		row->count = i;
	}
	assert_int_equal(history_rows__n(&r, HISTORY_QUERY), 100);
	for (uint64_t i = 0; i < 100; i++) {
		const struct history_query *row = history_rows__at(&r, HISTORY_QUERY, i);

		assert_int_equal(row->count, i);
	}
	assert_null(history_rows__at(&r, HISTORY_QUERY, 100));
}

TEST_CASE(there_is_one_build)
{
	_history_rows_ struct history_rows r;

	history_rows__init(&r);
	assert_int_equal(history_rows__n(&r, HISTORY_BUILD), 1);
	assert_ptr_equal(history_rows__at(&r, HISTORY_BUILD, 0), &r.build);
	assert_null(history_rows__at(&r, HISTORY_BUILD, 1));
	assert_int_equal(history_rows__n(&r, HISTORY_ITEM), 0);
}

TEST_CASE(cleared_rows_can_be_used_again)
{
	_history_rows_ struct history_rows r;

	history_rows__init(&r);
	for (int i = 0; i < 2; i++) {
		r.build.host = history_rows__text(&r, "host");
		assert_non_null(history_rows__append(&r, HISTORY_COMPILE));
		assert_int_equal(history_rows__n(&r, HISTORY_COMPILE), 1);
		history_rows__clear(&r);
		assert_null(r.build.host);
		assert_int_equal(history_rows__n(&r, HISTORY_COMPILE), 0);
	}
}

TEST_MAIN(NULL, NULL)
