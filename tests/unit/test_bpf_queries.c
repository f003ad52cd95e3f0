// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests of bpf/stack_queries.h: the requests of queries and their callers. */

#include "test.h"
#include "../fixtures/stacks.h"

/* The sp of the body that the wrapper of `query` calls. The wrapper is called at `depth`. */
#define BODY(query, depth) ON_MAIN((depth) + world_reach(query))

enum { G = 1 };	       /* a group of bodies */
enum { Q = 1, R = 2 }; /* queries */

static int setup_with_callers(void **state)
{
	stacks_setup(state);
	world.callers = true;
	return 0;
}

static void assert_caller_of_next_end(wire_u64 sp, wire_u32 caller)
{
	world_end(G, sp, 1);
	assert_int_equal(world.spans[world.n_checked].flags, 0);
	assert_int_equal(world.spans[world.n_checked++].caller, caller);
	assert_int_equal(world.n_checked, world.n_spans);
}

/* The query starts and ends at `sp`. */
static void assert_caller(wire_u32 query, wire_u64 sp, wire_u32 caller)
{
	world_start(query, G, sp);
	assert_caller_of_next_end(sp, caller);
}

TEST_CASE_WITH(a_start_takes_the_request_above_it, setup_with_callers, NULL)
{
	world_request(Q, ON_MAIN(1000), 77);
	world_start(Q, G, BODY(Q, 1000));
	world_request(Q, ON_MAIN(2000), 88);
	assert_caller(Q, BODY(Q, 2000), 88);
	assert_caller_of_next_end(BODY(Q, 1000), 77);
	assert_int_equal(world.t.n_requests, 0);
}

TEST_CASE_WITH(a_wrapper_that_starts_its_query_takes_its_own, setup_with_callers, NULL)
{
	world_request(Q, ON_MAIN(1000), 77);
	world_wrapper(Q, G, ON_MAIN(1008));
	assert_caller_of_next_end(BODY(Q, 1000), 77);
}

TEST_CASE_WITH(a_request_serves_once, setup_with_callers, NULL)
{
	world_request(Q, ON_MAIN(1000), 77);
	assert_caller(Q, BODY(Q, 1000), 77);
	assert_caller(Q, BODY(Q, 1000), 0);
}

TEST_CASE_WITH(a_request_is_for_its_query_only, setup_with_callers, NULL)
{
	world_request(Q, ON_MAIN(1000), 77);
	assert_caller(R, BODY(R, 1000), 0);
	/* The request is still alive, and serves its own query. */
	assert_caller(Q, BODY(Q, 1000), 77);
}

/* The younger request decides: the older one cannot have called this body. */
TEST_CASE_WITH(an_older_request_is_not_taken_past_a_younger_one, setup_with_callers, NULL)
{
	world_request(Q, ON_MAIN(1000), 77);
	world_request(R, ON_MAIN(1100), 88);
	assert_caller(Q, BODY(Q, 1000), 0);
}

/* A body that is forced within its own request is farther away. No body is nearer. */
TEST_CASE_WITH(a_body_lies_just_so_far_below_its_request, setup_with_callers, NULL)
{
	static const wire_u64 others[] = {STACK_CALL_NEAR, 1000, 100000, (wire_u64)-8};

	world_request(Q, ON_MAIN(1000), 77);
	for (size_t i = 0; i < N_OF(others); i++)
		assert_caller(Q, BODY(Q, 1000) - others[i], 0);
	/* The provider may be called through another function. */
	assert_caller(Q, BODY(Q, 1000) - (STACK_CALL_NEAR - 8), 77);
}

TEST_CASE_WITH(a_hit_above_a_request_discards_it, setup_with_callers, NULL)
{
	world_start(R, G, ON_MAIN(1000));
	world_request(Q, ON_MAIN(1400), 77);
	world_start(R, G, ON_MAIN(1400));
	assert_int_equal(world.t.n_requests, 0);
	assert_caller_of_next_end(ON_MAIN(1400), 0);

	world_request(Q, ON_MAIN(1400), 77);
	world_request(R, ON_MAIN(1400), 88);
	assert_int_equal(world.t.n_requests, 1);

	world_caught(ON_MAIN(1300));
	assert_int_equal(world.t.n_requests, 0);

	world_request(Q, ON_MAIN(1400), 77);
	assert_caller_of_next_end(ON_MAIN(1000), 0);
	assert_int_equal(world.t.n_requests, 0);

	world_request(Q, ON_MAIN(1400), 77);
	world_end(G, ON_MAIN(1000), 1); /* started before the capture */
	assert_int_equal(world.t.n_requests, 0);
}

TEST_CASE_WITH(a_request_may_execute_on_another_stack, setup_with_callers, NULL)
{
	world_request(Q, ON_MAIN(1000), 77);
	stacks_map(BELOW);
	world_start(Q, G, ON_BELOW(400));
	world_request(R, ON_BELOW(1000), 88);
	assert_caller(R, ON_BELOW(1000) - world_reach(R), 88);
	assert_caller_of_next_end(ON_BELOW(400), 77);
}

TEST_CASE_WITH(a_request_left_on_a_freed_stack_is_dead, setup_with_callers, NULL)
{
	world_request(R, ON_MAIN(1000), 77);
	stacks_map(BELOW);
	world_request(Q, ON_BELOW(400), 88);
	world_unmap(BELOW);
	world_start(Q, G, BODY(Q, 1000));
	assert_int_equal(world.t.n_requests, 1);
	assert_caller_of_next_end(BODY(Q, 1000), 0);
	assert_caller(R, BODY(R, 1000), 77);
}

TEST_CASE_WITH(on_an_unknown_stack_only_near_frames_are_taken, setup_with_callers, NULL)
{
	world.busy = true;
	world_request(Q, ON_MAIN(1000), 77);
	assert_caller(Q, ON_BELOW(400), 0);
	world_request(Q, ON_BELOW(1000), 88);
	assert_caller(Q, ON_BELOW(1000) - world_reach(Q), 88);
}

TEST_CASE_WITH(the_oldest_of_too_many_are_forgotten, setup_with_callers, NULL)
{
	enum { TOO_MANY = STACK_REQUESTS + 2 };

	for (wire_u32 i = 0; i < TOO_MANY; i++)
		world_request(i, ON_MAIN(1000 * (i + 1)), 100 + i);
	for (wire_u32 i = TOO_MANY; i-- > 0;)
		assert_caller(i, BODY(i, 1000 * (i + 1)), i < 2 ? 0 : 100 + i);
}

TEST_CASE_WITH(a_flush_forgets_requests, setup_with_callers, NULL)
{
	world_request(Q, ON_MAIN(1000), 77);
	world_flush();
	assert_caller(Q, BODY(Q, 1000), 0);
}

TEST_CASE_WITH(a_span_left_in_another_way_has_its_caller_too, setup_with_callers, NULL)
{
	world_request(Q, ON_MAIN(1000), 77);
	world_start(Q, G, BODY(Q, 1000));
	world_caught(ON_MAIN(900));
	assert_int_equal(world.spans[0].flags, WIRE_SPAN_UNWOUND);
	assert_int_equal(world.spans[0].caller, 77);
}

TEST_MAIN(NULL, NULL)
