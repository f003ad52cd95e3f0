// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/waits.h"

#include "test.h"

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
		cmocka_unit_test(a_query_around_counts_whatever_lies_between),
		cmocka_unit_test(without_one_it_is_in_a_pass_or_in_neither),
		cmocka_unit_test(all_kinds_of_queries_count),
		cmocka_unit_test(depths_without_a_span_are_bridged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
