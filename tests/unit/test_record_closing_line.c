// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/closing_line.h"

#include "test.h"
#include "../fixtures/output.h"

static void it_counts_what_was_recorded(void **state)
{
	const struct closing_line all = {.queries = 5,
					 .others = 2,
					 .hits = 3,
					 .unknown_hits = 1,
					 .compilers = 2,
					 .lost = 4,
					 .place = "a.qpt",
					 .bytes = 2048};
	const struct closing_line few = {
		.queries = 5, .compilers = 1, .place = "a.qpt", .bytes = 2048};
	struct output o;
	const char *text;

	output_begin(&o);
	closing_line__print(&all);
	output_end(&o);
	text = o.text[1];
	assert_non_null(strstr(text, "of 1 cache hits the query is unknown"));
	assert_non_null(strstr(text,
			       "recorded 5 queries and 2 other intervals and 3 cache hits of 2 "
			       "compilers, 4 lost; wrote a.qpt (2.00 KiB)"));
	output_free(&o);
	output_begin(&o);
	closing_line__print(&few);
	output_end(&o);
	text = o.text[1];
	assert_null(strstr(text, "unknown"));
	assert_non_null(strstr(text, "recorded 5 queries of 1 compiler, 0 lost"));
	output_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_counts_what_was_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
