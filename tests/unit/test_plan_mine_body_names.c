// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/key_types.h"

#include "test.h"
#define LIBRARY "body_names.so"
#include "../fixtures/image.h"
#include "base/array.h"

enum body {
	PLAIN,
	DIRECT,
	SPLIT,
	THROUGH,
	FAR,
	BOTH,
	NO_QUERY,
	SHARED,
	OUTLINING,
	OWN,
	GUARDED,
	CONFIRMED,
	CONTRADICTED,
	BODIES
};

static const char *const names[] = {"plain",	   "direct",
				    "split",	   "through",
				    "far",	   "both",
				    "no_query",	   "shared",
				    "outlining",   "_RINvNtCsfhTr2ijyTAe_16rustc_query_impl",
				    "guarded",	   "confirmed",
				    "contradicted"};

/* The assembled tests/fixtures/body_names.s. */
static struct known_symbols known;
static struct body_name *found;
static struct plan_body bodies[BODIES];
static struct plan_query queries[] = {
	{.body_non_incr = PLAIN, .body_incr = DIRECT},
	{.body_non_incr = PLAN_NONE, .body_incr = OUTLINING},
	{.body_non_incr = OWN, .body_incr = SPLIT},
};
static struct plan plan = {
	.bodies = bodies,
	.n_bodies = BODIES,
	.queries = queries,
	.n_queries = N_OF(queries),
};

static uint64_t address(const char *name)
{
	const struct elf_symbol *syms;
	size_t n;

	assert_int_equal(elf_image__symbols(img, &syms, &n), 0);
	for (size_t i = 0; i < n; i++)
		if (!strncmp(syms[i].name, name, strlen(name)))
			return syms[i].addr;
	fail_msg("no symbol %s", name);
	return 0;
}

static int setup(void **state)
{
	if (image_setup(state) || known_symbols__find(img, &known))
		return -1;
	for (uint32_t i = 0; i < BODIES; i++)
		bodies[i].addr = address(names[i]);
	for (uint32_t i = 1; i < BODIES; i++)
		assert_true(bodies[i].addr > bodies[i - 1].addr);
	bodies[OUTLINING].outlined = SHARED + 1;
	return body_names__find(img, &known, decoder, &plan, &found);
}

static int teardown(void **state)
{
	free(found);
	known_symbols__destroy(&known);
	return image_teardown(state);
}

static void assert_body(enum body body, const char *type, uint32_t size)
{
	assert_true(found[body].any);
	assert_string_equal(found[body].name.type, type);
	assert_true(found[body].name.has_size);
	assert_int_equal(found[body].name.size, size);
}

TEST_CASE(a_body_calls_a_function_of_its_types)
{
	assert_body(DIRECT, "DefId", 8);
	assert_body(SPLIT, "LocalDefId", 4);
	assert_int_equal(found[DIRECT].name.key, WIRE_KEY_DEF);
}

TEST_CASE(two_functions_may_be_between)
{
	assert_body(THROUGH, "LocalDefId", 4);
	assert_false(found[FAR].any);
}

TEST_CASE(what_executes_for_a_body_has_its_types)
{
	assert_body(SHARED, "DefId", 8);
	assert_body(OUTLINING, "DefId", 8);
}

TEST_CASE(both_bodies_of_a_query_have_one_cache)
{
	assert_body(PLAIN, "DefId", 8);
}

TEST_CASE(own_names_show_more)
{
	assert_body(OWN, "()", 8);
	assert_false(found[OWN].borrowed);
}

TEST_CASE(tasks_of_two_types_show_none)
{
	assert_true(found[BOTH].any);
	assert_string_equal(found[BOTH].name.type, "");
	assert_int_equal(found[BOTH].name.key, WIRE_KEY_UNKNOWN);
	assert_false(found[BOTH].name.has_size);
}

TEST_CASE(tasks_of_no_query_show_none)
{
	assert_false(found[NO_QUERY].any);
}

TEST_CASE(a_guard_has_the_type_alone)
{
	assert_true(found[GUARDED].any);
	assert_string_equal(found[GUARDED].name.type, "DefId");
	assert_int_equal(found[GUARDED].name.key, WIRE_KEY_DEF);
	assert_false(found[GUARDED].name.has_size);
	assert_body(CONFIRMED, "DefId", 8);
}

TEST_CASE(a_guard_of_another_type_leaves_it_unknown)
{
	assert_string_equal(found[CONTRADICTED].name.type, "");
	assert_int_equal(found[CONTRADICTED].name.key, WIRE_KEY_UNKNOWN);
	assert_false(found[CONTRADICTED].name.has_size);
}

TEST_MAIN(setup, teardown)
