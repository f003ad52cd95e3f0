// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/cells.h"

#include <errno.h>

#include "../fixtures/sample_history.h"
#include "test.h"

static int set(struct history_rows *r, const char *column, const struct store_value *cell)
{
	const struct history_table *t = history_table(HISTORY_BUILD);

	return history_cell__set(r, history_table__column(t, column), &r->build, cell);
}

TEST_CASE(cells_become_columns)
{
	char text[] = "main";
	_history_rows_ struct history_rows r;

	history_rows__init(&r);
	assert_int_equal(set(&r, "branch", &(struct store_value){.type = STORE_TEXT, .text = text}),
			 0);
	assert_int_equal(
		set(&r, "lost", &(struct store_value){.type = STORE_INTEGER, .integer = 7}), 0);
	text[0] = 'x';
	assert_string_equal(r.build.branch, "main");
	assert_int_equal(r.build.lost, 7);
	/* An unknown value stays unknown. */
	assert_int_equal(set(&r, "host", &(struct store_value){.type = STORE_NULL}), 0);
	assert_int_equal(set(&r, "cpus", &(struct store_value){.type = STORE_NULL}), 0);
	assert_null(r.build.host);
	assert_int_equal(r.build.cpus, HISTORY_UNKNOWN);
}

TEST_CASE(cells_of_another_type_are_refused)
{
	static const struct store_value text = {.type = STORE_TEXT, .text = "7"};
	static const struct store_value number = {.type = STORE_INTEGER, .integer = 7};
	static const struct store_value negative = {.type = STORE_INTEGER, .integer = -1};
	static const struct store_value real = {.type = STORE_REAL, .real = 7};
	_history_rows_ struct history_rows r;

	history_rows__init(&r);
	assert_int_equal(set(&r, "lost", &text), -EPROTO);
	assert_int_equal(set(&r, "lost", &negative), -EPROTO);
	assert_int_equal(set(&r, "lost", &real), -EPROTO);
	assert_int_equal(set(&r, "host", &number), -EPROTO);
	assert_int_equal(r.build.lost, HISTORY_UNKNOWN);
	assert_null(r.build.host);
}

static void assert_fault(enum history_table_id table, const void *row, const char *expected)
{
	char why[128] = "";

	assert_int_equal(row_check(table, row, why, sizeof(why)), !*expected);
	assert_string_equal(why, expected);
}

TEST_CASE(rows_of_a_build_are_right)
{
	_history_rows_ struct history_rows r;

	history_rows__init(&r);
	sample_history(&r, 1);
	for (int id = 0; id < HISTORY_TABLES; id++)
		for (size_t i = 0; i < history_rows__n(&r, id); i++)
			assert_fault(id, history_rows__at(&r, id, i), "");
}

TEST_CASE(an_id_is_a_uuid)
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

TEST_CASE(numbers_and_texts_have_limits)
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

TEST_MAIN(NULL, NULL)
