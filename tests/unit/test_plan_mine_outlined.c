// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/between.h"

#include "test.h"
#define LIBRARY "outlined.so"
#include "../fixtures/image.h"
#include "base/array.h"

static const char *const names[] = {"shared", "plain",	"one",	   "two",  "public",
				    "first",  "second", "several", "also", "forces"};
enum body { SHARED, PLAIN, ONE, TWO, PUBLIC, FIRST, SECOND, SEVERAL, ALSO, FORCES, BODIES };

/* The assembled tests/fixtures/outlined.s; the first query has a body for each mode. */
static struct plan_body bodies[BODIES];
static struct mined_body mined[BODIES];
static struct plan_query queries[] = {
	{.body_non_incr = PLAIN, .body_incr = FIRST},
	{.body_non_incr = SECOND, .body_incr = SECOND},
	{.body_non_incr = SEVERAL, .body_incr = SEVERAL},
	{.body_non_incr = ALSO, .body_incr = ALSO},
	{.body_non_incr = FORCES, .body_incr = FORCES},
};
static struct plan plan = {
	.bodies = bodies,
	.n_bodies = BODIES,
	.queries = queries,
	.n_queries = N_OF(queries),
};

static int setup(void **state)
{
	if (image_setup(state))
		return -1;
	for (uint32_t i = 0; i < BODIES; i++) {
		bodies[i].addr = symbol(img, names[i])->addr;
		mined[i].masks_exact = true;
	}
	for (uint32_t i = 1; i < BODIES; i++)
		assert_true(bodies[i].addr > bodies[i - 1].addr);
	bodies[PLAIN].n_queries = bodies[FIRST].n_queries = 1;
	bodies[SECOND].n_queries = 2;
	bodies[SEVERAL].n_queries = bodies[ALSO].n_queries = bodies[FORCES].n_queries = 1;
	return outlined_find(img, decoder, &plan, mined);
}

static int teardown(void **state)
{
	for (uint32_t i = 0; i < BODIES; i++)
		free(bodies[i].problem);
	return image_teardown(state);
}

TEST_CASE(a_body_that_no_wrapper_calls_is_tied_to_its_callers)
{
	assert_int_equal(plan__outlined(&plan, FIRST), SHARED);
	assert_int_equal(plan__outlined(&plan, SECOND), SHARED);
	assert_int_equal(bodies[SHARED].n_queries, 2);
}

TEST_CASE(a_body_with_queries_is_not)
{
	assert_int_equal(plan__outlined(&plan, PLAIN), PLAN_NONE);
	assert_int_equal(plan__outlined(&plan, SHARED), PLAN_NONE);
	assert_int_equal(plan__outlined(&plan, PLAN_NONE), PLAN_NONE);
	assert_int_equal(bodies[PLAIN].n_queries, 1);
}

TEST_CASE(its_queries_are_those_of_its_callers)
{
	assert_true(plan__serves(&plan, &queries[0], SHARED));
	assert_true(plan__serves(&plan, &queries[1], SHARED));
	assert_true(plan__serves(&plan, &queries[0], PLAIN));
	assert_false(plan__serves(&plan, &queries[1], PLAIN));
	assert_false(plan__serves(&plan, &queries[1], PLAN_NONE));
}

static void assert_problem(enum body body, const char *problem)
{
	assert_int_equal(plan__outlined(&plan, body), PLAN_NONE);
	assert_false(mined[body].masks_exact);
	assert_non_null(strstr(mined[body].problem, problem));
	assert_string_equal(bodies[body].problem, mined[body].problem);
}

TEST_CASE(of_several_none_is_taken)
{
	assert_problem(SEVERAL, "several functions");
	assert_problem(ALSO, "for others");
	assert_int_equal(bodies[ONE].n_queries, 0);
	assert_int_equal(bodies[TWO].n_queries, 0);
}

TEST_CASE(a_body_that_others_call_is_another_query_s)
{
	assert_problem(FORCES, "for others");
	assert_int_equal(bodies[PUBLIC].n_queries, 0);
}

TEST_CASE(others_are_as_they_were)
{
	for (enum body body = SHARED; body < SEVERAL; body++) {
		assert_true(mined[body].masks_exact);
		assert_null(mined[body].problem);
		assert_null(bodies[body].problem);
	}
}

TEST_MAIN(setup, teardown)
