// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_build.h"

static void a_build_is_as_agreed(void **state)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *text = NULL;

	text = printed_build(build_markdown, &v);
	assert_golden("view/build.md", text);
}

static void tables_stay_whole(void **state)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *text = NULL;

	v.top = 4;
	v.losses = NULL;
	v.problem = "unfinished";
	text = printed_build(build_markdown, &v);
	assert_contains(text, "| `ser\\|de (build script)` |");
	assert_contains(text, "\nLost: unknown, the trace does not say. Incomplete: `unfinished`.");
}

static void kinds_with_unwatched_time_are_reported(void **state)
{
	struct decisions d = sample_build__decisions();
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *text = NULL, *queries_only = NULL;

	d.ppm = 30000;
	v.decisions = &d;
	text = printed_build(build_markdown, &v);
	assert_contains(text,
			"\nbudget: 3.0 % of CPU time; 1 query has no probes\n"
			"not probed: QueryBlocked, 2 kinds of activities; their intervals are "
			"missing\n");
	d.rows.n = 1;
	queries_only = printed_build(build_markdown, &v);
	assert_lacks(queries_only, "not probed");
}

static void items_are_a_table(void **state)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *text = NULL;

	sample_build__items(&s, &v);
	v.top = 3;
	text = printed_build(build_markdown, &v);
	assert_contains(text, "\n| item | on-cpu | % | most in |\n");
	assert_contains(text, "\n| `app` | 15.0 ms | 2.4 | `typeck` 8.00 ms |\n\nand 1 more\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_build_is_as_agreed),
		cmocka_unit_test(tables_stay_whole),
		cmocka_unit_test(kinds_with_unwatched_time_are_reported),
		cmocka_unit_test(items_are_a_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
