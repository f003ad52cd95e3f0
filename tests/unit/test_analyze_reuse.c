// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/reuse.h"

#include "test.h"

enum { LOAD = TRACE_KIND_LOAD, QUERY = TRACE_KIND_QUERY };

/* An interval ends on thread `tid`. */
static int end(struct load_tracks *l, uint32_t tid, uint16_t depth, uint8_t kind, uint32_t label)
{
	const struct trace_span s = {.tid = tid, .depth = depth, .kind = kind, .label = label};

	return load_tracks__span(l, &s);
}

static void an_execution_right_after_its_load_found_nothing(void **state)
{
	struct load_tracks l = {0};

	assert_int_equal(end(&l, 1, 3, QUERY, 7), 0);
	assert_int_equal(end(&l, 1, 3, LOAD, 7), 0);
	/* Intervals inside the execution end before it. */
	assert_int_equal(end(&l, 1, 4, QUERY, 7), 0);
	assert_int_equal(end(&l, 1, 5, LOAD, 8), 0);
	assert_int_equal(end(&l, 1, 4, QUERY, 8), 0);
	assert_int_equal(end(&l, 1, 3, QUERY, 7), 1);
	/* A load belongs to one execution. */
	assert_int_equal(end(&l, 1, 3, QUERY, 7), 0);
	load_tracks__destroy(&l);
}

static void a_load_with_something_else_behind_it_found_something(void **state)
{
	struct load_tracks l = {0};

	assert_int_equal(end(&l, 1, 3, LOAD, 7), 0);
	assert_int_equal(end(&l, 1, 3, QUERY, 8), 0);
	assert_int_equal(end(&l, 1, 3, QUERY, 7), 0);
	assert_int_equal(end(&l, 1, 3, LOAD, 7), 0);
	assert_int_equal(end(&l, 1, 3, LOAD, 8), 0);
	assert_int_equal(end(&l, 1, 3, QUERY, 7), 0);
	assert_int_equal(end(&l, 1, 3, LOAD, 7), 0);
	assert_int_equal(end(&l, 1, 3, TRACE_KIND_ACTIVITY, 7), 0);
	assert_int_equal(end(&l, 1, 3, QUERY, 7), 0);
	/* The parent of the load ended. */
	assert_int_equal(end(&l, 1, 3, LOAD, 7), 0);
	assert_int_equal(end(&l, 1, 2, QUERY, 9), 0);
	assert_int_equal(end(&l, 1, 3, QUERY, 7), 0);
	/* The execution is on another thread. */
	assert_int_equal(end(&l, 1, 3, LOAD, 7), 0);
	assert_int_equal(end(&l, 2, 3, QUERY, 7), 0);
	/* An instant changes nothing. */
	assert_int_equal(end(&l, 1, 3, TRACE_KIND_HIT, 7), 0);
	assert_int_equal(end(&l, 1, 3, QUERY, 7), 1);
	load_tracks__destroy(&l);
}

static void the_number_of_unseen_results_is_never_negative(void **state)
{
	assert_int_equal(reuse__unseen(&(struct reuse){.executed = 3, .loaded = 2, .results = 9}),
			 4);
	assert_int_equal(reuse__unseen(&(struct reuse){.executed = 8, .loaded = 2, .results = 9}),
			 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_execution_right_after_its_load_found_nothing),
		cmocka_unit_test(a_load_with_something_else_behind_it_found_something),
		cmocka_unit_test(the_number_of_unseen_results_is_never_negative),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
