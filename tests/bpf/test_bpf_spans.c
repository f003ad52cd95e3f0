// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The recorded spans are exactly those of the test program, with links or perf events. */
#include "capture.h"

#define RING (4u << 20)

static void compare(const char *script, bool whole, struct capture *c)
{
	capture_open(c, KERNEL_ATTACH_MULTI, RING, 0);
	assert_string_equal(attachments__kind(kernel__attachments(c->kernel)),
			    have_multi() ? "uprobe_multi" : "perf events");
	capture_script(c, script);
	assert_int_equal(c->status, 0);
	assert_as_expected(c);
	if (whole)
		assert_whole(c);
}

static void compare_whole(const char *script)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	compare(script, true, &c);
}

TEST_CASE(every_shape_of_start_and_end)
{
	compare_whole("abcCdDehz a(b(c(C(d(D(e(h(z))))))))");
}

TEST_CASE(recursion_through_each_shape)
{
	compare_whole("a(a(a))b(b(b))c(c(c))C(C(C))d(d(D(d)))e(e(e))h(h(h))z(z(z))");
}

TEST_CASE(a_stack_deeper_than_its_inline_part)
{
	compare_whole("r127(a)r128(a)r129(a)r511(a)r512(a)r513(a)r2000(b(c)d)a");
}

TEST_CASE(ten_thousand_deep)
{
	compare_whole("r10000(b(c)d)a({r10000(b(!))}c)d");
}

TEST_CASE(panics_end_what_they_leave)
{
	compare_whole("a({a(b(c(d(e(h(!))))))}b)c({b({c(!)}a!)}d){aaa!}{z(C(!))}a");
}

TEST_CASE(a_deep_panic)
{
	compare_whole("a({r2000(b(!))}c)d");
}

TEST_CASE(a_catch_without_an_event)
{
	compare_whole("a({a(b(^))}c)a({d(e(^))}){b(h(^))}b");
}

TEST_CASE(stacks_above_and_below)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	compare("a(s(b(S(c(s(d(S(e(s(h)z))C))))D))a)S(a(b(c)))", true, &c);
	assert_int_equal(c.counters[WIRE_COUNT_STACK_UNKNOWN], 0);
}

/* Growing the stack catches and resumes a panic on each stack. */
TEST_CASE(panics_across_stacks)
{
	compare_whole("{a(s({b(S({c(r600(!))}!))}!))}d{S({a(b(!))}!)}a");
}

TEST_CASE(frames_left_on_another_stack)
{
	compare_whole("a(s({b(^)}))c(s(d({a(^)}b)))s({a(b(^))}c)");
}

TEST_CASE(many_threads)
{
	compare_whole("a(p8(*200(a(b(c)d(e))h)))p16(*20(r40(z)))");
}

/* Even a short-lived thread is reported. */
TEST_CASE(every_thread_is_reported)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	compare("ap8(*20(a))t(a)t(a)", false, &c);
	assert_int_equal(c.got.n_threads, 11);
}

TEST_CASE(a_thread_that_ends_in_a_query)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	compare("t(a(b(y)))a(t(r600(c(y))))", true, &c);
	assert_int_equal(c.counters[WIRE_COUNT_OPEN], 2 + 601);
}

TEST_CASE(every_shape_of_interval)
{
	compare_whole("niolLv n(i(o(l(L(v(a)))))) v(v(n(n(a(b)))))i(i(a))o(o(c))l(l(l))*5(lv)");
}

TEST_CASE(panics_end_intervals_too)
{
	compare_whole("n({n(a(v(l(i(o(!))))))}v({v(n(!))}a)n)a({i(n(v(!)))}i)");
}

TEST_CASE(intervals_left_unseen)
{
	compare_whole("a({n(v(^))}n)n({v(l(^))}v({l(^)}l))t(n(v(a(y))))");
}

TEST_CASE(intervals_on_other_stacks)
{
	compare_whole("n(s(v(S(i(s(n(l))))))){n(s({v(S({i(n(!))}!))}!))}r600(n(v(i)))n");
}

TEST_CASE(intervals_of_many_threads)
{
	compare_whole("n(p8(*100(v(n(l))i(a))))");
}

/* An exec changes the address space, so labels are recognised by their text. */
TEST_CASE(labels_of_several_processes)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	compare("l(L(v))x(l(L(v)))f(lLv)", true, &c);
	assert_int_equal(c.got.n_labels, 3);
	assert_int_equal(c.counters[WIRE_COUNT_NO_LABEL], 0);
}

TEST_CASE(a_wrapper_that_runs_nothing_is_no_span)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	compare("a(w)b(w)c(a(w))", true, &c);
	assert_int_equal(c.counters[WIRE_COUNT_NOT_EXECUTED], 3);
}

TEST_CASE(the_flags_are_counted)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	compare("{a(b(!))}a({d(e(h(^)))})t(a(y))", true, &c);
	assert_int_equal(c.counters[WIRE_COUNT_UNWOUND], 2);
	assert_int_equal(c.counters[WIRE_COUNT_LEFT], 3);
	assert_int_equal(c.counters[WIRE_COUNT_OPEN], 1);
	/* Two starts and a catch; four starts and an end; a start. */
	assert_int_equal(c.counters[WIRE_COUNT_HITS], 3 + 5 + 1);
}

/* Spans that began before are unknown, so the depth of the first one is 0. */
TEST_CASE(attached_in_the_middle)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	capture_open(&c, KERNEL_ATTACH_MULTI, RING, 0);
	capture_start(&c, "a(b(r600(.0c(d))a)e)h");
	assert_int_equal(kernel__follow(c.kernel, c.pid), 0);
	capture_go(&c);
	capture_wait_for_dot(&c);
	kernel__enable(c.kernel, true);
	capture_go(&c);
	capture_finish_target(&c);
	capture_stop(&c);
	assert_as_expected(&c);
	assert_int_equal(c.counters[WIRE_DROP_END_WITHOUT_START], 602);
}

TEST_CASE(a_provider_that_no_plan_knows)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	compare("u(a(b))a(u(b)u)", false, &c);
	assert_int_equal(c.counters[WIRE_DROP_UNKNOWN_PROVIDER], 3);
	assert_int_equal(c.counters[WIRE_DROP_END_WITHOUT_START], 3);
}

/* Where vtables are read, by the numbers in them. */
static void number_queries(struct plan *plan)
{
	for (uint32_t i = 0; i < plan->n_sites; i++) {
		struct plan_site *site = &plan->sites[i];

		if (site->role != WIRE_ROLE_IDENTIFY && site->role != WIRE_ROLE_GUARD_QUERY)
			continue;
		site->vtable_offset += VTABLE_NUMBER;
		for (uint32_t k = 0; k < plan->n_queries; k++)
			if (plan__serves(plan, &plan->queries[k], site->body))
				plan->queries[k].number = (uint16_t)shape_number(k);
	}
}

static void compare_numbered(const char *script, struct capture *c)
{
	const struct kernel_options opt = {.attach = KERNEL_ATTACH_MULTI, .ring_bytes = RING};

	capture_load(c, &opt, 0);
	number_queries(c->plan);
	assert_int_equal(kernel__attach(c->kernel, c->plan, NULL, &c->lib), 0);
	capture_script(c, script);
	assert_int_equal(c->status, 0);
	assert_as_expected(c);
}

/* In a register and in a slot; of a load, too. */
TEST_CASE(queries_are_told_apart_by_their_numbers)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	compare_numbered("CdDCo a(C(d(D(C(o(b))))))", &c);
	assert_whole(&c);
}

TEST_CASE(a_number_that_no_plan_knows)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	compare_numbered("u(C)C(u(d)u)", &c);
	assert_int_equal(c.counters[WIRE_DROP_UNKNOWN_PROVIDER], 3);
	assert_int_equal(c.counters[WIRE_DROP_END_WITHOUT_START], 3);
}

TEST_CASE(without_end_probes_a_start_ends_the_last_one)
{
	static const uint8_t flags[] = {WIRE_SPAN_LEFT, WIRE_SPAN_LEFT, WIRE_SPAN_OPEN};
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	capture_open(&c, KERNEL_ATTACH_MULTI, RING, WIRE_ROLE_END);
	capture_script(&c, "aaa");
	assert_int_equal(c.got.n_spans, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(c.got.spans[i].flags, flags[i]);
		assert_int_equal(c.got.spans[i].depth, 0);
	}
}

TEST_MAIN(NULL, NULL)
