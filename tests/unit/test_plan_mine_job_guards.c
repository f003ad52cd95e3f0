// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/key_types.h"

#include "test.h"
#define LIBRARY "job_guards.so"
#include "../fixtures/image.h"

enum body {
	ONE,
	TWO,
	NOTHING,
	BOTH,
	MOST,
	NONE,
	SPLIT,
	DIRECT,
	THROUGH,
	CONTRADICTS,
	TWO_TABLES,
	BODIES
};

static const char *const names[] = {"one",     "two",	      "nothing",   "both",
				    "most",    "none",	      "split",	   "direct",
				    "through", "contradicts", "two_tables"};

/* The assembled tests/fixtures/job_guards.s. */
static struct known_symbols known;
static struct job_guard *found;
static struct plan_body bodies[BODIES];
static struct plan plan = {.bodies = bodies, .n_bodies = BODIES};

static int setup(void **state)
{
	if (image_setup(state) || known_symbols__find(img, &known))
		return -1;
	for (uint32_t i = 0; i < BODIES; i++)
		bodies[i].addr = symbol(img, names[i])->addr;
	for (uint32_t i = 1; i < BODIES; i++)
		if (bodies[i].addr <= bodies[i - 1].addr)
			return -1;
	return job_guards__find(img, &known, decoder, &plan, &found);
}

static int teardown(void **state)
{
	free(found);
	known_symbols__destroy(&known);
	return image_teardown(state);
}

TEST_CASE(a_body_drops_the_guard_of_its_keys)
{
	assert_int_equal(found[ONE].n, 1);
	assert_string_equal(found[ONE].types[0].type, "DefId");
	assert_int_equal(found[ONE].types[0].key, WIRE_KEY_DEF);
	assert_false(found[ONE].types[0].has_size);
	assert_true(job_guard__has(&found[NOTHING], "()"));
	assert_true(job_guard__has(&found[SPLIT], "DefId"));
}

TEST_CASE(folded_functions_have_several_types)
{
	assert_int_equal(found[TWO].n, 2);
	assert_true(job_guard__has(&found[TWO], "LocalDefId"));
	assert_true(job_guard__has(&found[TWO], "CrateNum"));
	assert_false(job_guard__has(&found[TWO], "DefId"));
}

TEST_CASE(other_bodies_have_no_known_type)
{
	assert_int_equal(found[BOTH].n, 0);
	assert_int_equal(found[MOST].n, 0);
	assert_int_equal(found[NONE].n, 0);
}

TEST_CASE(the_table_of_the_cache_leaves_some_types)
{
	for (enum body body = DIRECT; body <= THROUGH; body++) {
		assert_int_equal(found[body].n, 1);
		assert_string_equal(found[body].types[0].type, "LocalDefId");
	}
	assert_int_equal(found[CONTRADICTS].n, 0);
	/* Which is the cache's is not known. */
	assert_int_equal(found[TWO_TABLES].n, 2);
}

TEST_MAIN(setup, teardown)
