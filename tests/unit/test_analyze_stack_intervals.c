// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/stack_intervals.h"

#include "test.h"

#define NONE STACK_INTERVAL_NONE

static const struct trace_stack entries[] = {
	[1] = {.kind = TRACE_STACK_LOCATION, .place = 10},
	[2] = {.parent = 1, .kind = TRACE_STACK_QUERY, .place = 7},
	[3] = {.parent = 2, .kind = TRACE_STACK_LOCATION, .place = 11},
	[4] = {.parent = 3, .kind = TRACE_STACK_UNKNOWN},
	[5] = {.parent = 4, .kind = TRACE_STACK_LOCATION, .place = 12},
	[6] = {.parent = 5, .kind = TRACE_STACK_HASHING, .place = 7},
	[7] = {.parent = 1, .kind = TRACE_STACK_UNKNOWN},
	[8] = {.parent = 2, .kind = TRACE_STACK_ACTIVITY, .place = 8},
	/* No reader returns these. */
	[9] = {.parent = 9, .kind = TRACE_STACK_QUERY, .place = 9},
	[10] = {.parent = 2, .kind = TRACE_STACK_KINDS, .place = 9},
};

static const struct trace_stack *entry(const void *ctx, uint32_t id)
{
	return id && id < N_OF(entries) ? &entries[id] : NULL;
}

static uint32_t find(struct stack_intervals *s, uint32_t stack)
{
	uint32_t interval;

	assert_int_equal(stack_intervals__find(s, stack, &interval), 0);
	return interval;
}

static void a_stack_has_an_innermost_interval(void **state)
{
	struct stack_intervals s = {.source = {.entry = entry}};
	const struct stack_interval *at;

	/* In any order. */
	find(&s, 10);
	assert_int_equal(find(&s, 5), find(&s, 4));
	assert_int_equal(find(&s, 1), NONE);
	assert_int_equal(find(&s, TRACE_NO_STACK), NONE);
	at = &s.at[find(&s, 3)];
	assert_int_equal(at->label, 7);
	assert_int_equal(at->kind, TRACE_KIND_QUERY);
	assert_int_equal(at->outer, NONE);
	at = &s.at[find(&s, 6)];
	assert_int_equal(at->kind, TRACE_KIND_HASHING);
	assert_int_equal(at->outer, find(&s, 4));
	assert_int_equal(s.at[find(&s, 8)].kind, TRACE_KIND_ACTIVITY);
	stack_intervals__destroy(&s);
}

static void an_unknown_execution_belongs_to_what_is_around(void **state)
{
	struct stack_intervals s = {.source = {.entry = entry}};

	find(&s, 10); /* `at` does not move any more */
	assert_true(s.at[find(&s, 5)].is_unknown);
	assert_int_equal(s.at[find(&s, 5)].known, find(&s, 2));
	assert_int_equal(s.at[find(&s, 7)].known, NONE);
	assert_int_equal(s.at[find(&s, 2)].known, find(&s, 2));
	stack_intervals__destroy(&s);
}

/* Hashing is a part of its query. */
static void the_outermost_of_a_label_is_first(void **state)
{
	struct stack_intervals s = {.source = {.entry = entry}};
	bool hidden[8] = {}, first[8];

	find(&s, 8);
	assert_int_equal(stack_intervals__first(&s, hidden, first), 0);
	assert_true(first[find(&s, 2)]);
	assert_false(first[find(&s, 4)]);
	assert_false(first[find(&s, 6)]);
	assert_true(first[find(&s, 8)]);
	hidden[find(&s, 2)] = true;
	assert_int_equal(stack_intervals__first(&s, hidden, first), 0);
	assert_false(first[find(&s, 2)]);
	assert_true(first[find(&s, 6)]);
	stack_intervals__destroy(&s);
}

static void entries_that_lie_end_nothing(void **state)
{
	struct stack_intervals s = {.source = {.entry = entry}};
	struct stack_intervals none = {};

	assert_int_equal(find(&s, UINT32_MAX), NONE);
	assert_int_equal(s.n_of, 0);
	find(&s, 10);
	assert_int_equal(s.at[find(&s, 9)].outer, NONE);
	assert_int_equal(find(&s, 10), find(&s, 2));
	assert_int_equal(find(&none, 3), NONE);
	stack_intervals__destroy(&s);
	stack_intervals__destroy(&none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_has_an_innermost_interval),
		cmocka_unit_test(an_unknown_execution_belongs_to_what_is_around),
		cmocka_unit_test(the_outermost_of_a_label_is_first),
		cmocka_unit_test(entries_that_lie_end_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
