// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "proc/command_line.h"

#include <limits.h>
#include <unistd.h>

#include "test.h"

static void assert_word(struct word word, const char *expected)
{
	if (!expected) {
		assert_null(word.at);
		return;
	}
	assert_int_equal(word.len, strlen(expected));
	assert_memory_equal(word.at, expected, word.len);
}

static void assert_emit(const char *line, const char *expected)
{
	assert_word(command_line__value(command_line_joined(line), "--emit"), expected);
}

static void an_option_has_its_first_value(void **state)
{
	assert_emit("rustc --emit a --emit=b", "a");
	assert_emit("rustc --emitter=x --emit=b", "b");
	assert_emit("rustc  --emit   a ", "a");
	assert_emit("rustc --emit", NULL);
	assert_emit("rustc", NULL);
	assert_emit(NULL, NULL);
}

static void words_are_whole_ones(void **state)
{
	assert_true(command_line__has(command_line_joined("rustc --test a.rs"), "--test"));
	assert_false(
		command_line__has(command_line_joined("rustc --tests --cfg=--test"), "--test"));
	assert_false(command_line__has(command_line_joined(NULL), "--test"));
}

static void a_source_file_is_no_option(void **state)
{
	assert_word(command_line__source(
			    command_line_joined("rustc --crate-name a -ox.rs src/lib.rs b.rs")),
		    "src/lib.rs");
	assert_word(command_line__source(command_line_joined("rustc .rs -")), NULL);
	assert_word(command_line__source(command_line_joined(NULL)), NULL);
}

static void a_path_has_a_last_component(void **state)
{
	assert_word(word__last_component((struct word){"/a/bc", 5}), "bc");
	assert_word(word__last_component((struct word){"/a/bc", 3}), "");
	assert_word(word__last_component((struct word){"bc", 2}), "bc");
	assert_word(word__last_component((struct word){0}), NULL);
	assert_true(word__is((struct word){"bcd", 2}, "bc"));
	assert_false(word__is((struct word){"bcd", 2}, "bcd"));
	assert_true(word__is((struct word){0}, ""));
	assert_false(word__contains((struct word){0}, "b"));
}

static void a_path_has_a_directory(void **state)
{
	assert_word(word__directory((struct word){"/a/b.rs", 7}), "/a");
	assert_word(word__directory((struct word){"/a", 2}), "");
	assert_word(word__directory((struct word){"b.rs", 4}), "");
	assert_int_equal(word__directory((struct word){0}).len, 0);
}

static void a_codegen_option_has_a_value(void **state)
{
	static const char text[] = "rustc -C opt-level=3 -Cextra-filename=-1f -C extra-filename=-2";
	const struct command_line line = command_line_joined(text);

	assert_word(command_line__codegen(line, "opt-level"), "3");
	assert_word(command_line__codegen(line, "extra-filename"), "-1f");
	assert_word(command_line__codegen(command_line_joined("-C a="), "a"), "");
	assert_null(command_line__codegen(line, "extra").at);
	assert_null(command_line__codegen(line, "metadata").at);
}

static void raw_arguments_may_be_empty_and_hold_spaces(void **state)
{
	static const char args[] = "rustc\0\0--cfg\0a b\0--emit=c d";
	static const char *const words[] = {"rustc", "", "--cfg", "a b", "--emit=c d", NULL, NULL};
	struct command_line rest = command_line_raw(args, sizeof(args) - 1);

	assert_word(command_line__value(rest, "--cfg"), "a b");
	assert_word(command_line__value(rest, "--emit"), "c d");
	for (size_t i = 0; i < N_OF(words); i++)
		assert_word(command_line__next(&rest), words[i]);
}

static bool may_ask(const char *args, size_t size, bool truncated)
{
	return command_line__may_contain(command_line_raw(args, size), "threads=", truncated);
}

static void a_command_line_may_contain_a_text(void **state)
{
	assert_false(may_ask("rustc\0a.rs", 11, false));
	assert_true(may_ask("rustc\0-Zthreads=2\0", 18, false));
	assert_true(may_ask("rustc\0-Z\0threads=2", 18, false));
	assert_true(may_ask("rustc\0@args\0-Zthreads=2", 24, false));
}

static void hidden_arguments_may_contain_it(void **state)
{
	assert_true(may_ask("rustc\0@args", 11, true));
	assert_true(may_ask("rustc\0a.rs", 11, true));
	assert_true(may_ask("", 0, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_option_has_its_first_value),
		cmocka_unit_test(words_are_whole_ones),
		cmocka_unit_test(a_source_file_is_no_option),
		cmocka_unit_test(a_path_has_a_last_component),
		cmocka_unit_test(a_path_has_a_directory),
		cmocka_unit_test(a_codegen_option_has_a_value),
		cmocka_unit_test(raw_arguments_may_be_empty_and_hold_spaces),
		cmocka_unit_test(a_command_line_may_contain_a_text),
		cmocka_unit_test(hidden_arguments_may_contain_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
