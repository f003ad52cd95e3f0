// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The recorded caller of each query is exactly the place that called the wrapper. */
#include "capture.h"

#define RING (4u << 20)

/* Queries that were not requested through a probed wrapper have no caller. */
static void compare(const char *script, enum kernel_attach attach)
{
	const struct kernel_options opt = {.attach = attach, .ring_bytes = RING, .callers = true};
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	capture_open_with(&c, &opt, 0);
	capture_script(&c, script);
	assert_int_equal(c.status, 0);
	assert_as_expected(&c);
	assert_whole(&c);
}

TEST_CASE(each_calling_place_is_reported)
{
	compare("ABGABG", KERNEL_ATTACH_MULTI);
}

TEST_CASE(nested_queries_without_requests)
{
	compare("A(B(G(A)aB))a(A(a)B)G(a(G(B)d)Cz)A(A(A(A)))", KERNEL_ATTACH_MULTI);
}

TEST_CASE(a_request_without_a_start_belongs_to_no_query)
{
	compare("WaWB(Wa)A(Wa)W*3(WaG)A(W)b(Wa)", KERNEL_ATTACH_MULTI);
}

TEST_CASE(left_by_unwinding_or_unseen)
{
	compare("{A(!)}{B(G(A(!)))}A({B(W!)}aB){A(b(B(^)))}B{G(!)}aG", KERNEL_ATTACH_MULTI);
}

TEST_CASE(on_other_stacks)
{
	compare("gA(g(B)g)s(A(S(B(g(G)))))A(s(WB))g(g(g(a)))a", KERNEL_ATTACH_MULTI);
}

TEST_CASE(many_in_each_other)
{
	compare("A(A(A(A(A(A(A(A(A(A(A(A(A(A(A(A(A(A(A(A(r600(BWaB))))))))))))))))))))))B",
		KERNEL_ATTACH_MULTI);
}

/*
 * No wrapper grows the stack here: while another thread maps a stack, the current one is unknown,
 * and so is the caller.
 */
TEST_CASE(in_many_threads_and_processes)
{
	compare("p8(*200(A(B(C)d(G))W))f(A(B))B", KERNEL_ATTACH_MULTI);
}

TEST_CASE(through_perf_events)
{
	compare("A(B(G(A)aB))g(B)WaG{A(!)}B", KERNEL_ATTACH_PERF);
}

/* The wrappers are the same, but without the callers option spans have no caller. */
TEST_CASE(without_callers_there_are_none)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	capture_open(&c, KERNEL_ATTACH_MULTI, RING, 0);
	capture_script(&c, "A(B(G)g)W");
	assert_as_expected(&c);
	/* Starts and ends only. */
	assert_int_equal(c.counters[WIRE_COUNT_HITS], 2 * 4);
}

TEST_MAIN(NULL, NULL)
