// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Cache hits: each is recorded in its position among the spans, with its invocation id. */
#include "capture.h"

#define RING (16u << 20)

static void open_for(struct capture *c, bool hits)
{
	struct kernel_options opt = {
		.attach = KERNEL_ATTACH_MULTI, .ring_bytes = RING, .hits = hits};

	capture_open_with(c, &opt, 0);
}

static void compare(const char *script)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	open_for(&c, true);
	capture_script(&c, script);
	assert_int_equal(c.status, 0);
	assert_as_expected(&c);
	assert_whole(&c);
}

TEST_CASE(wherever_the_id_is)
{
	compare("m a(m) m");
}

TEST_CASE(an_id_that_cannot_be_read)
{
	compare("a(M) m");
}

TEST_CASE(within_all_kinds_of_intervals)
{
	compare("a(mb(m)m)n(m)l(m)L(m)v(m)i(m)o(m)m");
}

/* Deeper than the first part of a thread's stack storage. */
TEST_CASE(in_a_deep_stack)
{
	compare("r600(m)m");
}

TEST_CASE(in_several_threads)
{
	compare("p4(*500(ma(mb(m))))");
}

/* A thread's first probe may be a hit. */
TEST_CASE(in_a_child)
{
	compare("f(ma(m))t(m)x(m)");
}

TEST_CASE(they_are_recorded_only_if_asked_for)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	open_for(&c, false);
	capture_script(&c, "a(m)");
	assert_int_equal(c.got.n_spans, 1);
	assert_int_equal(c.counters[WIRE_COUNT_HITS], 2);
}

TEST_CASE(not_of_processes_that_are_not_followed)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	open_for(&c, true);
	capture_start(&c, "*10(m)");
	kernel__enable(c.kernel, true);
	capture_go(&c);
	capture_finish_target(&c);
	capture_stop(&c);
	assert_int_equal(c.got.n_spans, 0);
	assert_int_equal(c.counters[WIRE_COUNT_HITS], 0);
	assert_int_equal(c.counters[WIRE_COUNT_HITS_OTHER], 30);
}

TEST_MAIN(NULL, NULL)
