// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/self_time.h"

#include "test.h"
#include "../fixtures/spans.h"

/* The result of the last span. */
static struct trace_times times;

static struct self_time *new_self_time(void)
{
	struct self_time *st = NULL;

	assert_int_equal(self_time__new(&st), 0);
	return st;
}

static uint64_t self_of(struct self_time *st, uint32_t tid, uint16_t depth, uint64_t start,
			uint64_t end)
{
	struct trace_span s = {.tid = tid, .depth = depth, .start_ns = start, .end_ns = end};

	assert_int_equal(self_time__span(st, &s, &times), 0);
	return times.self_ns;
}

#define CASE(name) \
	TEST_CASE_GIVEN(name, NULL, NULL, _self_time_ struct self_time *, st, new_self_time())

CASE(children_are_taken_off_once)
{
	assert_int_equal(self_of(st, 1, 2, 110, 120), 10);
	assert_int_equal(self_of(st, 1, 2, 130, 140), 10);
	assert_int_equal(self_of(st, 1, 1, 105, 150), 25);
	assert_int_equal(self_of(st, 1, 0, 100, 200), 55);
	assert_int_equal(self_of(st, 1, 0, 200, 210), 10);
}

static struct trace_times with_probes(struct self_time *st, uint16_t depth, uint64_t start,
				      uint64_t end)
{
	struct trace_span s = {.tid = 1, .depth = depth, .start_ns = start, .end_ns = end};

	assert_int_equal(self_time__span(st, &s, &times), 0);
	return times;
}

/* Two hits of a span take 200 ns: 120 within its own time, 80 within its parent's. */
static const struct trace_costs costs = {
	.ps = {[TRACE_COST_EMULATED] = 100000, [TRACE_COST_EMULATED_INSIDE] = 120000}};

static struct self_time *new_with_costs(void)
{
	struct self_time *st = new_self_time();

	self_time__set_costs(st, &costs);
	return st;
}

TEST_CASE(probe_time_counts_where_it_is_spent)
{
	_self_time_ struct self_time *st = new_with_costs();
	struct trace_times s;

	s = with_probes(st, 2, 2000, 2150);
	assert_struct(s, self_ns, 150, self_probe_ns, 120, probe_ns, 120);
	with_probes(st, 2, 2300, 2450);
	s = with_probes(st, 1, 1000, 5000);
	assert_struct(s, self_ns, 4000 - 300, self_probe_ns, 120 + 2 * 80, probe_ns, 120 + 2 * 200);
	s = with_probes(st, 0, 900, 6000);
	assert_struct(s, self_probe_ns, 120 + 80, probe_ns, 120 + 3 * 200);
}

/* The wrapper's probe, which reports the caller, runs in the time of the calling span. */
TEST_CASE(a_request_is_one_probe_more)
{
	_self_time_ struct self_time *st = new_with_costs();
	struct trace_span asked_for = {
		.tid = 1, .depth = 1, .start_ns = 2000, .end_ns = 2150, .caller = 7};
	struct trace_times s;

	assert_int_equal(self_time__span(st, &asked_for, &times), 0);
	assert_struct(times, self_probe_ns, 120, probe_ns, 120);
	s = with_probes(st, 0, 1000, 5000);
	assert_struct(s, self_probe_ns, 120 + 80 + 100, probe_ns, 120 + 200 + 100);
}

/* The self parts add up to two hits per span, less the 80 ns outside the outermost span. */
TEST_CASE(no_probe_is_counted_twice)
{
	_self_time_ struct self_time *st = new_with_costs();
	uint64_t sum = 0;

	for (uint64_t i = 0; i < 1000; i++)
		sum += with_probes(st, (uint16_t)(i % 7 % 3 + 1), i, i + 1).self_probe_ns;
	sum += with_probes(st, 0, 0, 1000).self_probe_ns;
	assert_int_equal(sum, 1001 * 200 - 80);
}

TEST_CASE(unknown_costs_are_none)
{
	static const struct trace_costs unknown[] = {
		{.ps = {0}},
		{.ps = {100000, 0, 120000}, .subtracted = true},
		{.ps = {100000, 0, 200001}}, /* inside a span: more than two hits take */
	};

	for (size_t i = 0; i < N_OF(unknown); i++) {
		_self_time_ struct self_time *st = new_with_costs();
		struct trace_times s;

		self_time__set_costs(st, &unknown[i]);
		s = with_probes(st, 0, 100, 200);
		assert_struct(s, probe_ns, 0, self_probe_ns, 0);
	}
}

CASE(threads_are_apart)
{
	assert_int_equal(self_of(st, 1, 1, 110, 190), 80);
	assert_int_equal(self_of(st, 2, 0, 100, 200), 100);
	assert_int_equal(self_of(st, 1, 0, 100, 200), 20);
}

CASE(children_of_a_lost_parent_go_to_the_next)
{
	assert_int_equal(self_of(st, 1, 3, 110, 150), 40);
	assert_int_equal(self_of(st, 1, 0, 100, 200), 60);
}

/* The first parent at depth 0 is lost: its child began before the second parent did. */
CASE(a_foreign_child_cannot_take_more_than_there_is)
{
	assert_int_equal(self_of(st, 1, 1, 0, 1000), 1000);
	assert_int_equal(self_of(st, 1, 0, 2000, 2100), 100);
	assert_int_equal(self_of(st, 1, 1, 3000, 4000), 1000);
	assert_int_equal(self_of(st, 1, 1, 5010, 5020), 10);
	assert_true(self_of(st, 1, 0, 5000, 5100) <= 90);
}

/* The spans of a damaged file may overlap: two take the same time of their parent. */
CASE(overlapping_spans_leave_nothing)
{
	assert_int_equal(self_of(st, 1, 1, 150, 300), 150);
	assert_int_equal(self_of(st, 1, 2, 150, 300), 150);
	assert_int_equal(self_of(st, 1, 0, 140, 300), 0);
}

CASE(random_trees_come_out_exact)
{
	struct rng rng = rng_new();
	_free_ struct spans *spans = spans_new(&rng, 15000, 3, 10);

	for (uint32_t i = 0; i < spans->n; i++) {
		assert_int_equal(self_time__span(st, &spans->at[i], &times), 0);
		assert_true(times.self_ns == spans->self_ns[i]);
	}
}

/* With lost spans a self time is still at most the length of its span. */
CASE(losses_never_make_it_negative)
{
	struct rng rng = rng_new();
	_free_ struct spans *spans = spans_new(&rng, 15000, 2, 10);

	for (uint32_t i = 0; i < spans->n; i++) {
		struct trace_span s = spans->at[i];

		if (!rng_below(&rng, 3))
			continue;
		assert_int_equal(self_time__span(st, &s, &times), 0);
		assert_true(times.self_ns <= s.end_ns - s.start_ns);
	}
}

static void off_cpu(struct self_time *st, uint16_t depth, uint64_t start, uint64_t end)
{
	struct trace_span s = {.tid = 1,
			       .depth = depth,
			       .start_ns = start,
			       .end_ns = end,
			       .kind = TRACE_KIND_OFF_CPU};

	assert_int_equal(self_time__span(st, &s, &times), 0);
	assert_struct(times, self_ns, 0, probe_ns, 0, off_ns, end - start, self_off_ns, 0);
}

CASE(off_cpu_is_no_child)
{
	struct trace_times s;

	self_of(st, 1, 1, 101, 104);
	off_cpu(st, 2, 110, 115);
	s = with_probes(st, 1, 105, 150);
	assert_int_equal(s.self_ns, 45);
	assert_struct(times, off_ns, 5, self_off_ns, 5);
	off_cpu(st, 1, 160, 170);
	off_cpu(st, 1, 170, 171);
	s = with_probes(st, 0, 100, 200);
	assert_int_equal(s.self_ns, 100 - 3 - 45);
	assert_struct(times, off_ns, 16, self_off_ns, 11);
	off_cpu(st, 0, 200, 300);
	s = with_probes(st, 0, 300, 310);
	assert_int_equal(times.off_ns, 0);
}

TEST_CASE(off_cpu_has_no_probes)
{
	_self_time_ struct self_time *st = new_with_costs();
	struct trace_times s;

	off_cpu(st, 1, 2000, 2150);
	s = with_probes(st, 0, 1000, 5000);
	assert_struct(s, self_ns, 4000, probe_ns, 120, self_probe_ns, 120);
}

/* The spans at depths 1 and 2 around these times are lost, so the times belong to depth 0. */
CASE(off_cpu_of_a_lost_parent_goes_to_the_next)
{
	struct trace_times s;

	off_cpu(st, 2, 110, 115);
	s = with_probes(st, 1, 120, 130);
	assert_int_equal(times.off_ns, 0);
	off_cpu(st, 3, 140, 147);
	off_cpu(st, 1, 150, 151);
	s = with_probes(st, 0, 100, 200);
	assert_int_equal(s.self_ns, 90);
	assert_struct(times, off_ns, 13, self_off_ns, 13);
}

/* Off the CPU in the last nanosecond of this span. */
static void off_cpu_of(struct self_time *st, const struct trace_span *span)
{
	struct trace_span s = *span;

	s.depth++;
	s.kind = TRACE_KIND_OFF_CPU;
	s.start_ns = s.end_ns - 1;
	assert_int_equal(self_time__span(st, &s, &times), 0);
}

/* Each off-CPU nanosecond is in the own time of exactly one span, with or without losses. */
TEST_CASE(off_cpu_is_counted_once)
{
	struct rng rng = rng_new();
	_free_ struct spans *spans = spans_new(&rng, 15000, 1, 10);

	for (uint32_t lost = 0; lost < 2; lost++) {
		_self_time_ struct self_time *st = new_self_time();
		uint64_t all = 0, own = 0, at_top = 0;

		for (uint32_t i = 0; i < spans->n; i++) {
			struct trace_span s = spans->at[i];

			if (spans->self_ns[i] > 2 && s.depth && !rng_below(&rng, 4)) {
				off_cpu_of(st, &s);
				all++;
			}
			if (lost && s.depth && !rng_below(&rng, 5))
				continue;
			assert_int_equal(self_time__span(st, &s, &times), 0);
			assert_true(times.self_off_ns <= times.off_ns);
			assert_true(times.off_ns <= s.end_ns - s.start_ns);
			assert_true(lost || times.self_ns == spans->self_ns[i]);
			own += times.self_off_ns;
			at_top += s.depth ? 0 : times.off_ns;
		}
		assert_int_equal(own, all);
		assert_int_equal(at_top, all);
	}
}

CASE(a_forgotten_process_begins_anew)
{
	struct trace_span s = {.process = 1, .depth = 0, .start_ns = 100, .end_ns = 200};

	assert_int_equal(self_of(st, 1, 1, 110, 150), 40);
	assert_int_equal(self_of(st, 2, 1, 110, 150), 40);
	self_time__forget(st, 0);
	self_time__forget(st, 0);
	assert_int_equal(self_time__span(st, &s, &times), 0);
	assert_int_equal(self_of(st, 1, 0, 100, 200), 100);
	assert_int_equal(self_of(st, 2, 0, 100, 200), 100);
	assert_int_equal(self_of(st, 3, 0, 100, 200), 100);
}

TEST_MAIN(NULL, NULL)
