// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/modes.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"

static const char *const names[] = {"plain", "loads", "hashes"};
enum body { PLAIN, LOADS, HASHES, BODIES };

/* The assembled tests/fixtures/modes.s. */
static struct elf_image *img;
static struct known_symbols known;
static struct plan_body bodies[BODIES];
static struct plan_query query;
static struct plan plan = {
	.bodies = bodies,
	.n_bodies = BODIES,
	.queries = &query,
	.n_queries = 1,
};

static int setup(void **state)
{
	if (fixture_dir_setup(state) || image_of(fixture("modes.so"), &img) ||
	    known_symbols__find(img, &known))
		return -1;
	for (uint32_t i = 0; i < BODIES; i++)
		bodies[i] = (struct plan_body){.addr = symbol(img, names[i])->addr};
	return 0;
}

static int teardown(void **state)
{
	known_symbols__destroy(&known);
	elf_image__free(img);
	return fixture_dir_teardown(state);
}

static void assert_modes(uint32_t non_incr, uint32_t incr, bool right)
{
	const char *problem = "";

	query.body_non_incr = non_incr;
	query.body_incr = incr;
	assert_int_equal(modes__check(img, &known, &plan, &problem), 0);
	if (right)
		assert_null(problem);
	else
		assert_non_null(strstr(problem, "load or hash"));
}

static void bodies_that_load_or_hash_are_incremental(void **state)
{
	assert_modes(PLAIN, LOADS, true);
	assert_modes(PLAIN, HASHES, true);
	assert_modes(PLAN_NONE, HASHES, true);
}

static void one_wrapper_s_body_serves_both(void **state)
{
	query.wrapper_non_incr = query.wrapper_incr = 0x1000;
	assert_modes(LOADS, LOADS, true);
	query.wrapper_non_incr = 0x2000;
	assert_modes(LOADS, LOADS, false);
	query.wrapper_non_incr = query.wrapper_incr = 0;
}

static void swapped_modes_are_refused(void **state)
{
	assert_modes(LOADS, PLAIN, false);
	assert_modes(HASHES, PLAIN, false);
	assert_modes(HASHES, LOADS, false);
}

static void one_that_does_is_needed(void **state)
{
	assert_modes(PLAIN, PLAIN, false);
	assert_modes(PLAIN, PLAN_NONE, false);
}

static void it_may_be_what_the_body_calls(void **state)
{
	bodies[PLAIN].outlined = LOADS + 1;
	assert_modes(PLAN_NONE, PLAIN, true);
	assert_modes(PLAIN, HASHES, false);
	bodies[PLAIN].outlined = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bodies_that_load_or_hash_are_incremental),
		cmocka_unit_test(one_wrapper_s_body_serves_both),
		cmocka_unit_test(swapped_modes_are_refused),
		cmocka_unit_test(one_that_does_is_needed),
		cmocka_unit_test(it_may_be_what_the_body_calls),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
