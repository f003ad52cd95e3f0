// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "base/format.h"
#include "view/item_text.h"

static void assert_text(size_t columns, const char *name, const char *item, const char *want)
{
	char buf[ITEM_TEXT_MAX];

	item_text(buf, columns, name, item);
	assert_string_equal(buf, want);
}

static void what_fits_is_whole(void **state)
{
	assert_text(SIZE_MAX, "typeck", "a::b", "typeck(a::b)");
	assert_text(12, "typeck", "a::b", "typeck(a::b)");
	assert_text(80, "expand_crate", NULL, "expand_crate");
	assert_text(80, "expand_crate", "", "expand_crate");
	assert_text(80, "codegen_module",
		    "app-cgu.0\x1e"
		    "12",
		    "codegen_module(app-cgu.0, 12)");
}

static void a_path_keeps_its_end(void **state)
{
	assert_text(22, "typeck", "regex_syntax::ast::parse", "typeck(..::ast::parse)");
	assert_text(22, "eval_to_allocation_raw", "a::one::planted", "eval_t..(..e::planted)");
	/* A long name of what has a short path. */
	assert_text(24, "eval_to_allocation_raw", "a::b", "eval_t..(a::b)");
}

static void little_room_has_the_name(void **state)
{
	assert_text(10, "typeck", "regex_syntax::ast::parse", "typeck(r..");
	assert_text(4, "expand_crate", NULL, "ex..");
	assert_text(0, "typeck", "a", "");
}

static void any_text_is_clean_and_limited(void **state)
{
	char path[1001] = "", buf[ITEM_TEXT_MAX];

	assert_text(30, "a(", "b\n", "a((b?)");
	/* Three bytes each, two columns. */
	while (strlen(path) + 3 < sizeof(path))
		strcat(path, "\u5b57");
	for (size_t columns = 0; columns < 200; columns++) {
		item_text(buf, columns, "typeck", path);
		assert_true(format_width(buf) <= columns);
		assert_true(strlen(buf) < ITEM_TEXT_MAX);
	}
}

static void a_place_keeps_its_end(void **state)
{
	static const struct {
		const char *text;
		size_t columns;
		const char *want;
	} cases[] = {
		{"src/lib.rs:12", 13, "src/lib.rs:12"},
		{"src/lib.rs:12", 12, "../lib.rs:12"},
		{"src/lib.rs:12", 4, "..12"},
		{"src/lib.rs:12", 2, "src/lib.rs:12"},
		{"", 0, ""},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		char text[ITEM_TEXT_MAX];

		strcpy(text, cases[i].text);
		item_text__cut_start(text, cases[i].columns);
		assert_string_equal(text, cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_place_keeps_its_end),
		cmocka_unit_test(what_fits_is_whole),
		cmocka_unit_test(a_path_keeps_its_end),
		cmocka_unit_test(little_room_has_the_name),
		cmocka_unit_test(any_text_is_clean_and_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
