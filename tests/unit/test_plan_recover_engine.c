// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/engine.h"

#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"

#define QUERIES 40

/* The assembled tests/fixtures/vtables.s, with and without a table of wrappers. */
static int find(const char *name, uint32_t n, struct engine_wrappers *table, struct elf_image **img)
{
	_bounds_ struct bounds bounds = {0};
	struct address_counts counts;

	assert_int_equal(image_of(fixture(name), img), 0);
	assert_int_equal(bounds__find(*img, &bounds), 0);
	assert_int_equal(addresses__count(*img, &bounds, &counts), 0);
	return engine__find(*img, &bounds, &counts, table, n);
}

static void wrappers_are_found(void **state)
{
	_elf_image_ struct elf_image *img = NULL;
	struct engine_wrappers table[QUERIES];

	assert_int_equal(find("vtables_engine.so", QUERIES, table, &img), 1);
	assert_int_equal(table[0].functions[0], symbol(img, "non_incr_10")->addr);
	assert_int_equal(table[0].functions[1], symbol(img, "incr_10")->addr);
	assert_int_equal(table[39].functions[0], symbol(img, "non_incr_49")->addr);
	assert_int_equal(table[39].functions[1], symbol(img, "incr_49")->addr);
}

static void tables_of_other_lengths_are_none(void **state)
{
	static const uint32_t lengths[] = {QUERIES - 1, QUERIES + 1};
	struct engine_wrappers table[QUERIES + 1];

	for (size_t i = 0; i < N_OF(lengths); i++) {
		_elf_image_ struct elf_image *img = NULL;

		assert_int_equal(find("vtables_engine.so", lengths[i], table, &img), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrappers_are_found),
		cmocka_unit_test(tables_of_other_lengths_are_none),
	};

	return cmocka_run_group_tests(tests, fixture_dir_setup, fixture_dir_teardown);
}
