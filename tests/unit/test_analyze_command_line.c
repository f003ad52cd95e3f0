// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/command_line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void assert_word(struct word word, const char *expected)
{
	if (!expected) {
		assert_null(word.at);
		return;
	}
	assert_int_equal(word.len, strlen(expected));
	assert_memory_equal(word.at, expected, word.len);
}

static void an_option_has_its_first_value(void **state)
{
	(void)state;
	assert_word(command_line__value("rustc --emit a --emit=b", "--emit"), "a");
	assert_word(command_line__value("rustc --emitter=x --emit=b", "--emit"), "b");
	assert_word(command_line__value("rustc  --emit   a ", "--emit"), "a");
	assert_word(command_line__value("rustc --emit", "--emit"), NULL);
	assert_word(command_line__value("rustc", "--emit"), NULL);
	assert_word(command_line__value(NULL, "--emit"), NULL);
}

static void words_are_whole_ones(void **state)
{
	(void)state;
	assert_true(command_line__has("rustc --test a.rs", "--test"));
	assert_false(command_line__has("rustc --tests --cfg=--test", "--test"));
	assert_false(command_line__has(NULL, "--test"));
}

static void a_source_file_is_no_option(void **state)
{
	(void)state;
	assert_word(command_line__source("rustc --crate-name a -ox.rs src/lib.rs b.rs"),
		    "src/lib.rs");
	assert_word(command_line__source("rustc .rs -"), NULL);
	assert_word(command_line__source(NULL), NULL);
}

static void a_path_has_a_last_component(void **state)
{
	(void)state;
	assert_word(word__last_component((struct word){"/a/bc", 5}), "bc");
	assert_word(word__last_component((struct word){"/a/bc", 3}), "");
	assert_word(word__last_component((struct word){"bc", 2}), "bc");
	assert_word(word__last_component((struct word){0}), NULL);
	assert_true(word__is((struct word){"bcd", 2}, "bc"));
	assert_false(word__is((struct word){"bcd", 2}, "bcd"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_option_has_its_first_value),
		cmocka_unit_test(words_are_whole_ones),
		cmocka_unit_test(a_source_file_is_no_option),
		cmocka_unit_test(a_path_has_a_last_component),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
