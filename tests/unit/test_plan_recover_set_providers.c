// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/set_providers.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"

#define N 4

/* An assembled tests/fixtures/set_providers.s sets this for a query; NULL: nothing. */
static void assert_sets(const char *library, const char *query, uint32_t n, const char *expected)
{
	_elf_image_ struct elf_image *img = NULL;
	_bounds_ struct bounds bounds;
	uint64_t function = 0;

	assert_int_equal(image_of(fixture(library), &img), 0);
	assert_int_equal(bounds__find(img, &bounds), 0);
	assert_int_equal(set_providers__find(img, &bounds, symbol(img, "defaults")->addr, n, query,
					     &function),
			 expected ? 1 : 0);
	if (expected)
		assert_int_equal(function, symbol(img, expected)->addr);
}

static void the_place_has_the_name(void **state)
{
	assert_sets("set_providers.so", "spans_more", N, "own");
	/* It is the beginning of the other's name in memory, and nothing else is put there. */
	assert_sets("set_providers.so", "spans", N, "default_0");
	assert_sets("set_providers.so", "span", N, NULL);
	assert_sets("set_providers.so", "twice", N, NULL);
}

static void all_places_are_set(void **state)
{
	assert_sets("set_providers.so", "spans_more", N + 1, NULL);
}

static void few_places_may_be_unknown(void **state)
{
	assert_sets("set_providers_few.so", "spans_more", N + 28, "own");
	assert_sets("set_providers_many.so", "spans_more", N + 28, NULL);
}

static void two_functions_do_not_differ(void **state)
{
	assert_sets("set_providers_several.so", "spans_more", N, NULL);
	assert_sets("set_providers_several.so", "spans", N, "default_0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_place_has_the_name),
		cmocka_unit_test(all_places_are_set),
		cmocka_unit_test(few_places_may_be_unknown),
		cmocka_unit_test(two_functions_do_not_differ),
	};

	return cmocka_run_group_tests(tests, fixture_dir_setup, fixture_dir_teardown);
}
