// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_diff.h"

TEST_CASE(a_summary_of_several_traces)
{
	_free_ char *text = sample_diff(diff_markdown, 5, COMPARE_SELF, 0);

	assert_golden("view/diff.md", text);
}

/* The sample's new crate has a name that tries to end its cell and its code span. */
TEST_CASE(names_stay_in_their_cells)
{
	_free_ char *text = sample_diff(diff_markdown, 1, COMPARE_SELF, 0);

	assert_contains(text, "| `ev\\|l?' (bin) (only in new)` |\n");
	assert_contains(text, "noise is estimated");
}

TEST_CASE(top_limits_the_rows)
{
	_free_ char *text = sample_diff(diff_markdown, 1, COMPARE_SELF, 1);

	assert_contains(text, "\nand 1 more\n");
}

TEST_MAIN(NULL, NULL)
