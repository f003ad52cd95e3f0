// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/reached.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"

/* The assembled tests/fixtures/old.s, with symbols, and without. */
static struct elf_image *img, *stripped;
static struct bounds bounds;

static int setup(void **state)
{
	if (fixture_dir_setup(state) || image_of(fixture("old.so"), &img) ||
	    image_of(fixture("old_stripped.so"), &stripped))
		return -1;
	return bounds__find(stripped, &bounds);
}

static int teardown(void **state)
{
	bounds__destroy(&bounds);
	elf_image__free(stripped);
	elf_image__free(img);
	return fixture_dir_teardown(state);
}

static bool is_there(const char *name)
{
	return bounds__starts(&bounds, symbol(img, name)->addr);
}

static void what_nothing_leads_to_goes(void **state)
{
	uint32_t n = bounds.n;

	assert_true(is_there("dead") && is_there("dead_too"));
	assert_int_equal(reached__keep(stripped, &bounds), 0);
	assert_int_equal(bounds.n, n - 2);
	assert_false(is_there("dead") || is_there("dead_too"));
	assert_true(is_there("moved") && is_there("called") && is_there("called_within"));
	assert_true(is_there("jumped") && is_there("taken"));
	assert_true(is_there("pointed") && is_there("exported"));
	for (uint32_t i = 0; i < bounds.n; i++)
		assert_int_equal(bounds.items[i].of, i);
}

/* A pointer in data of which only the place is in a table. */
static void packed_pointers_lead_too(void **state)
{
	_elf_image_ struct elf_image *named = NULL, *packed = NULL;
	_bounds_ struct bounds all;

	assert_int_equal(image_of(fixture("old_packed.so"), &named), 0);
	assert_int_equal(image_of(fixture("old_packed_stripped.so"), &packed), 0);
	assert_true(elf_image__has_section(packed, ".relr.dyn"));
	assert_int_equal(bounds__find(packed, &all), 0);
	assert_int_equal(reached__keep(packed, &all), 0);
	assert_true(bounds__starts(&all, symbol(named, "pointed")->addr));
	assert_false(bounds__starts(&all, symbol(named, "dead")->addr));
}

static void nothing_goes_where_bolt_did_not_run(void **state)
{
	_elf_image_ struct elf_image *other = NULL;
	_bounds_ struct bounds all;
	uint32_t n;

	assert_int_equal(image_of(fixture("parts_stripped.so"), &other), 0);
	assert_int_equal(bounds__find(other, &all), 0);
	n = all.n;
	assert_int_equal(reached__keep(other, &all), 0);
	assert_int_equal(all.n, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_nothing_leads_to_goes),
		cmocka_unit_test(packed_pointers_lead_too),
		cmocka_unit_test(nothing_goes_where_bolt_did_not_run),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
