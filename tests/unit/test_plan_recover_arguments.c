// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/arguments.h"
#include "plan/symbols/names.h"

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

/* ---- Recover readers ------------------------------------------------------------------------- */

/* The assembled tests/fixtures/readers.s. */
static struct elf_image *img;
static struct bounds bounds;
static struct recovered readers_found;

static int open_readers(const char *name)
{
	return image_of(fixture(name), &img) ?: bounds__find(img, &bounds)
						     ?: readers__recover(img, &bounds, &readers_found);
}

static void close_readers(void)
{
	recovered__destroy(&readers_found);
	bounds__destroy(&bounds);
	elf_image__free(img);
	img = NULL;
	bounds = (struct bounds){0};
	readers_found = (struct recovered){0};
}

static int readers_setup(void **state)
{
	return fixture_dir_setup(state) || open_readers("readers.so") ? -1 : 0;
}

static int readers_teardown(void **state)
{
	close_readers();
	return fixture_dir_teardown(state);
}

/* The kind of the name that the function was given; NAME_OTHER: none. */
static enum name_kind kind_of(const char *function)
{
	struct name_info info = {.kind = NAME_OTHER};

	for (uint32_t i = 0; i < readers_found.n; i++)
		if (readers_found.items[i].addr == symbol(img, function)->addr)
			name_classify(readers_found.text + readers_found.items[i].at, &info);
	return info.kind;
}

static void the_drop_of_the_context_is_found(void **state)
{
	assert_int_equal(kind_of("drop"), NAME_DROP_CONTEXT);
	assert_int_equal(kind_of("near"), NAME_OTHER);
	assert_int_equal(kind_of("amid"), NAME_OTHER);
	assert_int_equal(kind_of("reads_few"), NAME_OTHER);
	assert_int_equal(kind_of("no_state"), NAME_OTHER);
}

/* Before 1.86 the state of a context that is there was 3. */
static void an_older_drop_is_found(void **state)
{
	close_readers();
	assert_int_equal(open_readers("readers_before.so"), 0);
	assert_int_equal(kind_of("drop"), NAME_DROP_CONTEXT);
	assert_int_equal(kind_of("no_state"), NAME_OTHER);
}

static void functions_that_unpack_spans_are_found(void **state)
{
	assert_int_equal(kind_of("span"), NAME_SPAN_DATA);
	assert_int_equal(kind_of("span_elsewhere"), NAME_SPAN_DATA);
	assert_int_equal(kind_of("span_lost"), NAME_OTHER);
	assert_int_equal(readers_found.n, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_told_by_what_is_passed_to_others),
		cmocka_unit_test(each_has_one_name_and_others_have_none),
		cmocka_unit_test(functions_with_names_get_the_same),
	};
	const struct CMUnitTest readers_tests[] = {
		cmocka_unit_test(the_drop_of_the_context_is_found),
		cmocka_unit_test(functions_that_unpack_spans_are_found),
		cmocka_unit_test(an_older_drop_is_found),
	};

	return cmocka_run_group_tests(tests, setup, teardown) +
	       cmocka_run_group_tests(readers_tests, readers_setup, readers_teardown);
}
