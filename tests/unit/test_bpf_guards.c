// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests of bpf/stack_guards.h: intervals of guards and timers. */

#include "test.h"
#include "../fixtures/stacks.h"

enum { G = 1, H = 2 };			       /* groups of bodies */
enum { F = 20, E = 21, T = WIRE_SCOPE_TIMER }; /* scopes of other functions, and of timers */

TEST_CASE_WITH(guards_of_one_function_nest_at_one_sp, stacks_setup, NULL)
{
	wire_u64 a = world_guard(1, F, 1, ON_MAIN(1000)), b, c, end;

	b = world_guard(2, F, 2, ON_MAIN(1000));
	c = world_start(3, G, ON_MAIN(2000));
	end = world_end(G, ON_MAIN(2000), 33);
	assert_int_equal(world.spans[0].depth, 2);
	assert_int_equal(world.spans[0].kind, WIRE_KIND_QUERY);
	assert_span(3, c, end, 0);
	end = world_guard_end(F, 2, ON_MAIN(1000), false);
	assert_int_equal(world.spans[1].depth, 1);
	assert_int_equal(world.spans[1].kind, WIRE_KIND_ACTIVITY);
	assert_int_equal(world.spans[1].invocation, WIRE_NO_INVOCATION);
	assert_span(2, b, end, 0);
	b = world_guard(2, F, 2, ON_MAIN(1000));
	assert_span(2, b, world_guard_end(F, 2, ON_MAIN(1000), false), 0);
	assert_span(1, a, world_guard_end(F, 1, ON_MAIN(1000), false), 0);
	world_assert_empty();
}

/* The function was left unseen and entered again, or its loop repeats. */
TEST_CASE_WITH(a_guard_that_starts_again_was_left, stacks_setup, NULL)
{
	wire_u64 a = world_guard(1, F, 1, ON_MAIN(1000)), b, c;

	b = world_guard(2, F, 2, ON_MAIN(1000));
	c = world_guard(1, F, 1, ON_MAIN(1000));
	assert_span(2, b, c, WIRE_SPAN_LEFT);
	assert_span(1, a, c, WIRE_SPAN_LEFT);
	a = world_guard_end(F, 1, ON_MAIN(1000), false);
	assert_span(1, c, a, 0);
	world_assert_empty();
}

TEST_CASE_WITH(another_function_at_the_same_sp_proves_guards_dead, stacks_setup, NULL)
{
	wire_u64 a = world_guard(1, F, 1, ON_MAIN(1000)), b, now;

	b = world_guard(2, E, 2, ON_MAIN(1000));
	assert_span(1, a, b, WIRE_SPAN_LEFT);
	now = world_start(3, G, ON_MAIN(1000));
	assert_span(2, b, now, WIRE_SPAN_LEFT);
	a = world_guard(1, F, 1, ON_MAIN(1000));
	assert_span(3, now, a, WIRE_SPAN_LEFT);
	assert_span(1, a, world_caught(ON_MAIN(900)), WIRE_SPAN_UNWOUND);
	world_assert_empty();
}

TEST_CASE_WITH(a_guard_in_a_body_lies_in_its_query, stacks_setup, NULL)
{
	wire_u64 a = world_start(1, G, ON_MAIN(1000)), b, end;

	b = world_guard_of(WIRE_KIND_HASHING, 0, G, 1, ON_MAIN(1000), true);
	end = world_guard_end(G, 1, ON_MAIN(1000), false);
	assert_int_equal(world.spans[0].depth, 1);
	assert_int_equal(world.spans[0].kind, WIRE_KIND_HASHING);
	assert_span(1, b, end, 0);
	/* A guard that was left unseen does not hide its query from the end. */
	b = world_guard_of(WIRE_KIND_HASHING, 0, G, 1, ON_MAIN(1000), true);
	end = world_end(G, ON_MAIN(1000), 11);
	assert_span(1, b, end, WIRE_SPAN_LEFT);
	assert_span(1, a, end, 0);
	/* A load lies before the execution. */
	a = world_guard_of(WIRE_KIND_LOAD, 4, G, 2, ON_MAIN(1000), false);
	assert_span(4, a, world_guard_end(G, 2, ON_MAIN(1000), false), 0);
	world_assert_empty();
}

TEST_CASE_WITH(a_query_that_began_in_the_provider_is_alive_in_its_body, stacks_setup, NULL)
{
	wire_u64 a = world_start(1, G, ON_MAIN(1000 + 64)), b;

	b = world_guard_of(WIRE_KIND_HASHING, 0, G, 1, ON_MAIN(1000), true);
	assert_no_span();
	assert_span(1, b, world_guard_end(G, 1, ON_MAIN(1000), false), 0);
	assert_span(1, a, world_end(G, ON_MAIN(1000), 3), 0);
	/* An older guard that was left unseen at the body's sp does not make the query dead. */
	a = world_guard(9, G, 1, ON_MAIN(1000));
	b = world_start(1, G, ON_MAIN(1000 + 64));
	world_guard(2, G, 1, ON_MAIN(1000));
	world_guard_end(G, 1, ON_MAIN(1000), false);
	assert_int_equal(world.spans[world.n_checked++].query, 2);
	assert_span(1, b, world_end(G, ON_MAIN(1000), 3), 0);
	assert_span(9, a, world_caught(ON_MAIN(900)), WIRE_SPAN_UNWOUND);
	/* A guard of another body makes the query dead. */
	a = world_start(1, G, ON_MAIN(1000 + 64));
	b = world_guard(2, H, 1, ON_MAIN(1000));
	assert_span(1, a, b, WIRE_SPAN_LEFT);
	assert_span(2, b, world_guard_end(H, 1, ON_MAIN(1000), false), 0);
	world_assert_empty();
}

TEST_CASE_WITH(the_query_that_a_guard_runs_in_is_the_nearest_of_its_library, stacks_setup, NULL)
{
	world_guard_of(WIRE_KIND_HASHING, 0, F, 1, ON_MAIN(1000), true);
	assert_int_equal(stack_top(&world.t)->query, WIRE_NO_QUERY);
	world_start(7, G, ON_MAIN(2000));
	world_guard(1, F, 1, ON_MAIN(3000));
	world_guard_of(WIRE_KIND_HASHING, 0, F, 1, ON_MAIN(4000), true);
	assert_int_equal(stack_top(&world.t)->query, 7);
	assert_int_equal(stack_query(&world.t, 1), WIRE_NO_QUERY);
}

/* Timers share the frame of their function with its guards. */
TEST_CASE_WITH(timers_are_distinguished_by_their_place, stacks_setup, NULL)
{
	wire_u64 a = world_guard(1, T, 0x8001, ON_MAIN(1000)), b, c, end;

	b = world_guard(2, F, 1, ON_MAIN(1000));
	c = world_guard(3, T, 0x8003, ON_MAIN(1000));
	end = world_guard_end(T, 0x8003, ON_MAIN(1000), false);
	assert_int_equal(world.spans[0].depth, 2);
	assert_span(3, c, end, 0);
	assert_span(2, b, world_guard_end(F, 1, ON_MAIN(1000), false), 0);
	assert_span(1, a, world_guard_end(T, 0x8001, ON_MAIN(1000), false), 0);
	world_assert_empty();
}

TEST_CASE_WITH(a_timer_that_was_moved_is_the_youngest_of_its_function, stacks_setup, NULL)
{
	wire_u64 a = world_guard(1, T, 0x8001, ON_MAIN(1000)), b, c, end;

	b = world_guard(2, T, 0x8003, ON_MAIN(1000));
	c = world_guard(3, T, 0x8003, ON_MAIN(2000));
	end = world_guard_end(T, 0x8009, ON_MAIN(1000), false);
	assert_span(3, c, end, WIRE_SPAN_LEFT);
	assert_span(2, b, end, 0);
	assert_span(1, a, world_guard_end(T, 0x8009, ON_MAIN(1000), false), 0);
	world_guard_end(T, 0x8009, ON_MAIN(1000), false);
	assert_no_span();
	assert_count(WIRE_DROP_END_WITHOUT_START, 1);
	/* The function that made the timer has returned. */
	a = world_guard(1, T, 0x8001, ON_MAIN(1500));
	end = world_guard_end(T, 0x8040, ON_MAIN(1000), false);
	assert_span(1, a, end, 0);
	/* An end takes no timer of a function that has not returned, nor of another stack. */
	a = world_guard(1, T, 0x8001, ON_MAIN(1000));
	world_guard_end(T, 0x8001, ON_MAIN(1500), false);
	assert_no_span();
	stacks_map(BELOW);
	world_guard_end(T, 0x8001, ON_BELOW(100), false);
	assert_no_span();
	assert_span(1, a, world_guard_end(T, 0x8001, ON_MAIN(1000), false), 0);
	world_assert_empty();
}

TEST_CASE_WITH(an_end_of_what_was_left_out_is_no_loss, stacks_setup, NULL)
{
	wire_u64 a = world_guard(1, F, 1, ON_MAIN(1000));

	world_guard_end(F, 2, ON_MAIN(1000), true);
	world_guard_end(F, 1, ON_MAIN(900), true);
	world_guard_end(E, 1, ON_MAIN(1000), true);
	assert_no_span();
	assert_count(WIRE_DROP_END_WITHOUT_START, 0);
	world_guard_end(E, 1, ON_MAIN(1000), false);
	assert_count(WIRE_DROP_END_WITHOUT_START, 1);
	assert_span(1, a, world_guard_end(F, 1, ON_MAIN(1000), true), 0);
	world_assert_empty();
}

TEST_CASE_WITH(hidden_frames_are_matched_but_neither_sent_nor_counted, stacks_setup, NULL)
{
	const struct frame hidden = {
		.sp = ON_MAIN(2000), .query = 5, .group = G, .state = FRAME_STARTED, .hidden = 1};
	wire_u64 a, b, end;

	a = world_start(1, G, ON_MAIN(1000));
	world_push(&hidden);
	b = world_guard_of(WIRE_KIND_HASHING, 0, G, 1, ON_MAIN(2000), true);
	end = world_guard_end(G, 1, ON_MAIN(2000), false);
	assert_int_equal(world.spans[0].depth, 1);
	assert_span(5, b, end, 0);
	world_end(G, ON_MAIN(2000), 9);
	assert_no_span();
	world_push(&hidden);
	world_caught(ON_MAIN(1500));
	assert_no_span();
	assert_count(WIRE_COUNT_UNWOUND, 0);
	assert_span(1, a, world_end(G, ON_MAIN(1000), 1), 0);
	assert_count(WIRE_DROP_END_WITHOUT_START, 0);
	world_assert_empty();
}

/* A wrapper is no span, so the blocked interval has the depth of the wrapper. */
TEST_CASE_WITH(a_wrapper_that_waits_is_not_the_parent_of_its_waiting, stacks_setup, NULL)
{
	wire_u64 a = world_start(1, H, ON_MAIN(1000)), b, end;

	world_wrapper(2, G, ON_MAIN(2000));
	b = world_guard_of(WIRE_KIND_BLOCKED, 2, G, 1, ON_MAIN(2300), false);
	end = world_guard_end(G, 1, ON_MAIN(2300), false);
	assert_int_equal(world.spans[0].depth, 1);
	assert_span(2, b, end, 0);
	assert_span(1, a, world_end(H, ON_MAIN(1000), 1), 0);
	assert_count(WIRE_COUNT_NOT_EXECUTED, 1);
	world_assert_empty();
}

TEST_CASE_WITH(guards_without_room_mispair_nothing, stacks_setup, NULL)
{
	wire_u64 starts[STACK_INLINE_FRAMES];

	world.overflow_max = 0;
	for (wire_u32 i = 0; i < STACK_INLINE_FRAMES; i++)
		starts[i] = world_guard(i, F, i + 1, ON_MAIN(1000));
	world_guard(50, F, 50, ON_MAIN(1000));
	assert_count(WIRE_LOST_STACK_FULL, 1);
	world_guard_end(F, 50, ON_MAIN(1000), false);
	assert_no_span();
	for (wire_u32 i = STACK_INLINE_FRAMES; i-- > 0;)
		assert_span(i, starts[i], world_guard_end(F, i + 1, ON_MAIN(1000), false), 0);
	world_assert_empty();
}

TEST_MAIN(NULL, NULL)
