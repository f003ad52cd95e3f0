// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/outlined.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"
#include "base/array.h"

static const char *const names[] = {"shared", "plain", "first", "second"};
enum body { SHARED, PLAIN, FIRST, SECOND, BODIES };

/* The assembled tests/fixtures/outlined.s; two queries, of which one has a body for each mode. */
static struct elf_image *img;
static struct code_decoder *decoder;
static struct plan_body bodies[BODIES];
static struct plan_query queries[] = {
	{.body_non_incr = PLAIN, .body_incr = FIRST},
	{.body_non_incr = SECOND, .body_incr = SECOND},
};
static struct plan plan = {
	.bodies = bodies,
	.n_bodies = BODIES,
	.queries = queries,
	.n_queries = N_OF(queries),
};

static int setup(void **state)
{
	if (fixture_dir_setup(state) || image_of(fixture("outlined.so"), &img) ||
	    code_decoder__new(img, &decoder))
		return -1;
	for (uint32_t i = 0; i < BODIES; i++)
		bodies[i].addr = symbol(img, names[i])->addr;
	for (uint32_t i = 1; i < BODIES; i++)
		assert_true(bodies[i].addr > bodies[i - 1].addr);
	bodies[PLAIN].n_queries = bodies[FIRST].n_queries = 1;
	bodies[SECOND].n_queries = 2;
	return outlined_find(img, decoder, &plan);
}

static int teardown(void **state)
{
	code_decoder__free(decoder);
	elf_image__free(img);
	return fixture_dir_teardown(state);
}

static void a_body_that_no_wrapper_calls_is_tied_to_its_callers(void **state)
{
	assert_int_equal(plan__outlined(&plan, FIRST), SHARED);
	assert_int_equal(plan__outlined(&plan, SECOND), SHARED);
	assert_int_equal(bodies[SHARED].n_queries, 2);
}

static void a_body_with_queries_is_not(void **state)
{
	assert_int_equal(plan__outlined(&plan, PLAIN), PLAN_NONE);
	assert_int_equal(plan__outlined(&plan, SHARED), PLAN_NONE);
	assert_int_equal(plan__outlined(&plan, PLAN_NONE), PLAN_NONE);
	assert_int_equal(bodies[PLAIN].n_queries, 1);
}

static void its_queries_are_those_of_its_callers(void **state)
{
	assert_true(plan__serves(&plan, &queries[0], SHARED));
	assert_true(plan__serves(&plan, &queries[1], SHARED));
	assert_true(plan__serves(&plan, &queries[0], PLAIN));
	assert_false(plan__serves(&plan, &queries[1], PLAIN));
	assert_false(plan__serves(&plan, &queries[1], PLAN_NONE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_body_that_no_wrapper_calls_is_tied_to_its_callers),
		cmocka_unit_test(a_body_with_queries_is_not),
		cmocka_unit_test(its_queries_are_those_of_its_callers),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
