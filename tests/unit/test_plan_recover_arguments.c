// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/arguments.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"

/* The assembled tests/fixtures/cold_sides.s: once with names for all functions. */
static struct elf_image *img, *named;
static struct recovered found, again;

static int setup(void **state)
{
	if (fixture_dir_setup(state) || image_of(fixture("cold_sides_unnamed.so"), &img) ||
	    image_of(fixture("cold_sides.so"), &named))
		return -1;
	return arguments__recover(img, &found) ?: arguments__recover(named, &again);
}

static int teardown(void **state)
{
	recovered__destroy(&found);
	recovered__destroy(&again);
	elf_image__free(img);
	elf_image__free(named);
	return fixture_dir_teardown(state);
}

/* The name that the function was given, or "". */
static const char *name_of(const char *function)
{
	for (uint32_t i = 0; i < found.n; i++)
		if (found.items[i].addr == symbol(img, function)->addr)
			return found.text + found.items[i].at;
	return "";
}

static void functions_are_told_by_what_is_passed_to_others(void **state)
{
	assert_non_null(strstr(name_of("expansion"), "11LocalExpnId9expn_data"));
	assert_non_null(strstr(name_of("expansion_text"), "7ExtCtxt15expansion_descr"));
	assert_non_null(strstr(name_of("record_span"), "20record_arg_with_span"));
	assert_non_null(strstr(name_of("number_text"), "3impj10__fmt_inner"));
}

static void each_has_one_name_and_others_have_none(void **state)
{
	assert_int_equal(found.n, 4);
	assert_string_equal(name_of("outside"), "");
	assert_string_equal(name_of("print_span"), "");
}

/* Cold sides are looked at all the same, and what they look up expansions with has its name. */
static void functions_with_names_get_the_same(void **state)
{
	assert_int_equal(again.n, 1);
	for (uint32_t i = 0; i < again.n; i++)
		assert_int_equal(again.items[i].addr, symbol(named, "expansion")->addr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_told_by_what_is_passed_to_others),
		cmocka_unit_test(each_has_one_name_and_others_have_none),
		cmocka_unit_test(functions_with_names_get_the_same),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
