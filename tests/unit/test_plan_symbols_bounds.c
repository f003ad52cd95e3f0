// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/bounds.h"

#include "test.h"
#define LIBRARY "parts.so"
#include "../fixtures/image.h"

/* The assembled tests/fixtures/parts.s. */
static struct bounds bounds;

static int setup(void **state)
{
	return image_setup(state) ?: bounds__find(img, &bounds);
}

static int teardown(void **state)
{
	bounds__destroy(&bounds);
	return image_teardown(state);
}

static const struct bound *bound_of(const char *name)
{
	const struct elf_symbol *sym = symbol(img, name);
	const struct bound *b = bounds__at(&bounds, sym->addr);

	assert_non_null(b);
	assert_int_equal(b->addr, sym->addr);
	return b;
}

static uint32_t number_of(const char *name)
{
	return (uint32_t)(bound_of(name) - bounds.items);
}

TEST_CASE(records_give_the_bounds)
{
	assert_int_equal(bounds.n, 7);
	for (uint32_t i = 1; i < bounds.n; i++)
		assert_true(bounds.items[i].addr >=
			    bounds.items[i - 1].addr + bounds.items[i - 1].size);
	assert_int_equal(bound_of("other")->size, symbol(img, "other")->size);
	assert_int_equal(bound_of("cold")->size, symbol(img, "cold")->size);
}

TEST_CASE(what_calls_reach_is_a_function)
{
	assert_int_equal(bound_of("exported")->of, number_of("exported"));
	assert_int_equal(bound_of("other")->of, number_of("other"));
	assert_true(bounds__starts(&bounds, symbol(img, "other")->addr));
	assert_false(bounds__starts(&bounds, symbol(img, "other")->addr + 1));
	assert_false(bounds__starts(&bounds, symbol(img, "cold")->addr));
}

TEST_CASE(what_jumps_reach_is_a_part)
{
	assert_int_equal(bound_of("pushed")->of, number_of("exported"));
	assert_int_equal(bound_of("cold")->of, number_of("exported"));
	assert_int_equal(bound_of("warm")->of, number_of("exported"));
}

TEST_CASE(a_part_may_have_no_function)
{
	assert_int_equal(bound_of("lone")->of, BOUNDS_NONE);
	assert_int_equal(bound_of("on_frame")->of, BOUNDS_NONE);
}

TEST_CASE(an_address_lies_in_one_bound)
{
	const struct elf_symbol *f = symbol(img, "exported");

	assert_ptr_equal(bounds__at(&bounds, f->addr + 3), bound_of("exported"));
	assert_ptr_equal(bounds__at(&bounds, f->addr + bound_of("exported")->size - 1),
			 bound_of("exported"));
	assert_null(bounds__at(&bounds, symbol(img, "undescribed")->addr));
	assert_null(bounds__at(&bounds, bounds.items[0].addr - 1));
	assert_null(bounds__at(&bounds, UINT64_MAX));
}

TEST_CASE(a_file_without_records_has_none)
{
	static const uint8_t text[] = {0xc3};
	struct elf_builder b = {.text = text, .text_len = sizeof(text)};
	_elf_image_ struct elf_image *bare = NULL;
	_bounds_ struct bounds none;

	elf_builder__build(&b, NULL, 0);
	assert_int_equal(image_of_bytes(b.buf, b.len, &bare), 0);
	assert_int_equal(bounds__find(bare, &none), -ENODATA);
	assert_int_equal(none.n, 0);
}

/* ---- Symbols reached ------------------------------------------------------------------------- */

/* The assembled tests/fixtures/old.s, with symbols, and without. */
static struct elf_image *stripped;
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

TEST_GROUP(reached_setup, reached_teardown)

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

TEST_CASE(nothing_goes_where_bolt_did_not_run)
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

TEST_MAIN(setup, teardown)
