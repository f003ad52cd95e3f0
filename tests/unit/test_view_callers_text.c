// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "view/callers_text.h"

#include "../fixtures/output.h"

static void rows_name_the_function_and_its_line(void **state)
{
	static const struct caller_row callers[] = {
		{.function = "a", .file = "x.rs", .line = 3, .lines = 1},
		{.function = "b", .file = "x.rs", .line = 4, .lines = 2},
		{.function = "c", .file = "x.rs", .line = 5, .lines = 4, .unwound = 1},
		{.function = "evil\033[2J", .unwound = 2},
	};
	struct report_row all[4] = {{.name = "(unknown)"}};
	struct report_rows r = {.rows = all, .n = 4, .cpu_ns = 1000};
	_free_ char *text = NULL;

	for (int i = 0; i < 4; i++)
		all[i] = (struct report_row){
			.name = callers[i].function,
			.count = 10 - i,
			.unwound = callers[i].unwound,
			.total_ns = 2000,
			.cpu_ns = 100 * (i + 1),
			.max_ns = 50,
			.caller = &callers[i],
		};
	text = printed_text(callers_text(out, &r, 4));
	assert_contains(text, "executions    total    self  self %    max  caller\n"
			      "        10  2.00 us  100 ns    10.0  50 ns  a at x.rs:3\n"
			      "         9  2.00 us  200 ns    20.0  50 ns  b at x.rs:4 and 1 other "
			      "line\n"
			      "         8  2.00 us  300 ns    30.0  50 ns  c at x.rs:5 and 3 other "
			      "lines *\n"
			      "         7  2.00 us  400 ns    40.0  50 ns  evil");
	assert_null(strchr(text, '\033'));
}

static void only_as_many_as_asked_for_are_printed(void **state)
{
	static const struct caller_row caller = {.function = "a"};
	struct report_row rows[2] = {{.name = "a", .caller = &caller},
				     {.name = "b", .caller = &caller}};
	struct report_rows r = {.rows = rows, .n = 2};
	_free_ char *text = printed_text(callers_text(out, &r, 1));

	assert_contains(text, "  a\n");
	assert_lacks(text, "  b\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_name_the_function_and_its_line),
		cmocka_unit_test(only_as_many_as_asked_for_are_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
