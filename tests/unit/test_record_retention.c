// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/retention.h"

#include "test.h"

static size_t at;

static enum retention_action decide(const struct kept *traces, size_t n, uint64_t age,
				    uint64_t bytes, uint64_t now)
{
	const struct retention_limits limits = {.age_ns = age, .bytes = bytes};

	at = 99;
	return retention_decide(traces, n, &limits, now, &at);
}

TEST_CASE(without_limits_all_are_kept)
{
	const struct kept t[] = {{1, 100, 10, false, false}};

	assert_int_equal(decide(t, 1, 0, 0, 1000), RETENTION_ALL);
	assert_int_equal(decide(NULL, 0, 1, 1, 1000), RETENTION_ALL);
}

TEST_CASE(old_ones_go_unless_they_are_still_written)
{
	const struct kept t[] = {
		{1, 1, 10, true, false}, {1, 1, 95, false, false}, {1, 1, 20, false, false}};

	assert_int_equal(decide(t, 3, 50, 0, 100), RETENTION_REMOVE);
	assert_int_equal(at, 2);
	assert_int_equal(decide(t, 2, 50, 0, 100), RETENTION_ALL);
	/* A clock that was set back makes nothing old. */
	assert_int_equal(decide(t, 3, 50, 0, 5), RETENTION_ALL);
}

TEST_CASE(the_oldest_goes_of_the_user_with_the_most)
{
	const struct kept t[] = {{1, 30, 10, false, false},
				 {2, 50, 30, false, false},
				 {2, 10, 20, false, false},
				 {1, 20, 5, false, false}};

	assert_int_equal(decide(t, 4, 0, 110, 100), RETENTION_ALL);
	assert_int_equal(decide(t, 4, 0, 109, 100), RETENTION_REMOVE);
	assert_int_equal(at, 2);
}

TEST_CASE(who_fills_the_disk_by_an_open_trace_loses_that)
{
	const struct kept t[] = {
		{1, 30, 10, false, false}, {2, 60, 20, true, false}, {2, 90, 20, true, false}};

	assert_int_equal(decide(t, 3, 0, 100, 100), RETENTION_CUT);
	assert_int_equal(at, 2);
}

TEST_CASE(a_user_is_counted_once_wherever_the_traces_are)
{
	/* User 1 has the most, though the first and the largest trace are of others. */
	const struct kept t[] = {{2, 40, 10, false, false},
				 {1, 30, 30, false, false},
				 {3, 50, 5, false, false},
				 {1, 30, 20, false, false}};

	assert_int_equal(decide(t, 4, 0, 100, 100), RETENTION_REMOVE);
	assert_int_equal(at, 3);
}

TEST_CASE(a_trace_that_was_cut_is_not_cut_again)
{
	struct kept t[] = {
		{2, 60, 20, true, false}, {2, 90, 20, true, true}, {1, 30, 10, false, false}};

	assert_int_equal(decide(t, 3, 0, 100, 100), RETENTION_CUT);
	assert_int_equal(at, 0);
	/* Nothing more can be done, and the other user loses nothing. */
	t[0].cut = true;
	assert_int_equal(decide(t, 3, 0, 100, 100), RETENTION_ALL);
	/* Once it has ended it is like any other. */
	t[1].open = t[1].cut = false;
	assert_int_equal(decide(t, 3, 0, 100, 100), RETENTION_REMOVE);
	assert_int_equal(at, 1);
}

TEST_MAIN(NULL, NULL)
