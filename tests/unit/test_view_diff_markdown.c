// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_diff.h"

static void a_summary_of_several_traces(void **state)
{
	_free_ char *text = sample_diff(diff_markdown, 5, COMPARE_SELF, 0);

	assert_golden("view/diff.md", text);
}

/* The sample's new crate has a name that tries to end its cell and its code span. */
static void names_stay_in_their_cells(void **state)
{
	_free_ char *text = sample_diff(diff_markdown, 1, COMPARE_SELF, 0);

	assert_contains(text, "| `ev\\|l?' (bin) (only in new)` |\n");
	assert_contains(text, "noise is estimated");
}

static void top_limits_the_rows(void **state)
{
	_free_ char *text = sample_diff(diff_markdown, 1, COMPARE_SELF, 1);

	assert_contains(text, "\nand 1 more\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_summary_of_several_traces),
		cmocka_unit_test(names_stay_in_their_cells),
		cmocka_unit_test(top_limits_the_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
