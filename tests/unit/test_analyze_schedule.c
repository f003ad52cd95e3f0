// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/schedule.h"

#include "test.h"
#include "../fixtures/path_build.h"

static void assert_schedule(const struct compile_graph *g, uint32_t jobs,
			    const struct schedule_without *without, uint64_t ms)
{
	uint64_t ns;

	assert_int_equal(schedule_ns(g, jobs, without, &ns), 0);
	assert_int_equal(ns, ms * PATH_MS);
}

static void a_chain_is_as_long_as_its_needs(void **state)
{
	_path_build_ struct path_build b;
	_compile_graph_ struct compile_graph g;

	path_build__make(&b, path_chain, N_OF(path_chain));
	assert_int_equal(compile_graph__of(&g, b.build), 0);
	assert_int_equal(schedule_jobs(&g), 2);
	/* a and then app, without the 3 ms between them. */
	assert_schedule(&g, 2, NULL, 900 + 97);
	assert_schedule(&g, SCHEDULE_ALL_JOBS, NULL, 900 + 97);
	assert_schedule(&g, 1, NULL, 100 + 900 + 398 + 97);
}

static void a_part_may_take_no_time(void **state)
{
	_path_build_ struct path_build b;
	_compile_graph_ struct compile_graph g;

	path_build__make(&b, path_chain, N_OF(path_chain));
	assert_int_equal(compile_graph__of(&g, b.build), 0);
	/* Codegen of a: then b is the last that app waits for. */
	assert_schedule(&g, 2,
			&(struct schedule_without){
				.node = 1, .from_ns = 200 * PATH_MS, .to_ns = 880 * PATH_MS},
			200 + 398 + 97);
	/* Its front end: all of it comes earlier, its metadata too. */
	assert_schedule(&g, 2, &(struct schedule_without){.node = 1, .to_ns = 200 * PATH_MS},
			700 + 97);
	/* m is not waited for. */
	assert_schedule(&g, 2, &(struct schedule_without){.node = 0, .to_ns = 100 * PATH_MS},
			900 + 97);
}

static void a_run_takes_no_job(void **state)
{
	static const struct path_compile of[] = {
		{"build_script_build", "bin", "/r/a/build.rs", 0, 10, 20, 30, 0},
		{"x", "lib", LIB("x1", ""), 30, 40, 50, 70, 0},
		{"a", "lib", "/r/a/src/lib.rs", 80, 90, 95, 100, 0},
	};
	_path_build_ struct path_build b;
	_compile_graph_ struct compile_graph g;

	path_build__make(&b, of, N_OF(of));
	assert_int_equal(compile_graph__of(&g, b.build), 0);
	assert_schedule(&g, 1, NULL, 30 + 50 + 20);
	assert_schedule(&g, 1, &(struct schedule_without){.node = 0, .run = true}, 30 + 40 + 20);
}

static void a_stage_waits_for_the_one_before(void **state)
{
	static const struct path_compile of[] = {
		{"a", "lib", LIB("a1", ""), 0, 10, 20, 20, 7},
		{"b", "lib", LIB("b1", ""), 5, 40, 50, 50, 7},
		{"c", "lib", LIB("c1", ""), 60, 70, 80, 80, 8},
	};
	_path_build_ struct path_build b;
	_compile_graph_ struct compile_graph g;

	path_build__make(&b, of, N_OF(of));
	assert_int_equal(compile_graph__of(&g, b.build), 0);
	assert_schedule(&g, SCHEDULE_ALL_JOBS, NULL, 45 + 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chain_is_as_long_as_its_needs),
		cmocka_unit_test(a_part_may_take_no_time),
		cmocka_unit_test(a_run_takes_no_job),
		cmocka_unit_test(a_stage_waits_for_the_one_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
