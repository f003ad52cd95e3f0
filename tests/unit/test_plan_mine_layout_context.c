// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/layout.h"

#include "test.h"
#define LIBRARY "layout.so"
#include "../fixtures/image.h"

/* NULL: there is no such function. */
static const char *mine_kinds(const enum name_kind kinds[2], const char *debug, const char *parent,
			      struct wire_layout_current *out)
{
	const char *names[] = {debug, parent}, *problem = "not set";
	struct layout_function functions[2];
	struct code_region regions[2];
	size_t n = 0;

	for (size_t i = 0; i < 2; i++) {
		if (!names[i])
			continue;
		regions[n].addr = symbol(img, names[i])->addr;
		regions[n].size = symbol(img, names[i])->size;
		functions[n] = (struct layout_function){
			kinds[i], regions[n].addr, &regions[n], 1, NULL, 0};
		n++;
	}
	*out = (struct wire_layout_current){.context = 77};
	assert_int_equal(layout_context_mine(img, functions, n, out, &problem), 0);
	return problem;
}

static const char *mine(const char *debug, const char *parent, struct wire_layout_current *out)
{
	static const enum name_kind kinds[] = {NAME_DEF_ID_DEBUG, NAME_TRACK_PARENT};

	return mine_kinds(kinds, debug, parent, out);
}

static void assert_problem(const char *debug, const char *parent, const char *part)
{
	struct wire_layout_current out;
	const char *problem = mine(debug, parent, &out);

	if (!problem || !strstr(problem, part))
		fail_msg("%s, not: %s", problem ?: "no problem", part);
	assert_int_equal(out.context, 77);
	assert_int_equal(out.known, 0);
}

static void the_code_shows_the_threads_context(void **state)
{
	struct wire_layout_current out;

	assert_null(mine("a_debug", "a_parent", &out));
	assert_int_equal(out.known, 1);
	assert_int_equal(out.offset, symbol(img, "current")->addr);
	assert_int_equal(out.context, 0x10);
	assert_null(mine("b_debug", "b_parent", &out));
	assert_int_equal(out.offset, symbol(img, "current")->addr);
	assert_int_equal(out.context, 0x28);
}

static void older_functions_show_it_too(void **state)
{
	static const enum name_kind kinds[] = {NAME_DEP_KIND_DEBUG, NAME_DEP_NODE_DEBUG};
	struct wire_layout_current out;

	assert_null(mine_kinds(kinds, "a_debug", "a_parent", &out));
	assert_int_equal(out.offset, symbol(img, "current")->addr);
	assert_int_equal(out.context, 0x10);
	assert_non_null(mine_kinds(kinds, "a_debug", "b_parent", &out));
}

static void a_missing_function_is_named(void **state)
{
	assert_problem(NULL, "a_parent", "there is no rustc_interface::callbacks::def_id_debug");
	assert_problem("a_debug", NULL, "there is no rustc_interface::callbacks::track_span");
}

static void one_field_is_read_and_is_tested_before(void **state)
{
	assert_problem("b_table", "a_parent", "reads no context");
	assert_problem("debug.untested", "a_parent", "reads no context");
	assert_problem("debug.several", "a_parent", "reads several");
}

static void the_field_is_the_address_of_something_large(void **state)
{
	assert_problem("a_debug", "b_table", "reads nothing far");
	assert_problem("a_debug", "parent.near", "reads nothing far");
	assert_problem("a_debug", "parent.several", "finds several");
}

static void both_functions_find_the_same(void **state)
{
	assert_problem("a_debug", "b_parent", "find different contexts");
	assert_problem("a_debug", "parent.elsewhere", "find different contexts");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_code_shows_the_threads_context),
		cmocka_unit_test(older_functions_show_it_too),
		cmocka_unit_test(a_missing_function_is_named),
		cmocka_unit_test(one_field_is_read_and_is_tested_before),
		cmocka_unit_test(the_field_is_the_address_of_something_large),
		cmocka_unit_test(both_functions_find_the_same),
	};

	return cmocka_run_group_tests(tests, image_setup, image_teardown);
}
