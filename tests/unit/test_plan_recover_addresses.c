// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/addresses.h"

#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"

/* Of the assembled tests/fixtures/vtables.s: 39 queries with four each, and 40 providers. */
static void functions_with_the_most_are_first(void **state)
{
	_elf_image_ struct elf_image *img = NULL;
	_bounds_ struct bounds bounds = {0};
	struct address_counts counts;

	assert_int_equal(image_of(fixture("vtables.so"), &img), 0);
	assert_int_equal(bounds__find(img, &bounds), 0);
	assert_int_equal(addresses__count(img, &bounds, &counts), 0);
	assert_int_equal(counts.n, 2);
	assert_int_equal(counts.items[0].function, symbol(img, "make_table")->addr);
	assert_int_equal(counts.items[0].count, 4 * 39);
	assert_int_equal(counts.items[1].function, symbol(img, "defaults")->addr);
	assert_int_equal(counts.items[1].count, 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_with_the_most_are_first),
	};

	return cmocka_run_group_tests(tests, fixture_dir_setup, fixture_dir_teardown);
}
