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

static void the_calls_of_macros_are_found(void **state)
{
	const struct wire_expansions x = {
		.table = 0xf0, .count = 0xf8, .size = 80, .kind = 0x18, .call = 0x20, .tag = 1};
	const struct wire_layout_calls expected = {.contexts = 0x120,
						   .n_contexts = 0x128,
						   .context_size = 28,
						   .number = 4,
						   .expansions = 0xf0,
						   .n_expansions = 0xf8,
						   .expansion_size = 80,
						   .call = 0x20,
						   .kind = 0x18,
						   .tag = 1};
	struct wire_expansions unknown = x;
	struct wire_layout_calls l = {0};
	const char *problem;

	assert_int_equal(expansions_mine_calls(img, &callees, &x, &l, &problem), 0);
	assert_null(problem);
	assert_memory_equal(&l, &expected, sizeof(l));
	l = (struct wire_layout_calls){0};
	unknown.call = 0;
	assert_int_equal(expansions_mine_calls(img, &callees, &unknown, &l, &problem), 0);
	assert_string_equal(problem, "where expansions have their calls is unknown");
	unknown.call = 73;
	assert_int_equal(expansions_mine_calls(img, &callees, &unknown, &l, &problem), 0);
	assert_string_equal(problem, "contexts or expansions with a field behind their end");
	assert_int_equal(l.context_size, 0);
}

/* As if functions of one kind were of another. */
static void change(struct callees *other, enum callee kind, enum callee as)
{
	*other = (struct callees){.n = callees.n};
	other->functions = calloc(other->n, sizeof(*other->functions));
	assert_non_null(other->functions);
	memcpy(other->functions, callees.functions, other->n * sizeof(*other->functions));
	for (uint32_t i = 0; i < other->n; i++)
		if (other->functions[i].kind == kind)
			other->functions[i].kind = as;
}

static const char *calls_problem_with(enum callee kind, enum callee as)
{
	const struct wire_expansions x = {.size = 80, .call = 0x20};
	struct wire_layout_calls l = {.context_size = 7};
	struct callees other;
	const char *problem;

	change(&other, kind, as);
	assert_int_equal(expansions_mine_calls(img, &other, &x, &l, &problem), 0);
	assert_int_equal(l.context_size, 7);
	free(other.functions);
	return problem;
}

static void without_a_function_calls_are_unknown(void **state)
{
	assert_string_equal(calls_problem_with(CALLEE_EXPANSION_OF, CALLEE_NONE),
			    "there is no HygieneData::expn_data");
	assert_string_equal(calls_problem_with(CALLEE_CONTEXT, CALLEE_NONE),
			    "there is no SyntaxContext::outer_expn");
	assert_string_equal(calls_problem_with(CALLEE_GLOBALS, CALLEE_NONE),
			    "SyntaxContext::outer_expn returns no part of an entry of a table");
}

static const char *problem_with(enum callee kind, enum callee as)
{
	struct wire_expansions x = {.size = 7};
	struct callees other;
	const char *problem;

	change(&other, kind, as);
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
		cmocka_unit_test(the_calls_of_macros_are_found),
		cmocka_unit_test(without_a_function_calls_are_unknown),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
