// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/cells.h"

#include <errno.h>

#include "test.h"

static int set(struct history_rows *r, const char *column, const struct store_value *cell)
{
	const struct history_table *t = history_table(HISTORY_BUILD);

	return history_cell__set(r, history_table__column(t, column), &r->build, cell);
}

static void cells_become_columns(void **state)
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

static void cells_of_another_type_are_refused(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_become_columns),
		cmocka_unit_test(cells_of_another_type_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
