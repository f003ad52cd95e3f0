// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/record.h"
#include "decode/library.h"
#include "decode/arguments.h"

#include "test.h"
#include "decode/command.h"

#define _library_	  __cleanup(library__clear)
#define _guard_arguments_ __cleanup(guard_arguments__clear)

TEST_CASE(it_copies_its_input)
{
	uint32_t labels[] = {7, 8}, guards[] = {9};
	char build_id[] = "abcd";
	struct library lib = {0};

	must(library__set(&lib, labels, 2, build_id, NULL), library__set_guards(&lib, guards, 1));
	labels[1] = guards[0] = 0;
	build_id[0] = 'x';
	assert_struct(lib, n_labels, 2, labels[1], 8, guards[0], 9, build_id, "abcd", rustc_version,
		      NULL);
	library__clear(&lib);
	assert_int_equal(lib.n_labels, 0);
}

TEST_CASE(a_second_record_replaces_the_first)
{
	const uint32_t label = 7;
	_library_ struct library lib = {0};

	must(library__set(&lib, &label, 1, "a", "1"), library__set(&lib, &label, 0, NULL, NULL));
	assert_struct(lib, n_labels, 0, build_id, NULL);
}

TEST_CASE(a_process_gets_copies)
{
	struct trace_process p = {.build_id = strdup("old")};
	struct library lib = {0};

	must(library__set(&lib, NULL, 0, "a", "1"), library__describe(&lib, &p));
	library__clear(&lib);
	assert_struct(p, build_id, "a", rustc_version, "1");
	free(p.build_id);
	free(p.rustc_version);
}

TEST_CASE(keys_and_layout_are_copied)
{
	const uint32_t labels[] = {7, 8};
	uint8_t keys[] = {WIRE_KEY_UNIT, WIRE_KEY_DEF};
	struct plan_layout layout = {.parent = 12, .problem = (char *)"no root"};
	struct library lib = {0};

	assert_int_equal(library__set(&lib, labels, 2, NULL, NULL), 0);
	assert_null(lib.keys);
	assert_int_equal(library__set_keys(&lib, keys, &layout), 0);
	keys[1] = WIRE_KEY_UNKNOWN;
	layout.parent = 0;
	assert_struct(lib, keys[0], WIRE_KEY_UNIT, keys[1], WIRE_KEY_DEF);
	assert_int_equal(lib.layout.parent, 12);
	/* The text is the plan's, which may be freed. */
	assert_null(lib.layout.problem);
	assert_int_equal(library__set_keys(&lib, keys, &layout), 0);
	assert_int_equal(lib.keys[1], WIRE_KEY_UNKNOWN);
	/* Another library has none until they are set. */
	assert_int_equal(library__set(&lib, labels, 1, NULL, NULL), 0);
	assert_struct(lib, keys, NULL, layout.wire.size, 0);
	library__clear(&lib);
	assert_null(lib.keys);
}

/* ---- Command --------------------------------------------------------------------------------- */

/* The last command; the next one takes its place. */
static struct command c;

static int forget(void **state)
{
	return 0;
}
#define COMMAND_CASE(name) TEST_CASE_WITH(name, NULL, forget)

static void parse(const char *args, size_t size, bool cut)
{
	command__clear(&c);
	assert_int_equal(command__parse(&c, args, size, cut), 0);
}
#define PARSE(args) parse(args, sizeof(args) - 1, false)

COMMAND_CASE(cargos_rustc_is_understood)
{
	PARSE("/usr/bin/rustc\0--crate-name\0regex_syntax\0src/lib.rs\0--crate-type\0lib\0-g\0");
	assert_struct(c, is_compiler, true, crate, "regex_syntax", crate_type, "lib", line,
		      "/usr/bin/rustc --crate-name regex_syntax src/lib.rs --crate-type lib -g");
}

COMMAND_CASE(values_may_be_in_the_same_argument)
{
	PARSE("rustdoc\0--crate-name=a\0--crate-type=lib\0--crate-type\0cdylib,rlib");
	assert_struct(c, is_compiler, true, crate, "a", crate_type, "lib,cdylib,rlib");
}

COMMAND_CASE(only_the_last_part_of_the_path_names_a_compiler)
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
		parse(cases[i].arg0, strlen(cases[i].arg0) + 1, false);
		if (c.is_compiler != cases[i].is_compiler)
			fail_msg("%s", cases[i].arg0);
	}
}

COMMAND_CASE(options_that_say_nothing_are_passed_over)
{
	PARSE("rustc\0@args\0--crate-names\0x\0--crate-nam\0--\0--crate-name\0late\0");
	assert_null(c.crate);
	PARSE("rustc\0--crate-name\0");
	assert_null(c.crate);
	PARSE("cc\0--crate-name\0no_rust\0");
	assert_struct(c, crate, NULL, line, "cc --crate-name no_rust");
}

COMMAND_CASE(a_crate_without_a_name_has_its_files)
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
		parse(cases[i].args, cases[i].size, false);
		if (cases[i].crate)
			assert_string_equal(c.crate ?: "(none)", cases[i].crate);
		else
			assert_null(c.crate);
	}
}

COMMAND_CASE(a_name_may_be_in_what_was_cut)
{
	static const char args[] = "rustc\0a.rs\0--crate-na";

	parse(args, sizeof(args) - 1, true);
	assert_null(c.crate);
	/* The file may hold it. */
	parse("rustc\0@args\0a.rs", 16, true);
	assert_struct(c, crate, NULL, line, "rustc @args a.rs ...");
}

COMMAND_CASE(no_arguments_are_no_command)
{
	parse(NULL, 0, false);
	assert_struct(c, line, NULL, is_compiler, false);
}

COMMAND_CASE(a_truncated_command_is_marked)
{
	_free_ char *args = calloc(1, COMMAND_MAX + 100);

	parse("rustc\0--crate-na", 16, true);
	assert_string_equal(c.line, "rustc --crate-na ...");
	memset(args, 'x', COMMAND_MAX + 100);
	parse(args, COMMAND_MAX + 100, false);
	assert_int_equal(strlen(c.line), COMMAND_MAX + 4);
}

/* ---- Arguments ------------------------------------------------------------------------------- */

#define BYTES_AT offsetof(struct wire_argument, bytes)

static char last[WIRE_ARGUMENT_MAX + 64];

static int note_text(void *ctx, const char *text, uint32_t *id)
{
	(void)ctx;
	snprintf(last, sizeof(last), "%s", text);
	*id = (uint32_t)strlen(text);
	return 0;
}

static const struct decoder_sink sink = {.text = note_text};

static struct wire_argument argument(uint64_t number, const char *text)
{
	struct wire_argument r = {
		.type = WIRE_ARGUMENT, .argument = number, .size = (uint32_t)strlen(text)};

	memcpy(r.bytes, text, r.size);
	return r;
}

static int record(struct guard_arguments *a, const struct wire_argument *r)
{
	return guard_arguments__record(a, &sink, r);
}

static const char *text_of(const struct wire_argument *r)
{
	struct guard_arguments a = {0};

	assert_int_equal(record(&a, r), 0);
	assert_int_equal(guard_arguments__at(&a, r->argument)->string, strlen(last) + 1);
	guard_arguments__clear(&a);
	return last;
}

static int note_none(void *ctx, const char *text, uint32_t *id)
{
	*id = TRACE_NO_STRING;
	return 0;
}

TEST_CASE(without_room_in_the_trace_it_is_not_known)
{
	const struct decoder_sink full = {.text = note_none};
	struct wire_argument core = argument(7, "core");
	_guard_arguments_ struct guard_arguments a = {0};

	assert_int_equal(guard_arguments__record(&a, &full, &core), 0);
	assert_null(guard_arguments__at(&a, 7));
	assert_null(guard_arguments__text(&a, 7));
	assert_int_equal(a.texts.size, 0);
}

TEST_CASE(a_number_has_the_string_of_its_text)
{
	struct wire_argument core = argument(7, "core"), std = argument(9, "std");
	_guard_arguments_ struct guard_arguments a = {0};

	assert_null(guard_arguments__at(&a, 7));
	must(record(&a, &core), record(&a, &std));
	assert_int_equal(guard_arguments__at(&a, 7)->string, 5);
	assert_null(guard_arguments__at(&a, 8));
	assert_int_equal(guard_arguments__at(&a, 9)->string, 4);
	assert_null(guard_arguments__at(&a, 1u << 31));
}

/* Distinct texts have distinct strings here, as their lengths differ. */
TEST_CASE(texts_are_kept_once_and_up_to_a_limit)
{
	struct wire_argument core = argument(7, "core"), again = argument(8, "core");
	struct wire_argument std = argument(9, "std");
	_guard_arguments_ struct guard_arguments a = {0};

	assert_null(guard_arguments__text(&a, 7));
	assert_int_equal(record(&a, &core), 0);
	assert_string_equal(guard_arguments__text(&a, 7), "core");
	assert_int_equal(record(&a, &again), 0);
	assert_string_equal(guard_arguments__text(&a, 8), "core");
	assert_int_equal(a.texts.size, sizeof("core"));
	/* One byte too few is left. */
	while (a.texts.size < ARGUMENTS_TEXTS_MAX - 3)
		byte_buffer__bytes(&a.texts, "", 1);
	assert_int_equal(record(&a, &std), 0);
	assert_non_null(guard_arguments__at(&a, 9));
	assert_null(guard_arguments__text(&a, 9));
	assert_int_equal(a.texts.size, ARGUMENTS_TEXTS_MAX - 3);
	assert_string_equal(guard_arguments__text(&a, 7), "core");
	assert_null(guard_arguments__text(&a, 10));
}

TEST_CASE(a_number_follows_its_text_as_in_rustcs_profiles)
{
	struct wire_argument r = argument(1, "regex-cgu.0");

	r.value = WIRE_VALUE_NUMBER;
	r.number = 1466;
	assert_string_equal(text_of(&r), "regex-cgu.0\x1e"
					 "1466");
}

TEST_CASE(a_macro_is_described_as_rustc_does)
{
	struct wire_argument r = argument(1, "Debug");

	r.macro = WIRE_MACRO_DERIVE;
	assert_string_equal(text_of(&r), "#[derive(Debug)]");
	r.macro = WIRE_MACRO_ATTRIBUTE;
	assert_string_equal(text_of(&r), "#[Debug]");
	r.macro = WIRE_MACRO_BANG;
	assert_string_equal(text_of(&r), "Debug!");
	r.macro = WIRE_MACRO_QUOTED;
	assert_string_equal(text_of(&r), "\"Debug\"");
}

/* It is made into text when the tables of source files are there. */
TEST_CASE(a_place_in_the_source_is_kept)
{
	struct wire_argument r = argument(1, "Debug");
	_guard_arguments_ struct guard_arguments a = {0};

	r.macro = WIRE_MACRO_DERIVE;
	r.value = WIRE_VALUE_SPAN;
	r.number = 0x400000007;
	assert_int_equal(record(&a, &r), 0);
	assert_string_equal(last, "#[derive(Debug)]");
	assert_int_equal(guard_arguments__at(&a, 1)->span, 0x400000007);
}

TEST_CASE(a_cut_text_ends_in_dots)
{
	struct wire_argument r = argument(1, "long");

	r.cut = 3;
	assert_string_equal(text_of(&r), "long...");
}

TEST_CASE(a_text_ends_at_its_first_zero)
{
	struct wire_argument r = argument(1, "xyz");

	r.bytes[1] = '\0';
	assert_string_equal(text_of(&r), "x");
}

TEST_CASE(other_records_are_refused)
{
	struct wire_argument r = argument(1, "text");
	_guard_arguments_ struct guard_arguments a = {0};

	assert_int_equal(record_of(&r, BYTES_AT - 1).kind, RECORD_BAD);
	assert_int_equal(record_of(&r, BYTES_AT).kind, RECORD_BAD);
	assert_int_equal(record_of(&r, BYTES_AT + 5).kind, RECORD_BAD);
	assert_int_equal(record_of(&r, sizeof(r) + 1).kind, RECORD_BAD);
	r.macro = WIRE_MACRO_QUOTED + 1;
	assert_int_equal(record(&a, &r), -EBADMSG);
	r = argument(1, "text");
	r.value = WIRE_VALUE_SPAN + 1;
	assert_int_equal(record(&a, &r), -EBADMSG);
	/* A number that no recording reaches is not remembered. */
	r = argument(~0ull, "text");
	assert_int_equal(record(&a, &r), 0);
	assert_null(guard_arguments__at(&a, ~0ull));
}

TEST_MAIN(NULL, NULL)
