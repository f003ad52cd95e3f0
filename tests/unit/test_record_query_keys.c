// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/query_keys.h"

#include "test.h"

static void assert_problem(char *layout, char *keys, const char *expected)
{
	struct plan plan = {.path = (char *)"/lib/a.so", .keys_problem = keys};
	_free_ char *why = NULL;

	plan.layout.problem = layout;
	query_keys__note_problem(&why, &plan);
	if (expected)
		assert_string_equal(why, expected);
	else
		assert_null(why);
}

static void a_problem_has_its_library(void **state)
{
	assert_problem(NULL, NULL, NULL);
	assert_problem((char *)"no text", (char *)"no kinds", "no text in /lib/a.so");
	assert_problem(NULL, (char *)"no kinds",
		       "keys that are in memory cannot be read in /lib/a.so");
}

static void the_first_problem_is_kept(void **state)
{
	struct plan plan = {.path = (char *)"/lib/b.so"};
	_free_ char *why = strdup("no text in /lib/a.so");

	plan.layout.problem = (char *)"other";
	query_keys__note_problem(&why, &plan);
	assert_string_equal(why, "no text in /lib/a.so");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_problem_has_its_library),
		cmocka_unit_test(the_first_problem_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
