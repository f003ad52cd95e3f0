// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_diff.h"

TEST_CASE(several_traces_a_side)
{
	_free_ char *text = sample_diff(diff_text, 5, COMPARE_SELF, 0);

	assert_golden("view/diff.txt", text);
}

TEST_CASE(one_trace_a_side_says_so)
{
	_free_ char *text = sample_diff(diff_text, 1, COMPARE_SELF, 0);

	assert_golden("view/diff_single.txt", text);
}

TEST_CASE(executions_need_no_spread_of_times)
{
	_free_ char *text = sample_diff(diff_text, 1, COMPARE_COUNT, 0);

	assert_contains(text, "executions:   43 -> 47, +4 (+9.3 %)\n");
	assert_contains(text, "\n    +3  +15.0    20   23  serde/layout_of\n");
	assert_lacks(text, "noise is");
}

TEST_CASE(top_limits_the_rows)
{
	_free_ char *text = sample_diff(diff_text, 5, COMPARE_SELF, 1);

	assert_contains(text, "regex/typeck\n  and 1 more; --top 0 shows all\n");
	assert_lacks(text, "mir_borrowck");
}

/* A narrow diff drops columns of numbers and keeps the crate and query. */
TEST_CASE(numbers_go_before_names)
{
	_free_ char *text =
		sample_diff_within(diff_text, sample_comparison(1), COMPARE_SELF, 0, 60);

	assert_contains(text, "\n  change      %     base      new  crate/query\n");
	assert_contains(text, "  hidden column: executions (--wide)\n");
}

/* Matched by crate name and start order, serde's script would be compared with libc's. */
TEST_CASE(build_scripts_go_by_their_packages)
{
	_free_ char *text = sample_diff_of(diff_text, sample_scripts(), COMPARE_COUNT, 0);

	assert_golden("view/diff_scripts.txt", text);
}

TEST_CASE(items_have_their_paths)
{
	_free_ char *text =
		sample_diff_of(diff_text, sample_comparison_of_items(), COMPARE_SELF, 0);

	assert_golden("view/diff_items.txt", text);
}

TEST_MAIN(NULL, NULL)
