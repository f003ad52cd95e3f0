// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/self_time.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "../fixtures/spans.h"

static uint64_t self_of(struct self_time *st, uint32_t tid, uint16_t depth, uint64_t start,
			uint64_t end)
{
	struct trace_span s = {.tid = tid, .depth = depth, .start_ns = start, .end_ns = end};

	assert_int_equal(self_time__span(st, &s), 0);
	return s.self_ns;
}

static void children_are_taken_off_once(void **state)
{
	_self_time_ struct self_time *st = NULL;

	(void)state;
	assert_int_equal(self_time__new(&st), 0);
	assert_int_equal(self_of(st, 1, 2, 110, 120), 10);
	assert_int_equal(self_of(st, 1, 2, 130, 140), 10);
	assert_int_equal(self_of(st, 1, 1, 105, 150), 25);
	assert_int_equal(self_of(st, 1, 0, 100, 200), 55);
	assert_int_equal(self_of(st, 1, 0, 200, 210), 10);
}

static void threads_are_apart(void **state)
{
	_self_time_ struct self_time *st = NULL;

	(void)state;
	assert_int_equal(self_time__new(&st), 0);
	assert_int_equal(self_of(st, 1, 1, 110, 190), 80);
	assert_int_equal(self_of(st, 2, 0, 100, 200), 100);
	assert_int_equal(self_of(st, 1, 0, 100, 200), 20);
}

static void children_of_a_lost_parent_go_to_the_next(void **state)
{
	_self_time_ struct self_time *st = NULL;

	(void)state;
	assert_int_equal(self_time__new(&st), 0);
	assert_int_equal(self_of(st, 1, 3, 110, 150), 40);
	assert_int_equal(self_of(st, 1, 0, 100, 200), 60);
}

/* The record of the parent at depth 0 was lost: its child began before the next parent did. */
static void a_foreign_child_cannot_take_more_than_there_is(void **state)
{
	_self_time_ struct self_time *st = NULL;

	(void)state;
	assert_int_equal(self_time__new(&st), 0);
	assert_int_equal(self_of(st, 1, 1, 0, 1000), 1000);
	assert_int_equal(self_of(st, 1, 0, 2000, 2100), 100);
	assert_int_equal(self_of(st, 1, 1, 3000, 4000), 1000);
	assert_int_equal(self_of(st, 1, 1, 5010, 5020), 10);
	assert_true(self_of(st, 1, 0, 5000, 5100) <= 90);
}

/* As the spans of a damaged file may: more than one takes the same time. */
static void overlapping_spans_leave_nothing(void **state)
{
	_self_time_ struct self_time *st = NULL;

	(void)state;
	assert_int_equal(self_time__new(&st), 0);
	assert_int_equal(self_of(st, 1, 1, 150, 300), 150);
	assert_int_equal(self_of(st, 1, 2, 150, 300), 150);
	assert_int_equal(self_of(st, 1, 0, 140, 300), 0);
}

static void random_trees_come_out_exact(void **state)
{
	struct rng rng = rng_new();
	_self_time_ struct self_time *st = NULL;
	_free_ struct spans *spans = spans_new(&rng, 15000, 3, 10);

	(void)state;
	assert_int_equal(self_time__new(&st), 0);
	for (uint32_t i = 0; i < spans->n; i++) {
		struct trace_span s = spans->at[i];

		s.self_ns = 0;
		assert_int_equal(self_time__span(st, &s), 0);
		assert_true(s.self_ns == spans->at[i].self_ns);
	}
}

/* Whatever is lost, a self time stays within its span. */
static void losses_never_make_it_negative(void **state)
{
	struct rng rng = rng_new();
	_self_time_ struct self_time *st = NULL;
	_free_ struct spans *spans = spans_new(&rng, 15000, 2, 10);

	(void)state;
	assert_int_equal(self_time__new(&st), 0);
	for (uint32_t i = 0; i < spans->n; i++) {
		struct trace_span s = spans->at[i];

		if (!rng_below(&rng, 3))
			continue;
		assert_int_equal(self_time__span(st, &s), 0);
		assert_true(s.self_ns <= s.end_ns - s.start_ns);
	}
}

static void a_forgotten_process_begins_anew(void **state)
{
	_self_time_ struct self_time *st = NULL;
	struct trace_span s = {.process = 1, .depth = 0, .start_ns = 100, .end_ns = 200};

	(void)state;
	assert_int_equal(self_time__new(&st), 0);
	assert_int_equal(self_of(st, 1, 1, 110, 150), 40);
	assert_int_equal(self_of(st, 2, 1, 110, 150), 40);
	self_time__forget(st, 0);
	self_time__forget(st, 0);
	assert_int_equal(self_time__span(st, &s), 0);
	assert_int_equal(self_of(st, 1, 0, 100, 200), 100);
	assert_int_equal(self_of(st, 2, 0, 100, 200), 100);
	assert_int_equal(self_of(st, 3, 0, 100, 200), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_are_taken_off_once),
		cmocka_unit_test(threads_are_apart),
		cmocka_unit_test(children_of_a_lost_parent_go_to_the_next),
		cmocka_unit_test(a_foreign_child_cannot_take_more_than_there_is),
		cmocka_unit_test(overlapping_spans_leave_nothing),
		cmocka_unit_test(random_trees_come_out_exact),
		cmocka_unit_test(losses_never_make_it_negative),
		cmocka_unit_test(a_forgotten_process_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
