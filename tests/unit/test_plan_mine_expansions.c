// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/expansions.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/symbols.h"
#include "../fixtures/library.h"

/* The assembled tests/fixtures/cold_sides.s. */
static struct elf_image *img;
static struct callees callees;

static int setup(void **state)
{
	if (fixture_dir_setup(state) || image_of(fixture("cold_sides.so"), &img))
		return -1;
	return callees__find(img, &callees);
}

static int teardown(void **state)
{
	callees__destroy(&callees);
	elf_image__free(img);
	return fixture_dir_teardown(state);
}

static void the_table_and_the_macros_are_found(void **state)
{
	struct wire_expansions x = {0};
	const char *problem;

	assert_int_equal(expansions_mine(img, &callees, 0x18, &x, &problem), 0);
	assert_null(problem);
	assert_int_equal(x.table, 0xf0);
	assert_int_equal(x.count, 0xf8);
	assert_int_equal(x.size, 80);
	assert_int_equal(x.kind, 0x18);
	assert_int_equal(x.tag, 1);
	assert_int_equal(x.macro, 1);
	assert_int_equal(x.symbol, 4);
	assert_int_equal(x.macros[0], WIRE_MACRO_BANG);
	assert_int_equal(x.macros[1], WIRE_MACRO_ATTRIBUTE);
	assert_int_equal(x.macros[2], WIRE_MACRO_DERIVE);
}

/* As if functions of one kind were of another. */
static const char *problem_with(enum callee kind, enum callee as)
{
	struct callees other = {.n_functions = callees.n_functions};
	struct wire_expansions x = {.size = 7};
	const char *problem;

	other.functions = calloc(other.n_functions, sizeof(*other.functions));
	assert_non_null(other.functions);
	memcpy(other.functions, callees.functions, other.n_functions * sizeof(*other.functions));
	other.pointers = callees.pointers;
	other.n_pointers = callees.n_pointers;
	for (uint32_t i = 0; i < other.n_functions; i++)
		if (other.functions[i].kind == kind)
			other.functions[i].kind = as;
	assert_int_equal(expansions_mine(img, &other, 0x18, &x, &problem), 0);
	assert_int_equal(x.size, 7);
	free(other.functions);
	return problem;
}

static void without_a_function_the_problem_names_it(void **state)
{
	assert_string_equal(problem_with(CALLEE_EXPANSION, CALLEE_NONE),
			    "there is no LocalExpnId::expn_data");
	assert_string_equal(problem_with(CALLEE_EXPANSION_KIND, CALLEE_NONE),
			    "there is no ExpnKind::descr");
	assert_string_equal(problem_with(CALLEE_GLOBALS, CALLEE_NONE),
			    "LocalExpnId::expn_data copies no entry of a table");
	assert_string_equal(problem_with(CALLEE_FORMAT, CALLEE_NONE),
			    "ExpnKind::descr prints no macro in a known way");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_and_the_macros_are_found),
		cmocka_unit_test(without_a_function_the_problem_names_it),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
