// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/usual.h"

#include "test.h"

static void hot_queries_have_high_rates(void **state)
{
	assert_true(usual_rate("type_of") >= 1000);
	assert_true(usual_rate("resolver_for_lowering_raw") <= 100);
	assert_true(usual_rate("resolver_for_lowering_raw") > 0);
}

/* A name that is a part of another, or of two, is not known because of them. */
static void parts_of_names_are_unknown(void **state)
{
	double unknown = usual_rate("no such query");

	assert_true(unknown > 1000);
	assert_true(usual_rate("type_o") == unknown);
	assert_true(usual_rate("ype_of") == unknown);
	assert_true(usual_rate("") == unknown);
}

static void the_activities_of_every_compile_are_usual(void **state)
{
	assert_true(usual_has_activity("analysis") || usual_has_activity("codegen_crate"));
	assert_false(usual_has_activity("codegen_crat"));
	assert_false(usual_has_activity(""));
	assert_false(usual_has_activity(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hot_queries_have_high_rates),
		cmocka_unit_test(parts_of_names_are_unknown),
		cmocka_unit_test(the_activities_of_every_compile_are_usual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
