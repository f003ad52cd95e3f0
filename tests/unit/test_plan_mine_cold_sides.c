// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/cold_sides.h"

#include "test.h"
#define LIBRARY "cold_sides.so"
#include "../fixtures/image.h"
#include "../fixtures/session_globals.h"

/* The assembled tests/fixtures/cold_sides.s, as rustup's compilers and as Debian's. */
static struct elf_image *keyed;
static struct cold_sides sides, keyed_sides;

static int find(struct elf_image *image, struct cold_sides *out)
{
	return cold_sides__find(image, globals_of(image), out);
}

static int setup(void **state)
{
	if (image_setup(state) || image_of(fixture("cold_sides_keyed.so"), &keyed))
		return -1;
	return find(img, &sides) ?: find(keyed, &keyed_sides);
}

static int teardown(void **state)
{
	cold_sides__destroy(&sides);
	cold_sides__destroy(&keyed_sides);
	elf_image__free(keyed);
	return image_teardown(state);
}

static const struct wire_source *source_in(struct elf_image *image, const struct cold_sides *in,
					   const char *name)
{
	const struct cold_side *side = cold_sides__at(in, symbol(image, name)->addr);

	assert_non_null(side);
	return &side->source;
}

static const struct wire_source *source_of(const char *name)
{
	return source_in(img, &sides, name);
}

static void assert_place(const struct wire_place *got, uint8_t reg, uint8_t size, uint8_t n,
			 const int at[])
{
	assert_int_equal(got->reg, reg);
	assert_int_equal(got->size, size);
	assert_int_equal(got->n, n);
	for (uint8_t i = 0; i < n; i++)
		assert_int_equal(got->at[i], at[i]);
}

#define AT(...) ((const int[]){__VA_ARGS__})

TEST_CASE(a_text_is_what_is_interned_after_the_label)
{
	const struct wire_source *s = source_of("cold_string");

	assert_int_equal(s->text, WIRE_ARGUMENT_STRING);
	assert_int_equal(s->value, WIRE_VALUE_NONE);
	assert_place(&s->string, WIRE_REG_DX, 8, 1, AT(8));
	assert_place(&s->length, WIRE_REG_DX, 8, 1, AT(0x10));
}

static void assert_unit(const struct wire_source *s)
{
	assert_int_equal(s->text, WIRE_ARGUMENT_SYMBOL);
	assert_place(&s->string, WIRE_REG_CX, 4, 2, AT(0, 0));
	assert_int_equal(s->value, WIRE_VALUE_NUMBER);
	assert_place(&s->number, WIRE_REG_CX, 8, 2, AT(8, 0x38));
}

TEST_CASE(a_symbol_and_a_number_are_what_is_printed)
{
	assert_unit(source_of("cold_unit"));
	assert_unit(source_in(keyed, &keyed_sides, "cold_unit"));
}

TEST_CASE(an_expansion_is_what_is_described)
{
	const struct wire_source *s = source_of("cold_macro");

	assert_int_equal(s->text, WIRE_ARGUMENT_EXPANSION);
	assert_place(&s->string, WIRE_REG_CX, 4, 2, AT(0, 0xcc));
	assert_int_equal(s->value, WIRE_VALUE_SPAN);
	assert_place(&s->number, WIRE_REG_CX, 8, 2, AT(8, 0));
}

/* Its place in the source is a part of what was looked up. */
TEST_CASE(an_expansion_that_is_looked_up_has_the_place_of_its_call)
{
	const struct wire_source *s = source_of("cold_derive");

	assert_int_equal(s->text, WIRE_ARGUMENT_EXPANSION);
	assert_place(&s->string, WIRE_REG_CX, 4, 2, AT(0, 0));
	assert_int_equal(s->value, WIRE_VALUE_CALL);
	assert_int_equal(sides.expansions.call, 0x20);
}

/* Functions may be given what has the number, or the address of it. */
TEST_CASE(an_expansion_may_be_passed_in_other_ways)
{
	const struct wire_source *s = source_in(keyed, &keyed_sides, "cold_macro");

	assert_int_equal(s->text, WIRE_ARGUMENT_EXPANSION);
	assert_place(&s->string, WIRE_REG_CX, 4, 2, AT(0, 0xcc));
	assert_int_equal(s->value, WIRE_VALUE_SPAN);
	s = source_in(keyed, &keyed_sides, "cold_derive");
	assert_int_equal(s->text, WIRE_ARGUMENT_EXPANSION);
	assert_place(&s->string, WIRE_REG_CX, 4, 2, AT(0, 0));
	assert_int_equal(s->value, WIRE_VALUE_CALL);
	assert_null(keyed_sides.problem);
	assert_int_equal(keyed_sides.expansions.kind, 0x18);
	assert_memory_equal(&keyed_sides.calls, &sides.calls, sizeof(sides.calls));
}

TEST_CASE(without_globals_macros_are_unknown)
{
	struct cold_sides none;

	assert_int_equal(cold_sides__find(img, 0, &none), 0);
	assert_string_equal(none.problem, "where the session's globals are is unknown");
	assert_string_equal(none.calls_problem, none.problem);
	assert_int_equal(none.expansions.size, 0);
	assert_int_equal(none.calls.context_size, 0);
	cold_sides__destroy(&none);
}

static void assert_quoted(const struct wire_source *s)
{
	assert_int_equal(s->text, WIRE_ARGUMENT_C_STRING);
	assert_place(&s->string, WIRE_REG_CX, 8, 2, AT(0, 0));
	assert_place(&s->length, WIRE_REG_CX, 8, 2, AT(0, 8));
}

TEST_CASE(a_string_in_quotes_is_what_is_formatted)
{
	assert_quoted(source_of("cold_quoted"));
	assert_quoted(source_in(keyed, &keyed_sides, "cold_quoted"));
}

TEST_CASE(what_is_not_understood_has_no_text)
{
	assert_int_equal(source_of("cold_other")->text, WIRE_ARGUMENT_NONE);
	assert_null(cold_sides__at(&sides, symbol(img, "cold_plain")->addr));
	assert_null(cold_sides__at(&sides, symbol(img, "outside")->addr));
}

TEST_CASE(the_kind_of_an_expansion_lies_where_it_is_passed_on)
{
	assert_null(sides.problem);
	assert_int_equal(sides.expansions.kind, 0x18);
	assert_null(sides.calls_problem);
	assert_int_equal(sides.calls.contexts, 0x120);
	assert_int_equal(sides.calls.kind, 0x18);
}

/* ---- Arguments of guards --------------------------------------------------------------------- */

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

TEST_CASE(what_was_captured_before_the_branch_is_on_the_stack)
{
	struct wire_source s = source_at("kept");

	assert_int_equal(s.text, WIRE_ARGUMENT_STRING);
	assert_int_equal(s.site, 0x1234);
	assert_place(&s.string, WIRE_PLACE_SP, 8, 1, AT(0x38));
	assert_place(&s.length, WIRE_PLACE_SP, 8, 1, AT(0x40));
}

TEST_CASE(what_is_captured_behind_it_is_where_it_comes_from)
{
	struct wire_source s = source_at("moved");

	assert_int_equal(s.text, WIRE_ARGUMENT_STRING);
	assert_place(&s.string, WIRE_REG_BX, 8, 0, AT(0));
	assert_place(&s.length, WIRE_REG_BP, 8, 2, AT(0x18, 0x20));
}

TEST_CASE(ways_must_agree)
{
	assert_int_equal(source_at("joined").text, WIRE_ARGUMENT_STRING);
	assert_int_equal(source_at("split").text, WIRE_ARGUMENT_NONE);
}

TEST_CASE(what_may_have_changed_is_not_known)
{
	assert_int_equal(source_at("changed").text, WIRE_ARGUMENT_NONE);
	assert_int_equal(source_at("written").text, WIRE_ARGUMENT_NONE);
}

TEST_CASE(what_is_at_no_place_is_not_known)
{
	assert_int_equal(source_at("constant").text, WIRE_ARGUMENT_NONE);
	assert_int_equal(source_at("never").text, WIRE_ARGUMENT_NONE);
}

TEST_MAIN(setup, teardown)
