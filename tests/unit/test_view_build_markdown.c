// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_build.h"
#include "view/build_rows.h"

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

static void what_did_not_end_well_is_marked(void **state)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	struct build_totals *totals = (struct build_totals *)build__totals(v.build);
	struct trace_process *first;
	_build_rows_ struct build_rows r = {};
	_free_ char *text = NULL;

	assert_int_equal(build_rows__init(&r, &v), 0);
	first = (struct trace_process *)r.crates[0]->process->process;
	first->end_ns = 0;
	first->exit_status = TRACE_EXIT_UNKNOWN;
	totals->unended = 1;
	totals->cached = 3;
	text = printed_build(build_markdown, &v);
	assert_contains(text, "### rustc: at least 700 ms, 4 crates compiled");
	assert_contains(text, ", **1 not seen to end**; 3 from a cache\n");
	assert_contains(text, "\n| ! `");
	assert_contains(text, " | >=");
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
		cmocka_unit_test(what_did_not_end_well_is_marked),
		cmocka_unit_test(items_are_a_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
