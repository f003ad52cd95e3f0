// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/stacks.h"

enum { G = 1, H = 2 }; /* groups of bodies */

TEST_CASE_WITH(nested_queries_end_youngest_first, stacks_setup, NULL)
{
	wire_u64 a = world_start(1, G, ON_MAIN(1000)), b, c, end;

	b = world_start(2, H, ON_MAIN(2000));
	c = world_start(3, G, ON_MAIN(3000));
	end = world_end(G, ON_MAIN(3000), 33);
	assert_int_equal(world.spans[0].depth, 2);
	assert_int_equal(world.spans[0].invocation, 33);
	assert_span(3, c, end, 0);
	end = world_end(H, ON_MAIN(2000), 22);
	assert_int_equal(world.spans[1].depth, 1);
	assert_int_equal(world.spans[1].invocation, 22);
	assert_span(2, b, end, 0);
	end = world_end(G, ON_MAIN(1000), 11);
	assert_int_equal(world.spans[2].depth, 0);
	assert_span(1, a, end, 0);
	world_assert_empty();
}

TEST_CASE_WITH(siblings_may_have_the_same_sp, stacks_setup, NULL)
{
	wire_u64 a = world_start(1, G, ON_MAIN(1000)), b, end;

	for (wire_u32 i = 0; i < 3; i++) {
		b = world_start(2 + i, G, ON_MAIN(2000));
		end = world_end(G, ON_MAIN(2000), i);
		assert_int_equal(world.spans[i].depth, 1);
		assert_span(2 + i, b, end, 0);
	}
	assert_span(1, a, world_end(G, ON_MAIN(1000), 0), 0);
	world_assert_empty();
}

TEST_CASE_WITH(recursion_goes_on_in_the_overflow_table, stacks_setup, NULL)
{
	enum { DEPTH = 1000 };
	wire_u64 starts[DEPTH];

	for (int round = 0; round < 2; round++) {
		for (wire_u32 i = 0; i < DEPTH; i++)
			starts[i] = world_start(i, G, ON_MAIN(1000 + 100 * i));
		assert_int_equal(world.n_used, DEPTH - STACK_INLINE_FRAMES);
		for (wire_u32 i = DEPTH; i-- > 0;) {
			wire_u64 end = world_end(G, ON_MAIN(1000 + 100 * i), i);

			assert_int_equal(world.spans[world.n_checked].depth, i);
			assert_span(i, starts[i], end, 0);
		}
		world_assert_empty();
	}
}

/* The innermost three find no room. All have one group, so only their order distinguishes them. */
TEST_CASE_WITH(a_start_without_room_is_counted_and_mispairs_nothing, stacks_setup, NULL)
{
	wire_u64 starts[STACK_INLINE_FRAMES], again;

	world.overflow_max = 0;
	for (wire_u32 i = 0; i < STACK_INLINE_FRAMES; i++)
		starts[i] = world_wrapper(i, G, ON_MAIN(1000 * (i + 1)));
	for (wire_u32 i = 0; i < 3; i++)
		world_wrapper(100 + i, G, ON_MAIN(10000 + 1000 * i));
	assert_count(WIRE_LOST_STACK_FULL, 3);
	for (wire_u32 i = 3; i-- > 0;)
		world_end(G, ON_MAIN(10000 + 1000 * i + 200), 0);
	assert_count(WIRE_DROP_END_WITHOUT_START, 3);
	assert_no_span();
	for (wire_u32 i = STACK_INLINE_FRAMES; i-- > 1;)
		assert_span(i, starts[i], world_end(G, ON_MAIN(1000 * (i + 1) + 200), i), 0);
	again = world_wrapper(7, G, ON_MAIN(5000));
	assert_span(7, again, world_end(G, ON_MAIN(5200), 0), 0);
	assert_span(0, starts[0], world_end(G, ON_MAIN(1200), 0), 0);
	assert_count(WIRE_LOST_STACK_FULL, 3);
	world_assert_empty();
}

/* The children of a lost query must not take room that becomes free while it runs. */
TEST_CASE_WITH(nothing_is_kept_above_what_was_lost, stacks_setup, NULL)
{
	wire_u64 starts[STACK_INLINE_FRAMES];

	world.overflow_max = 0;
	for (wire_u32 i = 0; i < STACK_INLINE_FRAMES; i++)
		starts[i] = world_wrapper(i, G, ON_MAIN(1000 * (i + 1)));
	world_wrapper(100, G, ON_MAIN(10000));
	world.overflow_max = WORLD_OVERFLOW;
	world_wrapper(101, G, ON_MAIN(11000));
	world_end(G, ON_MAIN(11200), 0);
	world_end(G, ON_MAIN(10200), 0);
	assert_no_span();
	assert_count(WIRE_LOST_STACK_FULL, 2);
	for (wire_u32 i = STACK_INLINE_FRAMES; i-- > 0;)
		assert_span(i, starts[i], world_end(G, ON_MAIN(1000 * (i + 1) + 200), i), 0);
	world_assert_empty();
}

TEST_CASE_WITH(a_caught_panic_takes_what_is_below_the_catch, stacks_setup, NULL)
{
	wire_u64 a = world_start(1, G, ON_MAIN(1000)), b, c, d, now;

	b = world_start(2, G, ON_MAIN(2000));
	c = world_start(3, H, ON_MAIN(3000));
	d = world_wrapper(4, G, ON_MAIN(4000));
	now = world_caught(ON_MAIN(1800));
	assert_span(4, d, now, WIRE_SPAN_UNWOUND);
	assert_span(3, c, now, WIRE_SPAN_UNWOUND);
	assert_span(2, b, now, WIRE_SPAN_UNWOUND);
	assert_no_span();
	assert_count(WIRE_COUNT_UNWOUND, 3);
	assert_span(1, a, world_end(G, ON_MAIN(1000), 5), 0);
	world_assert_empty();
}

TEST_CASE_WITH(a_catch_below_all_queries_takes_none, stacks_setup, NULL)
{
	wire_u64 a;

	world_caught(ON_MAIN(500));
	a = world_start(1, G, ON_MAIN(1000));
	world_caught(ON_MAIN(1500));
	assert_no_span();
	assert_span(1, a, world_end(G, ON_MAIN(1000), 5), 0);
	world_assert_empty();
}

TEST_CASE_WITH(unwinding_is_caught_once_on_each_stack, stacks_setup, NULL)
{
	wire_u64 a = world_start(1, G, ON_MAIN(1000)), b, c, d, now;

	b = world_start(2, G, ON_MAIN(2000));
	stacks_map(BELOW);
	c = world_start(3, G, ON_BELOW(1000));
	d = world_start(4, G, ON_BELOW(2000));
	now = world_caught(ON_BELOW(100));
	assert_span(4, d, now, WIRE_SPAN_UNWOUND);
	assert_span(3, c, now, WIRE_SPAN_UNWOUND);
	assert_no_span();
	world_unmap(BELOW);
	assert_span(2, b, world_caught(ON_MAIN(1500)), WIRE_SPAN_UNWOUND);
	assert_no_span();
	assert_span(1, a, world_end(G, ON_MAIN(1000), 0), 0);
	world_assert_empty();
}

/* No catch was seen; the start of a sibling above proves two frames dead, an end the third. */
TEST_CASE_WITH(frames_left_unseen_are_found_dead_later, stacks_setup, NULL)
{
	wire_u64 a = world_start(1, G, ON_MAIN(1000)), b, c, d, e, now;

	b = world_start(2, H, ON_MAIN(2000));
	c = world_start(3, G, ON_MAIN(3000));
	d = world_start(4, G, ON_MAIN(1900));
	assert_span(3, c, d, WIRE_SPAN_LEFT);
	assert_span(2, b, d, WIRE_SPAN_LEFT);
	assert_no_span();
	e = world_start(5, G, ON_MAIN(2500));
	assert_int_equal(world.t.frames[2].depth, 2);
	now = world_end(G, ON_MAIN(1000), 9);
	assert_span(5, e, now, WIRE_SPAN_LEFT);
	assert_span(4, d, now, WIRE_SPAN_LEFT);
	assert_span(1, a, now, 0);
	assert_count(WIRE_COUNT_LEFT, 4);
	world_assert_empty();
}

TEST_CASE_WITH(an_end_without_a_start_proves_frames_dead, stacks_setup, NULL)
{
	wire_u64 a = world_start(1, G, ON_MAIN(9000)), now;

	now = world_end(H, ON_MAIN(1000), 0);
	assert_count(WIRE_DROP_END_WITHOUT_START, 1);
	assert_span(1, a, now, WIRE_SPAN_LEFT);
	world_assert_empty();
}

TEST_CASE_WITH(stacks_may_lie_below_and_above_each_other, stacks_setup, NULL)
{
	wire_u64 a = world_start(1, G, ON_MAIN(1000)), b, c, d, now;

	stacks_map(ABOVE);
	b = world_start(2, G, ON_ABOVE(1000));
	stacks_map(BELOW);
	c = world_start(3, G, ON_BELOW(500));
	stacks_map(LOWEST);
	d = world_start(4, G, ON_LOWEST(3000));
	now = world_end(G, ON_LOWEST(3000), 0);
	assert_int_equal(world.spans[0].depth, 3);
	assert_span(4, d, now, 0);
	world_unmap(LOWEST);
	assert_span(3, c, world_end(G, ON_BELOW(500), 0), 0);
	world_unmap(BELOW);
	assert_span(2, b, world_end(G, ON_ABOVE(1000), 0), 0);
	world_unmap(ABOVE);
	assert_span(1, a, world_end(G, ON_MAIN(1000), 0), 0);
	assert_count(WIRE_COUNT_STACK_UNKNOWN, 0);
	world_assert_empty();
}

/* The new stack has the same addresses, and a frame of the old one was left unseen. */
TEST_CASE_WITH(a_freed_stack_may_come_back, stacks_setup, NULL)
{
	wire_u64 a = world_start(1, G, ON_MAIN(1000)), b, c, d;

	for (int depth = 3000; depth > 0; depth -= 1000) {
		stacks_map(BELOW);
		b = world_start(2, G, ON_BELOW(2000));
		world_unmap(BELOW);
		c = world_start(3, G, ON_MAIN(2000));
		assert_span(2, b, c, WIRE_SPAN_LEFT);
		stacks_map(BELOW);
		d = world_start(4, G, ON_BELOW(depth));
		assert_span(4, d, world_end(G, ON_BELOW(depth), 0), 0);
		world_unmap(BELOW);
		assert_span(3, c, world_end(G, ON_MAIN(2000), 0), 0);
	}
	assert_span(1, a, world_end(G, ON_MAIN(1000), 0), 0);
	world_assert_empty();
}

/* A return to a live frame proves younger frames of other stacks dead, mapped or not. */
TEST_CASE_WITH(frames_of_a_stack_that_was_left_are_dead, stacks_setup, NULL)
{
	wire_u64 a = world_start(1, G, ON_MAIN(1000)), b, c, now;

	stacks_map(ABOVE);
	b = world_start(2, G, ON_ABOVE(1000));
	c = world_start(3, H, ON_MAIN(3000));
	assert_span(2, b, c, WIRE_SPAN_LEFT);
	now = world_end(H, ON_MAIN(3000), 0);
	assert_int_equal(world.spans[1].depth, 1);
	assert_span(3, c, now, 0);
	assert_span(1, a, world_end(G, ON_MAIN(1000), 0), 0);
	world_assert_empty();
}

/* The mapping is unknown: frames near sp are judged, and others are kept. */
TEST_CASE_WITH(an_unknown_stack_keeps_its_frames, stacks_setup, NULL)
{
	wire_u64 a, b, c;

	world.busy = true;
	a = world_start(1, G, ON_MAIN(1000));
	assert_count(WIRE_COUNT_STACK_UNKNOWN, 1);
	b = world_start(2, G, ON_MAIN(200000));
	assert_count(WIRE_COUNT_STACK_UNKNOWN, 2);
	c = world_start(3, G, ON_MAIN(199000));
	assert_count(WIRE_COUNT_STACK_UNKNOWN, 2);
	assert_span(2, b, c, WIRE_SPAN_LEFT);
	assert_span(3, c, world_end(G, ON_MAIN(199000), 0), 0);
	assert_span(1, a, world_end(G, ON_MAIN(1000), 0), 0);
	world_assert_empty();
}

TEST_CASE_WITH(ends_of_earlier_starts_take_no_frame, stacks_setup, NULL)
{
	static const wire_u32 groups[] = {G, H};

	for (int i = 0; i < 2; i++) {
		wire_u64 a;

		/* A query from before the capture calls another one, and ends. */
		a = world_start(1, G, ON_MAIN(5000));
		assert_span(1, a, world_end(G, ON_MAIN(5000), 0), 0);
		world_end(groups[i], ON_MAIN(4000), 0);
		assert_no_span();
		/* Another one calls two by their wrappers; the second meets a cycle. */
		a = world_wrapper(1, G, ON_MAIN(5000));
		assert_span(1, a, world_end(G, ON_MAIN(5200), 0), 0);
		world_wrapper(2, G, ON_MAIN(5000));
		world_end(groups[i], ON_MAIN(3000), 0);
		assert_no_span();
		world_assert_empty();
	}
	assert_count(WIRE_DROP_END_WITHOUT_START, 4);
	assert_count(WIRE_COUNT_NOT_EXECUTED, 2);
}

/* A frame just below a body may be its provider. A frame farther below is a child that was left. */
TEST_CASE_WITH(an_end_takes_no_frame_that_is_far_below, stacks_setup, NULL)
{
	wire_u64 a = world_start(1, G, ON_MAIN(1000 + 256));

	assert_span(1, a, world_end(G, ON_MAIN(1000), 0), WIRE_SPAN_LEFT);
	assert_count(WIRE_DROP_END_WITHOUT_START, 1);
	world_assert_empty();
}

/* A wrapper meets a cycle on a grown stack. A query from before the capture ends on the old one. */
TEST_CASE_WITH(an_old_end_takes_no_wrapper_of_a_freed_stack, stacks_setup, NULL)
{
	stacks_map(BELOW);
	world_wrapper(1, G, ON_BELOW(1000));
	world_unmap(BELOW);
	world_end(G, ON_MAIN(1000), 0);
	assert_count(WIRE_DROP_END_WITHOUT_START, 1);
	assert_count(WIRE_COUNT_NOT_EXECUTED, 1);
	world_assert_empty();
}

TEST_CASE_WITH(a_wrapper_is_ended_by_the_body_it_calls, stacks_setup, NULL)
{
	wire_u64 a = world_wrapper(1, G, ON_MAIN(1000)), b, now;

	b = world_wrapper(2, G, ON_MAIN(2000));
	now = world_end(G, ON_MAIN(2300), 7);
	assert_int_equal(world.spans[0].invocation, 7);
	assert_int_equal(world.spans[0].depth, 1);
	assert_span(2, b, now, 0);
	/* An end of another group does not match. */
	world_end(H, ON_MAIN(1300), 0);
	assert_no_span();
	assert_span(1, a, world_end(G, ON_MAIN(1300), 8), 0);
	world_assert_empty();
}

TEST_CASE_WITH(a_wrapper_may_call_its_body_on_another_stack, stacks_setup, NULL)
{
	wire_u64 a = world_wrapper(1, G, ON_MAIN(1000)), b, c;

	stacks_map(ABOVE);
	b = world_start(2, G, ON_ABOVE(2000));
	assert_span(2, b, world_end(G, ON_ABOVE(2000), 0), 0);
	c = world_wrapper(3, G, ON_ABOVE(2000));
	stacks_map(LOWEST);
	assert_span(3, c, world_end(G, ON_LOWEST(300), 0), 0);
	world_unmap(LOWEST);
	assert_span(1, a, world_end(G, ON_ABOVE(300), 0), 0);
	world_assert_empty();
}

/* As above, but a wrapper on a third stack meets a cycle. */
TEST_CASE_WITH(a_wrapper_left_on_a_freed_stack_is_not_ended, stacks_setup, NULL)
{
	wire_u64 a = world_wrapper(1, G, ON_MAIN(1000));

	stacks_map(ABOVE);
	stacks_map(BELOW);
	world_wrapper(2, G, ON_BELOW(1000));
	world_unmap(BELOW);
	assert_span(1, a, world_end(G, ON_ABOVE(300), 0), 0);
	assert_count(WIRE_COUNT_NOT_EXECUTED, 1);
	world_assert_empty();
}

TEST_CASE_WITH(no_wrapper_is_guessed_on_an_unknown_stack, stacks_setup, NULL)
{
	stacks_map(ABOVE);
	world_wrapper(1, G, ON_ABOVE(1000));
	world.busy = true;
	world_end(G, ON_MAIN(1000), 0);
	assert_count(WIRE_DROP_END_WITHOUT_START, 1);
	assert_no_span();
}

TEST_CASE_WITH(a_wrapper_that_never_executes_is_no_span, stacks_setup, NULL)
{
	wire_u64 a = world_start(1, G, ON_MAIN(1000)), b, c;

	world_wrapper(2, G, ON_MAIN(2000));
	/* Its siblings are above it, at the same sp, and below it. */
	b = world_wrapper(3, G, ON_MAIN(1900));
	assert_count(WIRE_COUNT_NOT_EXECUTED, 1);
	assert_span(3, b, world_end(G, ON_MAIN(2100), 0), 0);
	world_wrapper(2, G, ON_MAIN(2000));
	c = world_start(4, G, ON_MAIN(2000));
	assert_count(WIRE_COUNT_NOT_EXECUTED, 2);
	assert_span(4, c, world_end(G, ON_MAIN(2000), 0), 0);
	world_wrapper(2, G, ON_MAIN(2000));
	c = world_start(5, G, ON_MAIN(4000));
	assert_span(5, c, world_end(G, ON_MAIN(4000), 0), 0);
	assert_span(1, a, world_end(G, ON_MAIN(1000), 0), 0);
	assert_count(WIRE_COUNT_NOT_EXECUTED, 3);
	assert_count(WIRE_COUNT_LEFT, 0);
	world_assert_empty();
}

TEST_CASE_WITH(a_provider_may_be_called_through_another_function, stacks_setup, NULL)
{
	wire_u64 a = world_start(1, G, ON_MAIN(1000 + 64)), b;

	b = world_start(2, G, ON_MAIN(2000 + 64));
	assert_span(2, b, world_end(G, ON_MAIN(2000), 0), 0);
	assert_span(1, a, world_end(G, ON_MAIN(1000), 0), 0);
	world_assert_empty();
}

/* The plan knows a function between that has a large frame. */
TEST_CASE_WITH(it_is_as_far_below_as_the_end_says, stacks_setup, NULL)
{
	wire_u64 a = world_start(1, G, ON_MAIN(1000 + 400 + 248));

	assert_span(1, a, world_end_between(G, ON_MAIN(1000), 400), 0);
	a = world_start(1, G, ON_MAIN(1000 + 400 + 256));
	assert_span(1, a, world_end_between(G, ON_MAIN(1000), 400), WIRE_SPAN_LEFT);
	assert_count(WIRE_DROP_END_WITHOUT_START, 1);
	world_assert_empty();
}

/* An older sibling was left unseen at the sp at which this body ends. */
TEST_CASE_WITH(a_left_sibling_is_not_taken_for_it, stacks_setup, NULL)
{
	wire_u64 a = world_start(1, G, ON_MAIN(1000)), b;

	b = world_start(2, G, ON_MAIN(1000 + 64));
	assert_span(2, b, world_end(G, ON_MAIN(1000), 0), 0);
	assert_span(1, a, world_flush(), WIRE_SPAN_OPEN);
	world_assert_empty();
}

TEST_CASE_WITH(depth_saturates, stacks_setup, NULL)
{
	world_start(1, G, ON_MAIN(1000));
	world.t.frames[0].depth = 65534;
	world_start(2, G, ON_MAIN(2000));
	assert_int_equal(world.t.frames[1].depth, 65535);
	world_start(3, G, ON_MAIN(3000));
	assert_int_equal(world.t.frames[2].depth, 65535);
}

TEST_CASE_WITH(a_flush_sends_what_is_open, stacks_setup, NULL)
{
	wire_u64 starts[2 * STACK_INLINE_FRAMES], now;

	for (wire_u32 i = 0; i < 2 * STACK_INLINE_FRAMES; i++)
		starts[i] = world_start(i, G, ON_MAIN(1000 * (i + 1)));
	now = world_flush();
	for (wire_u32 i = 2 * STACK_INLINE_FRAMES; i-- > 0;)
		assert_span(i, starts[i], now, WIRE_SPAN_OPEN);
	assert_count(WIRE_COUNT_OPEN, 2 * STACK_INLINE_FRAMES);
	world_assert_empty();
	world_flush();
	assert_no_span();
}

TEST_MAIN(NULL, NULL)
