// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/expansions.h"

#include "test.h"
#define LIBRARY "cold_sides.so"
#include "../fixtures/image.h"
#include "../fixtures/session_globals.h"

/* The assembled tests/fixtures/cold_sides.s, as rustup's compilers and as Debian's. */
static struct elf_image *keyed;
static struct callees callees, keyed_callees;
static struct hygiene hygiene = {
	.self = 0xe8,
	.expansions = 0xf0,
	.n_expansions = 0xf8,
	.expansion_size = 80,
	.call = 0x20,
	.contexts = 0x120,
	.n_contexts = 0x128,
	.context_size = 28,
	.number = 4,
};
static const struct expansion_use use = {.kind = 0x18};

static int setup(void **state)
{
	if (image_setup(state) || image_of(fixture("cold_sides_keyed.so"), &keyed))
		return -1;
	hygiene.globals = globals_of(img);
	return callees__find(img, &callees) ?: callees__find(keyed, &keyed_callees);
}

static int teardown(void **state)
{
	callees__destroy(&callees);
	callees__destroy(&keyed_callees);
	elf_image__free(keyed);
	return image_teardown(state);
}

static void the_table_and_the_macros_are_found(void **state)
{
	struct wire_expansions x = {0};
	const char *problem;

	assert_int_equal(expansions_mine(img, &callees, &hygiene, &use, &x, &problem), 0);
	assert_null(problem);
	assert_int_equal(x.table, 0xf0);
	assert_int_equal(x.count, 0xf8);
	assert_int_equal(x.size, 80);
	assert_int_equal(x.kind, 0x18);
	assert_int_equal(x.call, 0x20);
	assert_int_equal(x.tag, 1);
	assert_int_equal(x.macro, 1);
	assert_int_equal(x.symbol, 4);
	assert_int_equal(x.macros[0], WIRE_MACRO_BANG);
	assert_int_equal(x.macros[1], WIRE_MACRO_ATTRIBUTE);
	assert_int_equal(x.macros[2], WIRE_MACRO_DERIVE);
}

static void the_globals_may_be_found_by_their_key(void **state)
{
	const struct expansion_use with_key = {.kind = 0x18, .key = key_of(keyed)};
	const struct expansion_use other = {.kind = 0x18, .key = key_of(keyed) + 8};
	struct hygiene h = hygiene;
	struct wire_expansions x = {0};
	const char *problem;

	h.globals = globals_of(keyed);
	assert_int_equal(expansions_mine(keyed, &keyed_callees, &h, &with_key, &x, &problem), 0);
	assert_null(problem);
	assert_int_equal(x.table, 0xf0);
	assert_int_equal(x.symbol, 4);
	assert_int_equal(expansions_mine(keyed, &keyed_callees, &h, &other, &x, &problem), 0);
	assert_string_equal(problem, "LocalExpnId::expn_data copies no entry of the table");
}

static void the_calls_of_macros_are_found(void **state)
{
	const struct wire_expansions x = {.kind = 0x18, .tag = 1};
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
	struct hygiene behind = hygiene;
	struct wire_layout_calls l = {0};

	assert_null(expansions_calls(&x, &hygiene, &l));
	assert_memory_equal(&l, &expected, sizeof(l));
	l = (struct wire_layout_calls){0};
	behind.call = 73;
	assert_string_equal(expansions_calls(&x, &behind, &l),
			    "contexts or expansions with a field behind their end");
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

static const char *problem_with(const struct hygiene *h, enum callee kind, enum callee as)
{
	struct wire_expansions x = {.size = 7};
	struct callees other;
	const char *problem;

	change(&other, kind, as);
	assert_int_equal(expansions_mine(img, &other, h, &use, &x, &problem), 0);
	assert_int_equal(x.size, 7);
	free(other.functions);
	return problem;
}

static void without_a_function_the_problem_names_it(void **state)
{
	assert_string_equal(problem_with(&hygiene, CALLEE_EXPANSION, CALLEE_NONE),
			    "there is no LocalExpnId::expn_data");
	assert_string_equal(problem_with(&hygiene, CALLEE_EXPANSION_KIND, CALLEE_NONE),
			    "there is no ExpnKind::descr");
	assert_string_equal(problem_with(&hygiene, CALLEE_FORMAT, CALLEE_NONE),
			    "ExpnKind::descr prints no macro in a known way");
}

static void another_table_is_not_taken(void **state)
{
	struct hygiene other = hygiene;

	other.expansions = 0xf8;
	assert_string_equal(problem_with(&other, CALLEE_NONE, CALLEE_NONE),
			    "LocalExpnId::expn_data copies no entry of the table");
	other = hygiene;
	other.globals = globals_of(img) + 8;
	assert_string_equal(problem_with(&other, CALLEE_NONE, CALLEE_NONE),
			    "LocalExpnId::expn_data copies no entry of the table");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_and_the_macros_are_found),
		cmocka_unit_test(without_a_function_the_problem_names_it),
		cmocka_unit_test(another_table_is_not_taken),
		cmocka_unit_test(the_globals_may_be_found_by_their_key),
		cmocka_unit_test(the_calls_of_macros_are_found),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
