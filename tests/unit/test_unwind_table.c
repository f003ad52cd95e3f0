// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/table.h"
#include "unwind/area.h"
#include "unwind/step.h"

#include "test.h"
#include "../fixtures/unwind_rows.h"
#include "../fixtures/unwind_blocks.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/libdw_rules.h"
#include "../fixtures/random.h"
#include "../fixtures/rows.h"
#include "pctab/linear.h"
#include "plan/file_job.h"
#include "plan/symbols/elf_image.h"
#include <unistd.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>

#define PAGE WIRE_UNWIND_PAGE_BYTES

static void assert_same_rules(const struct unwind_table *t, const struct unwind_rows *r,
			      uint64_t from, uint64_t to)
{
	for (uint64_t addr = from; addr < to; addr++)
		assert_rule(unwind_table__rule(t, addr), rows_rule(r, addr));
}

TEST_CASE(a_table_has_the_rules_of_its_rows)
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
TEST_CASE(a_table_may_be_as_dense_as_can_be)
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

TEST_CASE(changes_at_the_borders_of_pages_are_kept)
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

TEST_CASE(pages_without_rules_have_no_table)
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
TEST_CASE(common_rules_have_short_numbers)
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

TEST_CASE(what_it_was_made_of_is_noted)
{
	_unwind_rows_ struct unwind_rows r = {};
	_unwind_table_ struct unwind_table *t = NULL;

	rows_add(&r, 0, 1);
	rows_add(&r, 5, 0);
	t = rows_table(&r);
	assert_pairs(t->functions, 7, t->rows, 2, t->n_segments, 1, t->segments[0].offset, 0x1000,
		     t->segments[0].size, 0x123456);
}

TEST_CASE(a_table_that_is_too_long_is_refused)
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

/* ---- Area ------------------------------------------------------------------------------------ */

#define AREA_PAGE WIRE_UNWIND_PAGE_BYTES

static uint8_t *memory;

static int setup(void **state)
{
	memory = calloc(UNWIND_BLOCKS, WIRE_UNWIND_BLOCK_VALUE);
	return memory ? 0 : -1;
}

static int teardown(void **state)
{
	free(memory);
	return 0;
}

/* The kernel half finds what the user half does. */
static void assert_finds(const struct wire_unwind_file *f, const struct unwind_table *t,
			 uint32_t step)
{
	unwind_blocks_fill(memory, UNWIND_BLOCKS);
	for (uint64_t at = 0; at < (uint64_t)t->pages * AREA_PAGE; at += step)
		assert_rule(unwind_lookup(f, t->start + at), unwind_table__rule(t, t->start + at));
	assert_rule(unwind_lookup(f, t->start - 1), NO_RULE);
	assert_rule(unwind_lookup(f, t->start + (uint64_t)t->pages * AREA_PAGE), NO_RULE);
	assert_rule(unwind_lookup(f, 0), NO_RULE);
	assert_rule(unwind_lookup(f, UINT64_MAX), NO_RULE);
}

static struct unwind_table *random_table(struct rng *rng, uint64_t end, uint32_t longest)
{
	_unwind_rows_ struct unwind_rows r = {};

	rows_random(rng, &r, end, longest, 300);
	return rows_table(&r);
}

TEST_GROUP(unwind_blocks_setup, NULL)

TEST_CASE_WITH(the_kernel_half_finds_the_rules_of_all_files, setup, teardown)
{
	struct unwind_table *tables[6];
	struct wire_unwind_file files[6];
	struct rng rng = rng_new();
	struct unwind_area a;

	unwind_area__init(&a, memory, UNWIND_BLOCKS);
	for (int i = 0; i < 6; i++) {
		tables[i] = random_table(&rng, 1 + rng_below(&rng, 10 * AREA_PAGE),
					 1 + (uint32_t)rng_below(&rng, 100));
		assert_int_equal(unwind_area__add(&a, tables[i], &files[i]), 0);
	}
	for (int i = 0; i < 6; i++) {
		assert_finds(&files[i], tables[i], 5);
		unwind_table__free(tables[i]);
	}
}

/* Pages of 200 KB: five to a block. */
TEST_CASE_WITH(no_table_lies_in_two_blocks, setup, teardown)
{
	_unwind_rows_ struct unwind_rows r = {};
	_unwind_table_ struct unwind_table *t = NULL;
	struct wire_unwind_file f;
	struct unwind_area a;

	for (uint32_t i = 0; i < 14 * AREA_PAGE; i++)
		rows_add(&r, i, 1 + i % 400);
	rows_add(&r, 14 * AREA_PAGE, 0);
	t = rows_table(&r);
	unwind_area__init(&a, memory, UNWIND_BLOCKS);
	assert_int_equal(unwind_area__add(&a, t, &f), 0);
	assert_true(unwind_area__left(&a) < (UNWIND_BLOCKS - 2) * WIRE_UNWIND_BLOCK_BYTES);
	assert_finds(&f, t, 17);
	for (uint32_t page = 0; page < t->pages; page++) {
		uint32_t at = unwind_page_table(&f, t->start + (uint64_t)page * AREA_PAGE);
		uint32_t last = at + unwind_table__page_size(t, page) - 1;

		assert_int_equal(at >> WIRE_UNWIND_BLOCK_SHIFT, last >> WIRE_UNWIND_BLOCK_SHIFT);
	}
}

TEST_CASE_WITH(a_full_area_stays_as_it_was, setup, teardown)
{
	struct rng rng = rng_new();
	_unwind_table_ struct unwind_table *t = random_table(&rng, 10 * AREA_PAGE, 20);
	struct wire_unwind_file first, f = {.start = 5};
	struct unwind_area a;
	uint32_t left, n = 0;

	unwind_area__init(&a, memory, 1);
	assert_int_equal(unwind_area__add(&a, t, &first), 0);
	do {
		left = unwind_area__left(&a);
		n++;
	} while (!unwind_area__add(&a, t, &f));
	assert_true(n > 1);
	assert_int_equal(unwind_area__left(&a), left);
	f = (struct wire_unwind_file){.start = 5};
	assert_int_equal(unwind_area__add(&a, t, &f), -ENOSPC);
	assert_int_equal(f.start, 5);
	assert_finds(&first, t, 3);
	/* None at all. */
	unwind_area__init(&a, memory, 0);
	assert_int_equal(unwind_area__add(&a, t, &f), -ENOSPC);
}

TEST_CASE_WITH(nothing_is_put_behind_a_block, setup, teardown)
{
	struct rng rng = rng_new();
	struct wire_unwind_file f;
	struct unwind_area a;

	memset(memory, 0xa5, UNWIND_BLOCKS * WIRE_UNWIND_BLOCK_VALUE);
	unwind_area__init(&a, memory, 2);
	for (int i = 0; i < 200; i++) {
		_unwind_table_ struct unwind_table *t =
			random_table(&rng, 1 + rng_below(&rng, 3 * AREA_PAGE), 20);

		if (unwind_area__add(&a, t, &f))
			break;
	}
	for (uint32_t block = 0; block < UNWIND_BLOCKS; block++) {
		const uint8_t *p = memory + (size_t)block * WIRE_UNWIND_BLOCK_VALUE;

		for (uint32_t i = 0; i < WIRE_UNWIND_PADDING; i++)
			assert_int_equal(p[WIRE_UNWIND_BLOCK_BYTES + i], 0xa5);
		assert_int_equal(p[WIRE_UNWIND_BLOCK_BYTES / 2] == 0xa5, block >= 2);
	}
}

/* Tables of many sizes come and go; each look-up finds its own rules, and in the end all is free.
 */
TEST_CASE_WITH(what_is_given_back_is_used_again, setup, teardown)
{
	struct unwind_table *tables[12] = {0};
	struct wire_unwind_file files[12];
	struct rng rng = rng_new();
	struct unwind_area a;
	uint32_t all, refused = 0;

	unwind_area__init(&a, memory, 2);
	all = unwind_area__left(&a);
	for (int round = 0; round < 300; round++) {
		uint32_t i = (uint32_t)rng_below(&rng, N_OF(tables)), left;
		struct unwind_table *t = random_table(&rng, 1 + rng_below(&rng, 6 * AREA_PAGE),
						      1 + (uint32_t)rng_below(&rng, 30));

		if (tables[i])
			unwind_area__remove(&a, &files[i]);
		unwind_table__free(tables[i]);
		left = unwind_area__left(&a);
		tables[i] = unwind_area__add(&a, t, &files[i]) ? NULL : t;
		refused += !tables[i];
		if (tables[i])
			assert_true(left - unwind_area__left(&a) >= unwind_table__bytes(t));
		else
			unwind_table__free(t);
		for (uint32_t j = 0; round % 50 == 0 && j < N_OF(tables); j++)
			if (tables[j])
				assert_finds(&files[j], tables[j], 97);
	}
	assert_true(refused && refused < 200);
	for (uint32_t j = 0; j < N_OF(tables); j++) {
		if (tables[j])
			unwind_area__remove(&a, &files[j]);
		unwind_table__free(tables[j]);
	}
	assert_int_equal(unwind_area__left(&a), all);
}

TEST_MAIN(NULL, NULL)
