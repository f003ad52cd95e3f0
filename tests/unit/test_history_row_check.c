// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/row_check.h"

#include "../fixtures/sample_history.h"
#include "history/rows.h"
#include "test.h"

static void assert_fault(enum history_table_id table, const void *row, const char *expected)
{
	char why[128] = "";

	assert_int_equal(row_check(table, row, why, sizeof(why)), !*expected);
	assert_string_equal(why, expected);
}

static void rows_of_a_build_are_right(void **state)
{
	_history_rows_ struct history_rows r;

	history_rows__init(&r);
	sample_history(&r, 1);
	for (int id = 0; id < HISTORY_TABLES; id++)
		for (size_t i = 0; i < history_rows__n(&r, id); i++)
			assert_fault(id, history_rows__at(&r, id, i), "");
}

static void an_id_is_a_uuid(void **state)
{
	static const char *const none[] = {"", "0f1e2d3c", "0F1e2d3c-4b5a-4978-8695-000000000001",
					   "0f1e2d3c-4b5a-4978-8695-0000000000011"};
	_history_rows_ struct history_rows r;

	history_rows__init(&r);
	sample_history(&r, 1);
	for (size_t i = 0; i < N_OF(none); i++) {
		r.build.build = none[i];
		assert_fault(HISTORY_BUILD, &r.build, "\"build\" is no UUID in lower case");
	}
	r.build.build = NULL;
	assert_fault(HISTORY_BUILD, &r.build, "it has no \"build\"");
}

static void numbers_and_texts_have_limits(void **state)
{
	_history_rows_ struct history_rows r;
	char text[HISTORY_TEXT_MAX + 2] = "";

	history_rows__init(&r);
	sample_history(&r, 1);
	r.build.lost = HISTORY_NUMBER_MAX - 1;
	assert_fault(HISTORY_BUILD, &r.build, "");
	r.build.lost = HISTORY_NUMBER_MAX;
	assert_fault(HISTORY_BUILD, &r.build, "\"lost\" is no number from 0 to 2^63 - 2");
	r.build.lost = HISTORY_UNKNOWN;
	memset(text, 'a', HISTORY_TEXT_MAX);
	r.build.label = text;
	assert_fault(HISTORY_BUILD, &r.build, "");
	text[HISTORY_TEXT_MAX] = 'a';
	assert_fault(HISTORY_BUILD, &r.build, "\"label\" is longer than 4096 bytes");
	r.build.label = NULL;
	r.build.start_ns = HISTORY_UNKNOWN;
	assert_fault(HISTORY_BUILD, &r.build, "it has no \"start_ns\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_a_build_are_right),
		cmocka_unit_test(an_id_is_a_uuid),
		cmocka_unit_test(numbers_and_texts_have_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
