// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/expansions.h"

#include "test.h"
#define LIBRARY "cold_sides.so"
#include "../fixtures/image.h"
#include "../fixtures/session_globals.h"

/* The assembled tests/fixtures/cold_sides.s, as rustup's compilers and as Debian's. */
static struct elf_image *keyed;
static struct callees callees, keyed_callees;

static int setup(void **state)
{
	if (image_setup(state) || image_of(fixture("cold_sides_keyed.so"), &keyed))
		return -1;
	return callees__find(img, &callees) ?: callees__find(keyed, &keyed_callees);
}

static int teardown(void **state)
{
	callees__destroy(&callees);
	callees__destroy(&keyed_callees);
	elf_image__free(keyed);
	return image_teardown(state);
}

static void assert_found(struct elf_image *image, const struct callees *c)
{
	const uint64_t globals = globals_of(image);
	const struct hygiene expected = {
		.globals = globals,
		.self = 0xe8,
		.expansions = 0xf0,
		.n_expansions = 0xf8,
		.expansion_size = 80,
		.call = 0x20,
		.contexts = 0x120,
		.n_contexts = 0x128,
		.context_size = 28,
		.crate = 0,
		.number = 4,
	};
	struct hygiene h = {0};
	const char *problem;

	assert_int_equal(hygiene__find(image, c, globals, &h, &problem), 0);
	assert_null(problem);
	assert_memory_equal(&h, &expected, sizeof(h));
}

static void tables_are_found(void **state)
{
	assert_found(img, &callees);
}

static void tables_are_found_by_the_key_of_the_globals(void **state)
{
	assert_found(keyed, &keyed_callees);
}

static const char *problem_of(const struct callees *c, uint64_t globals)
{
	struct hygiene h = {.call = 7};
	const char *problem;

	assert_int_equal(hygiene__find(img, c, globals, &h, &problem), 0);
	assert_int_equal(h.call, 7);
	return problem;
}

static void other_globals_are_not_taken(void **state)
{
	assert_string_equal(problem_of(&callees, globals_of(img) + 8),
			    "hygiene::walk_chain looks up no expansion of a context");
	assert_string_equal(problem_of(&callees, 0), "where the session's globals are is unknown");
}

/* As if functions of one kind had no name, or another function had theirs. */
static const char *problem_without(enum callee kind, const char *instead)
{
	const uint64_t globals = globals_of(img);
	struct callees other = {.n = callees.n};
	const char *problem;

	other.functions = calloc(other.n, sizeof(*other.functions));
	assert_non_null(other.functions);
	memcpy(other.functions, callees.functions, other.n * sizeof(*other.functions));
	for (uint32_t i = 0; i < other.n; i++)
		if (other.functions[i].kind == kind)
			other.functions[i].kind = CALLEE_NONE;
		else if (instead && other.functions[i].addr == symbol(img, instead)->addr)
			other.functions[i].kind = kind;
	problem = problem_of(&other, globals);
	free(other.functions);
	return problem;
}

static void without_a_function_the_problem_names_it(void **state)
{
	assert_string_equal(problem_without(CALLEE_EXPANSION_OF, NULL),
			    "there is no HygieneData::expn_data");
	assert_string_equal(problem_without(CALLEE_WALK_CHAIN, NULL),
			    "there is no hygiene::walk_chain");
	assert_string_equal(
		problem_without(CALLEE_EXPANSION_OF, "cold_string"),
		"HygieneData::expn_data compares no crate with the one that is compiled");
	assert_string_equal(problem_without(CALLEE_WALK_CHAIN, "cold_string"),
			    "hygiene::walk_chain looks up no expansion of a context");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_found),
		cmocka_unit_test(tables_are_found_by_the_key_of_the_globals),
		cmocka_unit_test(other_globals_are_not_taken),
		cmocka_unit_test(without_a_function_the_problem_names_it),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
