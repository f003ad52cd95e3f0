// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/bounds.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"

/* The assembled tests/fixtures/old.s, with symbols, and without. */
static struct elf_image *img, *stripped;
static struct bounds reached_bounds;

static int reached_setup(void **state)
{
	if (fixture_dir_setup(state) || image_of(fixture("old.so"), &img) ||
	    image_of(fixture("old_stripped.so"), &stripped))
		return -1;
	return bounds__find(stripped, &reached_bounds);
}

static int reached_teardown(void **state)
{
	bounds__destroy(&reached_bounds);
	elf_image__free(stripped);
	elf_image__free(img);
	return fixture_dir_teardown(state);
}

static bool is_there(const char *name)
{
	return bounds__starts(&reached_bounds, symbol(img, name)->addr);
}

TEST_CASE(what_nothing_leads_to_goes)
{
	uint32_t n = reached_bounds.n;

	assert_true(is_there("dead") && is_there("dead_too"));
	assert_int_equal(reached__keep(stripped, &reached_bounds), 0);
	assert_int_equal(reached_bounds.n, n - 2);
	assert_false(is_there("dead") || is_there("dead_too"));
	assert_true(is_there("moved") && is_there("called") && is_there("called_within"));
	assert_true(is_there("jumped") && is_there("taken"));
	assert_true(is_there("pointed") && is_there("exported"));
	/* One starts where it starts alone, and none where no code is. */
	assert_false(bounds__starts(&reached_bounds, symbol(img, "exported")->addr + 1));
	assert_false(bounds__starts(&reached_bounds, UINT64_MAX));
	for (uint32_t i = 0; i < reached_bounds.n; i++)
		assert_int_equal(reached_bounds.items[i].of, i);
}

/* A pointer in data of which only the place is in a table. */
TEST_CASE(packed_pointers_lead_too)
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

TEST_MAIN(reached_setup, reached_teardown)
