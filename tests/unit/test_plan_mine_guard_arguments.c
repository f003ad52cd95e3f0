// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/cold_sides.h"

#include "test.h"
#define LIBRARY "cold_sides.so"
#include "../fixtures/image.h"
#include "../fixtures/session_globals.h"

/* The assembled tests/fixtures/cold_sides.s. */
static struct cold_sides sides;

static int setup(void **state)
{
	return image_setup(state) ?: cold_sides__find(img, globals_of(img), &sides);
}

static int teardown(void **state)
{
	cold_sides__destroy(&sides);
	return image_teardown(state);
}

/* The source at the branch to the cold side `name`. */
static struct wire_source source_at(const char *name)
{
	const struct cold_side *side = cold_sides__at(&sides, symbol(img, "cold_string")->addr);
	const struct elf_symbol *sym = symbol(img, name);
	const struct code_region region = {sym->addr, sym->size};
	struct wire_source source = {0};
	struct eval_function f = {
		.img = img, .entry = sym->addr, .regions = &region, .n_regions = 1};
	char call[64];

	snprintf(call, sizeof(call), "%s.call", name);
	f.until = symbol(img, call)->addr;
	assert_non_null(side);
	assert_int_equal(guard_argument(&f, side, 0x1234, &source), 0);
	return source;
}

static void assert_place(const struct wire_place *got, uint8_t reg, uint8_t n, int first,
			 int second)
{
	assert_int_equal(got->reg, reg);
	assert_int_equal(got->n, n);
	assert_int_equal(got->size, 8);
	assert_int_equal(got->at[0], first);
	assert_int_equal(got->at[1], second);
}

static void what_was_captured_before_the_branch_is_on_the_stack(void **state)
{
	struct wire_source s = source_at("kept");

	assert_int_equal(s.text, WIRE_ARGUMENT_STRING);
	assert_int_equal(s.site, 0x1234);
	assert_place(&s.string, WIRE_PLACE_SP, 1, 0x38, 0);
	assert_place(&s.length, WIRE_PLACE_SP, 1, 0x40, 0);
}

static void what_is_captured_behind_it_is_where_it_comes_from(void **state)
{
	struct wire_source s = source_at("moved");

	assert_int_equal(s.text, WIRE_ARGUMENT_STRING);
	assert_place(&s.string, WIRE_REG_BX, 0, 0, 0);
	assert_place(&s.length, WIRE_REG_BP, 2, 0x18, 0x20);
}

static void ways_must_agree(void **state)
{
	assert_int_equal(source_at("joined").text, WIRE_ARGUMENT_STRING);
	assert_int_equal(source_at("split").text, WIRE_ARGUMENT_NONE);
}

static void what_may_have_changed_is_not_known(void **state)
{
	assert_int_equal(source_at("changed").text, WIRE_ARGUMENT_NONE);
	assert_int_equal(source_at("written").text, WIRE_ARGUMENT_NONE);
}

static void what_is_at_no_place_is_not_known(void **state)
{
	assert_int_equal(source_at("constant").text, WIRE_ARGUMENT_NONE);
	assert_int_equal(source_at("never").text, WIRE_ARGUMENT_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_captured_before_the_branch_is_on_the_stack),
		cmocka_unit_test(what_is_captured_behind_it_is_where_it_comes_from),
		cmocka_unit_test(ways_must_agree),
		cmocka_unit_test(what_may_have_changed_is_not_known),
		cmocka_unit_test(what_is_at_no_place_is_not_known),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
