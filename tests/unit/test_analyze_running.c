// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/running.h"

#include "test.h"
#include "../fixtures/random.h"

#define _running_ __cleanup(running__destroy)

static void nothing_runs_for_no_time(void **state)
{
	_running_ struct running r;

	assert_int_equal(running__of(&r, NULL, 0), 0);
	assert_int_equal(r.n, 0);
	assert_int_equal(r.end_ns - r.start_ns, 0);
}

static void consecutive_intervals_do_not_overlap(void **state)
{
	struct running_interval intervals[] = {{10, 20, 0}, {20, 30, 0}, {40, 50, 0}, {40, 40, 0}};
	_running_ struct running r;

	assert_int_equal(running__of(&r, intervals, 4), 0);
	assert_int_equal(r.n, 2);
	assert_int_equal(r.at[0], 10);
	assert_int_equal(r.at[1], 30);
	assert_int_equal(r.tail_ns, 40);
	assert_int_equal(intervals[1].alone_ns, 10);
	assert_int_equal(intervals[3].alone_ns, 0);
}

static void compilers_that_run_alone_are_shown(void **state)
{
	struct running_interval intervals[] = {{0, 100, 7}, {10, 30, 7}, {20, 40, 7}, {90, 120, 7}};
	_running_ struct running r;

	assert_int_equal(running__of(&r, intervals, 4), 0);
	assert_int_equal(r.n, 4);
	assert_int_equal(r.at[1], 10 + 50 + 20);
	assert_int_equal(r.at[2], 10 + 10 + 10);
	assert_int_equal(r.at[3], 10);
	assert_int_equal(r.tail_ns, 20);
	assert_int_equal(intervals[0].alone_ns, 60);
	assert_int_equal(intervals[1].alone_ns, 0);
	assert_int_equal(intervals[3].alone_ns, 20);
}

/* The times in a trace are untrusted. */
static void an_end_before_its_start_is_no_time(void **state)
{
	struct running_interval intervals[] = {{50, 10, 0}, {20, 30, 0}};
	_running_ struct running r;

	assert_int_equal(running__of(&r, intervals, 2), 0);
	assert_int_equal(r.start_ns, 20);
	assert_int_equal(r.end_ns, 50);
	assert_int_equal(r.at[0], 20);
	assert_int_equal(r.at[1], 10);
}

#define N     20
#define TICKS 64

/* Compare with a count at each tick. */
static void any_intervals_are_counted_as_by_hand(void **state)
{
	struct rng rng = rng_new();

	for (int turn = 0; turn < 200; turn++) {
		struct running_interval intervals[N];
		uint64_t at[N + 1] = {0}, alone[N] = {0};
		_running_ struct running r;

		for (int i = 0; i < N; i++) {
			intervals[i].start_ns = rng_below(&rng, TICKS);
			intervals[i].end_ns = intervals[i].start_ns + rng_below(&rng, TICKS / 8);
		}
		assert_int_equal(running__of(&r, intervals, N), 0);
		for (uint64_t tick = r.start_ns; tick < r.end_ns; tick++) {
			int n = 0, last = 0;

			for (int i = 0; i < N; i++) {
				if (intervals[i].start_ns > tick || intervals[i].end_ns <= tick)
					continue;
				n++;
				last = i;
			}
			at[n]++;
			alone[last] += n == 1;
		}
		for (int i = 0; i <= N; i++)
			assert_int_equal(r.at[i], at[i]);
		for (int i = 0; i < N; i++)
			assert_int_equal(intervals[i].alone_ns, alone[i]);
	}
}

/* ---- Waits ----------------------------------------------------------------------------------- */

static void wait_for(struct wait_track *t, uint16_t depth, uint64_t ns)
{
	const struct trace_span span = {.end_ns = ns, .depth = depth, .kind = TRACE_KIND_OFF_CPU};

	assert_int_equal(wait_track__wait(t, &span), 0);
}

static void end(struct wait_track *t, uint16_t depth, enum trace_kind kind, struct waits *w)
{
	wait_track__span(t, &(struct trace_span){.depth = depth, .kind = kind}, w);
}

static void assert_waits(const struct waits *w, uint64_t queries, uint64_t passes, uint64_t neither)
{
	assert_int_equal(w->in_queries, queries);
	assert_int_equal(w->in_passes, passes);
	assert_int_equal(w->in_neither, neither);
}

static void a_query_around_counts_whatever_lies_between(void **state)
{
	struct wait_track t = {};
	struct waits w = {};

	wait_for(&t, 3, 5);
	end(&t, 2, TRACE_KIND_ACTIVITY, &w);
	end(&t, 1, TRACE_KIND_ACTIVITY, &w);
	wait_for(&t, 1, 20);
	assert_waits(&w, 0, 0, 0);
	end(&t, 0, TRACE_KIND_QUERY, &w);
	assert_waits(&w, 25, 0, 0);
	wait_track__end(&t, &w);
	assert_waits(&w, 25, 0, 0);
}

static void without_one_it_is_in_a_pass_or_in_neither(void **state)
{
	struct wait_track t = {};
	struct waits w = {};

	wait_for(&t, 1, 5);
	wait_for(&t, 1, 2);
	end(&t, 0, TRACE_KIND_ACTIVITY, &w);
	wait_for(&t, 0, 100);
	end(&t, 0, TRACE_KIND_QUERY, &w);
	wait_track__end(&t, &w);
	assert_waits(&w, 0, 7, 100);
}

static void all_kinds_of_queries_count(void **state)
{
	static const enum trace_kind kinds[] = {TRACE_KIND_BLOCKED, TRACE_KIND_LOAD,
						TRACE_KIND_HASHING};
	struct wait_track t = {};
	struct waits w = {};

	for (int i = 0; i < 3; i++) {
		wait_for(&t, 4, 1);
		end(&t, 3, kinds[i], &w);
	}
	/* An instant contains no wait. */
	wait_for(&t, 4, 50);
	end(&t, 3, TRACE_KIND_HIT, &w);
	wait_track__end(&t, &w);
	assert_waits(&w, 3, 0, 50);
}

/* Waits below a lost span belong to the span around it. */
static void depths_without_a_span_are_bridged(void **state)
{
	struct wait_track t = {};
	struct waits w = {};

	wait_for(&t, 9, 1);
	wait_for(&t, 5, 2);
	wait_for(&t, 7, 4);
	end(&t, 3, TRACE_KIND_ACTIVITY, &w);
	wait_for(&t, 2, 8);
	end(&t, 1, TRACE_KIND_QUERY, &w);
	wait_track__end(&t, &w);
	assert_waits(&w, 15, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_runs_for_no_time),
		cmocka_unit_test(consecutive_intervals_do_not_overlap),
		cmocka_unit_test(compilers_that_run_alone_are_shown),
		cmocka_unit_test(an_end_before_its_start_is_no_time),
		cmocka_unit_test(any_intervals_are_counted_as_by_hand),
		cmocka_unit_test(a_query_around_counts_whatever_lies_between),
		cmocka_unit_test(without_one_it_is_in_a_pass_or_in_neither),
		cmocka_unit_test(all_kinds_of_queries_count),
		cmocka_unit_test(depths_without_a_span_are_bridged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
