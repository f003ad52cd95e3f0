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

TEST_CASE(a_problem_has_its_library)
{
	assert_problem(NULL, NULL, NULL);
	assert_problem((char *)"no text", (char *)"no kinds", "no text in /lib/a.so");
	assert_problem(NULL, (char *)"no kinds",
		       "keys that are in memory cannot be read in /lib/a.so");
}

TEST_CASE(the_first_problem_is_kept)
{
	struct plan plan = {.path = (char *)"/lib/b.so"};
	_free_ char *why = strdup("no text in /lib/a.so");

	plan.layout.problem = (char *)"other";
	query_keys__note_problem(&why, &plan);
	assert_string_equal(why, "no text in /lib/a.so");
}

TEST_MAIN(NULL, NULL)
