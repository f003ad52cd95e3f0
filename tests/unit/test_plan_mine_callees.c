// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/owners.h"

#include "test.h"
#define LIBRARY "cold_sides.so"
#include "../fixtures/image.h"

/* The assembled tests/fixtures/cold_sides.s. */
static struct callees callees;

static int setup(void **state)
{
	return image_setup(state) ?: callees__find(img, &callees);
}

static int teardown(void **state)
{
	callees__destroy(&callees);
	return image_teardown(state);
}

static void functions_are_known_by_their_names(void **state)
{
	static const struct {
		const char *name;
		enum callee kind;
	} functions[] = {
		{"intern", CALLEE_INTERN},
		{"other_intern", CALLEE_NONE},
		{"print_symbol", CALLEE_PRINT_SYMBOL},
		{"print_number", CALLEE_PRINT_NUMBER},
		{"record_span", CALLEE_RECORD_SPAN},
		{"expansion_text", CALLEE_EXPANSION_TEXT},
		{"expansion", CALLEE_EXPANSION},
		{"kind", CALLEE_EXPANSION_KIND},
		{"expansion_of", CALLEE_EXPANSION_OF},
		{"local_expansion", CALLEE_LOCAL_EXPANSION},
		{"walk", CALLEE_WALK_CHAIN},
		{"number_text", CALLEE_PRINT_NUMBER},
		{"display_number", CALLEE_DISPLAY_NUMBER},
		{"globals", CALLEE_NONE},
		{"format", CALLEE_FORMAT},
		{"debug_c_string", CALLEE_DEBUG_C_STRING},
		{"debug_other", CALLEE_NONE},
		{"cold_string", CALLEE_COLD_WITH_ARGUMENT},
		{"cold_unit", CALLEE_COLD_WITH_ARGUMENT},
		{"cold_plain", CALLEE_NONE},
		{"outside", CALLEE_NONE},
	};

	for (size_t i = 0; i < N_OF(functions); i++)
		assert_int_equal(callees__at(&callees, symbol(img, functions[i].name)->addr),
				 functions[i].kind);
}

static void nothing_is_known_elsewhere(void **state)
{
	assert_int_equal(callees__at(&callees, symbol(img, "intern")->addr + 1), CALLEE_NONE);
	assert_int_equal(callees__at(&callees, 0), CALLEE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_known_by_their_names),
		cmocka_unit_test(nothing_is_known_elsewhere),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
