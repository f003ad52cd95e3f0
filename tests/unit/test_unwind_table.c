// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/table.h"

#include "test.h"
#include "../fixtures/unwind_rows.h"
#include "pctab/linear.h"

#define PAGE WIRE_UNWIND_PAGE_BYTES

static void assert_same_rules(const struct unwind_table *t, const struct unwind_rows *r,
			      uint64_t from, uint64_t to)
{
	for (uint64_t addr = from; addr < to; addr++)
		assert_rule(unwind_table__rule(t, addr), rows_rule(r, addr));
}

static void a_table_has_the_rules_of_its_rows(void **state)
{
	struct rng rng = rng_new();

	for (int i = 0; i < 30; i++) {
		_unwind_rows_ struct unwind_rows r = {};
		_unwind_table_ struct unwind_table *t = NULL;

		rows_random(&rng, &r, 1 + rng_below(&rng, 3 * PAGE),
			    1 + (uint32_t)rng_any_size(&rng) % 3000,
			    2 + (uint32_t)rng_below(&rng, 1000));
		t = rows_table(&r);
		assert_int_equal(t->start, ROWS_START);
		assert_int_equal(t->rows, r.n);
		assert_same_rules(t, &r, ROWS_START - 2, ROWS_START + t->pages * PAGE + 2);
	}
}

/* Each byte has another rule than the one before: the index has entries of 4 bytes. */
static void a_table_may_be_as_dense_as_can_be(void **state)
{
	_unwind_rows_ struct unwind_rows r = {};
	_unwind_table_ struct unwind_table *t = NULL;

	for (uint32_t i = 0; i < PAGE; i++)
		rows_add(&r, i, 1 + i % 400);
	rows_add(&r, PAGE, 0);
	t = rows_table(&r);
	assert_int_equal(t->pages, 1);
	assert_int_equal(t->tables[0], PCTAB_INDEX_WIDEST);
	assert_same_rules(t, &r, ROWS_START, ROWS_START + PAGE);
}

static void changes_at_the_borders_of_pages_are_kept(void **state)
{
	_unwind_rows_ struct unwind_rows r = {};
	_unwind_table_ struct unwind_table *t = NULL;

	rows_add(&r, 0, 1);
	rows_add(&r, PAGE - 1, 2);
	rows_add(&r, PAGE, 3);
	rows_add(&r, 3 * PAGE, 4);
	rows_add(&r, 4 * PAGE - 1, 0);
	t = rows_table(&r);
	assert_int_equal(t->pages, 4);
	for (uint64_t page = 0; page < 5; page++)
		assert_same_rules(t, &r, ROWS_START + page * PAGE - 3,
				  ROWS_START + page * PAGE + 3);
}

static void pages_without_rules_have_no_table(void **state)
{
	_unwind_rows_ struct unwind_rows r = {};
	_unwind_table_ struct unwind_table *t = NULL;

	rows_add(&r, 0, 0);
	rows_add(&r, PAGE + 5, 1);
	rows_add(&r, PAGE + 9, 0);
	rows_add(&r, 4 * PAGE, 1);
	rows_add(&r, 4 * PAGE + 1, 0);
	t = rows_table(&r);
	assert_int_equal(t->pages, 5);
	for (uint32_t page = 0; page < 5; page++) {
		bool has = page == 1 || page == 4;

		assert_int_equal(t->directory[page] != UNWIND_NO_TABLE, has);
		assert_int_equal(!!unwind_table__page_size(t, page), has);
	}
	assert_int_equal(unwind_table__page_size(t, 1) + unwind_table__page_size(t, 4), t->size);
	assert_same_rules(t, &r, ROWS_START, ROWS_START + 5 * PAGE + 9);
}

/* Rule numbers are small where rules are used much: the values of this table take one byte each. */
static void common_rules_have_short_numbers(void **state)
{
	_unwind_rows_ struct unwind_rows r = {};
	_unwind_table_ struct unwind_table *t = NULL;

	for (uint32_t i = 0; i < 3000; i++)
		rows_add(&r, i, 1 + i);
	for (uint32_t i = 0; i < 9000; i++)
		rows_add(&r, 3000 + i, 2995 + i % 2);
	rows_add(&r, 12000, 0);
	t = rows_table(&r);
	assert_int_equal(t->n_rules, 3001);
	assert_rule(t->rules[0], NO_RULE);
	assert_rule(t->rules[1], RSP_RULE(8 * 2995));
	assert_rule(t->rules[2], RSP_RULE(8 * 2996));
	assert_same_rules(t, &r, ROWS_START, ROWS_START + 12000);
}

static void what_it_was_made_of_is_noted(void **state)
{
	_unwind_rows_ struct unwind_rows r = {};
	_unwind_table_ struct unwind_table *t = NULL;

	rows_add(&r, 0, 1);
	rows_add(&r, 5, 0);
	t = rows_table(&r);
	assert_int_equal(t->functions, 7);
	assert_int_equal(t->rows, 2);
	assert_int_equal(t->n_segments, 1);
	assert_int_equal(t->segments[0].offset, 0x1000);
	assert_int_equal(t->segments[0].size, 0x123456);
}

static void a_table_that_is_too_long_is_refused(void **state)
{
	static const struct unwind_input in = {.n_segments = 0};
	_unwind_rows_ struct unwind_rows r = {};
	struct unwind_table *t = NULL;

	/* A page takes 200 KB. */
	for (uint32_t i = 0; i < 40 * PAGE; i++)
		rows_add(&r, i, 1 + i % 400);
	rows_add(&r, 40 * PAGE, 0);
	assert_int_equal(unwind_table__make(&in, &r, &t), -EFBIG);
	assert_null(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_has_the_rules_of_its_rows),
		cmocka_unit_test(a_table_may_be_as_dense_as_can_be),
		cmocka_unit_test(changes_at_the_borders_of_pages_are_kept),
		cmocka_unit_test(pages_without_rules_have_no_table),
		cmocka_unit_test(common_rules_have_short_numbers),
		cmocka_unit_test(what_it_was_made_of_is_noted),
		cmocka_unit_test(a_table_that_is_too_long_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
