// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/command.h"

#include "test.h"

#define PARSE(c, args) assert_int_equal(command__parse(c, args, sizeof(args) - 1, false), 0)

static void cargos_rustc_is_understood(void **state)
{
	struct command c;

	PARSE(&c,
	      "/usr/bin/rustc\0--crate-name\0regex_syntax\0src/lib.rs\0--crate-type\0lib\0-g\0");
	assert_true(c.is_compiler);
	assert_string_equal(c.crate, "regex_syntax");
	assert_string_equal(c.crate_type, "lib");
	assert_string_equal(c.line, "/usr/bin/rustc --crate-name regex_syntax src/lib.rs "
				    "--crate-type lib -g");
	command__clear(&c);
}

static void values_may_be_in_the_same_argument(void **state)
{
	struct command c;

	PARSE(&c, "rustdoc\0--crate-name=a\0--crate-type=lib\0--crate-type\0cdylib,rlib");
	assert_true(c.is_compiler);
	assert_string_equal(c.crate, "a");
	assert_string_equal(c.crate_type, "lib,cdylib,rlib");
	command__clear(&c);
}

static void only_the_last_part_of_the_path_names_a_compiler(void **state)
{
	static const struct {
		const char *arg0;
		bool is_compiler;
	} cases[] = {
		{"rustc", true},
		{"/a/b/rustc", true},
		{"clippy-driver", true},
		{"./rustdoc", true},
		{"cargo", false},
		{"cc", false},
		{"rustc/", false},
		{"/rustc/bin/cc", false},
		{"rustc-wrapper", false},
		{"my-rustc", false},
		{"", false},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct command c;

		assert_int_equal(
			command__parse(&c, cases[i].arg0, strlen(cases[i].arg0) + 1, false), 0);
		assert_int_equal(c.is_compiler, cases[i].is_compiler);
		command__clear(&c);
	}
}

static void options_that_say_nothing_are_passed_over(void **state)
{
	struct command c;

	PARSE(&c, "rustc\0@args\0--crate-names\0x\0--crate-nam\0--\0--crate-name\0late\0");
	assert_null(c.crate);
	command__clear(&c);
	PARSE(&c, "rustc\0--crate-name\0");
	assert_null(c.crate);
	command__clear(&c);
	PARSE(&c, "cc\0--crate-name\0no_rust\0");
	assert_null(c.crate);
	assert_string_equal(c.line, "cc --crate-name no_rust");
	command__clear(&c);
}

static void a_crate_without_a_name_has_its_files(void **state)
{
#define ARGS(text, crate)                     \
	{                                     \
		text, sizeof(text) - 1, crate \
	}
	static const struct {
		const char *args;
		size_t size;
		const char *crate;
	} cases[] = {
		ARGS("rustc\0hello.rs", "hello"),
		ARGS("rustc\0src/my-own-crate.rs\0-O", "my_own_crate"),
		ARGS("rustc\0-o\0out.rs\0-L\0lib.rs\0a.rs", "a"),
		ARGS("rustc\0-C\0opt-level=3\0--emit\0metadata\0--edition\0002021\0prog", "prog"),
		ARGS("rustc\0-A\0warnings\0--cfg\0x\0--extern\0a=b.rs\0-l\0z\0--target\0t\0m.rs",
		     "m"),
		ARGS("rustc\0-Copt-level=3\0--out-dir=x.rs\0--\0dir/a-b", "a_b"),
		ARGS("rustc\0a.rs\0--crate-name\0b", "b"),
		ARGS("rustc\0+nightly\0plain", "plain"),
		ARGS("clippy-driver\0/bin/rustc\0-vV", NULL),
		ARGS("clippy-driver\0rustc\0lint-me.rs", "lint_me"),
		ARGS("rustc\0-", NULL),
		ARGS("rustc\0-vV", NULL),
		ARGS("rustc\0--print\0cfg", NULL),
		ARGS("rustc\0one\0two", NULL),
		ARGS("rustc\0@args\0--crate-name\0b\0a.rs", "b"),
		ARGS("rustc\0@args\0a.rs", "a"),
		ARGS("rustc\0dir/", NULL),
		ARGS("rustc\0-o", NULL),
		ARGS("cc\0a.rs", NULL),
	};
#undef ARGS

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct command c;

		assert_int_equal(command__parse(&c, cases[i].args, cases[i].size, false), 0);
		if (cases[i].crate)
			assert_string_equal(c.crate ?: "(none)", cases[i].crate);
		else
			assert_null(c.crate);
		command__clear(&c);
	}
}

static void a_name_may_be_in_what_was_cut(void **state)
{
	static const char args[] = "rustc\0a.rs\0--crate-na";
	struct command c;

	assert_int_equal(command__parse(&c, args, sizeof(args) - 1, true), 0);
	assert_null(c.crate);
	command__clear(&c);
	/* The file may hold it. */
	assert_int_equal(command__parse(&c, "rustc\0@args\0a.rs", 16, true), 0);
	assert_null(c.crate);
	assert_string_equal(c.line, "rustc @args a.rs ...");
	command__clear(&c);
}

static void no_arguments_are_no_command(void **state)
{
	struct command c;

	assert_int_equal(command__parse(&c, NULL, 0, false), 0);
	assert_null(c.line);
	assert_false(c.is_compiler);
	command__clear(&c);
}

static void a_truncated_command_is_marked(void **state)
{
	_free_ char *args = calloc(1, COMMAND_MAX + 100);
	struct command c;

	assert_int_equal(command__parse(&c, "rustc\0--crate-na", 16, true), 0);
	assert_string_equal(c.line, "rustc --crate-na ...");
	command__clear(&c);
	memset(args, 'x', COMMAND_MAX + 100);
	assert_int_equal(command__parse(&c, args, COMMAND_MAX + 100, false), 0);
	assert_int_equal(strlen(c.line), COMMAND_MAX + 4);
	command__clear(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cargos_rustc_is_understood),
		cmocka_unit_test(values_may_be_in_the_same_argument),
		cmocka_unit_test(only_the_last_part_of_the_path_names_a_compiler),
		cmocka_unit_test(options_that_say_nothing_are_passed_over),
		cmocka_unit_test(a_crate_without_a_name_has_its_files),
		cmocka_unit_test(a_name_may_be_in_what_was_cut),
		cmocka_unit_test(no_arguments_are_no_command),
		cmocka_unit_test(a_truncated_command_is_marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
