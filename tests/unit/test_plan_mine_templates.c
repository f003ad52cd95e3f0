// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/expansions.h"

#include "test.h"
#define LIBRARY "cold_sides.so"
#include "../fixtures/image.h"
#include "../fixtures/session_globals.h"

/* The assembled tests/fixtures/cold_sides.s, as rustup's compilers and as Debian's. */
static struct elf_image *keyed;

static int setup(void **state)
{
	return image_setup(state) || image_of(fixture("cold_sides_keyed.so"), &keyed);
}

static int teardown(void **state)
{
	elf_image__free(keyed);
	return image_teardown(state);
}

/* The first template that `function` formats with; of ExpnKind::descr, of a kind of macro. */
static bool first_of(struct elf_image *image, const char *function, uint64_t macro,
		     struct template *out)
{
	const struct elf_symbol *sym = symbol(image, function);
	const struct code_region region = {sym->addr, sym->size};
	const struct eval_given given[] = {{WIRE_REG_SI, 1, 0, 1}, {WIRE_REG_SI, 1, 1, macro}};
	const struct eval_function f = {.img = image,
					.entry = sym->addr,
					.regions = &region,
					.n_regions = 1,
					.given = given,
					.n_given = 2};
	_free_ struct eval *e = NULL;

	assert_int_equal(eval__run(&f, &e), 0);
	for (uint32_t i = 0; i < e->n_calls; i++)
		if (e->calls[i].target == symbol(image, "format")->addr)
			return template__of(image, &e->calls[i], out);
	return false;
}

static void assert_texts(struct elf_image *image)
{
	struct template t;

	assert_true(first_of(image, "kind", 0, &t));
	assert_true(template__holds(&t, "!"));
	assert_false(template__holds(&t, "#["));
	assert_false(t.is_bare);
	assert_true(first_of(image, "kind", 1, &t));
	assert_true(template__holds(&t, "#["));
	assert_false(template__holds(&t, "#[derive("));
	assert_true(first_of(image, "kind", 2, &t));
	assert_true(template__holds(&t, "#[derive("));
	assert_false(template__holds(&t, "#[derive(A"));
	assert_true(first_of(image, "cold_quoted", 0, &t));
	assert_true(t.is_bare);
	assert_false(template__holds(&t, "!"));
}

static void literals_are_read_from_codes(void **state)
{
	assert_texts(img);
}

static void literals_are_read_from_pieces(void **state)
{
	assert_texts(keyed);
}

static void nothing_is_read_elsewhere(void **state)
{
	struct eval_call call = {.second = sum_constant(1ull << 40)};
	struct template t;

	assert_false(template__of(img, &call, &t));
	call.second = sum_unknown;
	assert_false(template__of(img, &call, &t));
	call.pieces[0] = sum_constant(1ull << 40);
	call.pieces[1] = sum_constant(2);
	assert_false(template__of(img, &call, &t));
	/* No pieces, and more than there may be. */
	call.pieces[0] = sum_constant(key_of(keyed));
	call.pieces[1] = sum_constant(0);
	assert_false(template__of(keyed, &call, &t));
	call.pieces[1] = sum_constant(9);
	assert_false(template__of(keyed, &call, &t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(literals_are_read_from_codes),
		cmocka_unit_test(literals_are_read_from_pieces),
		cmocka_unit_test(nothing_is_read_elsewhere),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
