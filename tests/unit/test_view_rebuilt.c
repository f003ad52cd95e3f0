// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/rebuilt.h"

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_build.h"

enum { LOW, DEP, APP, SYN, ODD, SCRIPT, LIB_RS, ADDED, TEST, ABSOLUTE };

static const char *text_of(const void *ctx, uint32_t id)
{
	static const char *const texts[] = {
		"low",	      "dep",
		"app (bin)",  "syn",
		"o\033dd",    "dep (build script run)",
		"src/lib.rs", "+std -a_feature_of_a_long_name +another_feature_of_a_long_name",
		"low (test)", "/etc/os-release",
	};

	return texts[id];
}

static const struct trace_texts texts = {.text = text_of};

static const struct trace_rebuilt rows[] = {
	{LOW, LIB_RS, TRACE_REBUILT_FILE},
	{SCRIPT, LIB_RS, TRACE_REBUILT_MISSING},
	{ODD, ADDED, TRACE_REBUILT_FEATURES},
	{ODD, TRACE_NO_STRING, TRACE_REBUILT_PROFILE},
	{TEST, LIB_RS, TRACE_REBUILT_FILE},
	{DEP, TRACE_NO_STRING, TRACE_REBUILT_DEPENDENCY},
	{APP, TRACE_NO_STRING, TRACE_REBUILT_DEPENDENCY},
	{SYN, TRACE_NO_STRING, TRACE_REBUILT_DEPENDENCY},
	{ODD, TRACE_NO_STRING, TRACE_REBUILT_DEPENDENCY},
	{LOW, TRACE_NO_STRING, TRACE_REBUILT_DEPENDENCY},
};

static struct build_view view_of(struct sample_build *s, uint32_t n)
{
	struct build_view v = sample_build__make(s);

	v.names = &texts;
	v.rebuilt = rows;
	v.n_rebuilt = n;
	return v;
}

static char *printed_lines(const struct build_view *v)
{
	size_t lines, expected = 0;
	char *text = printed_text(rebuilt_text(out, v, &lines));

	for (const char *at = text; *at; at++)
		expected += *at == '\n';
	assert_int_equal(lines, expected);
	return text;
}

TEST_CASE(crates_of_one_reason_are_together)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = view_of(&s, N_OF(rows));

	assert_shows(
		printed_lines(&v),
		"=rebuilt   low, low (test): src/lib.rs changed\n"
		"          dep (build script run): watches src/lib.rs, which is missing, so it\n"
		"          runs each time\n"
		"          o?dd: other features: +std -a_feature_of_a_long_name\n"
		"          +another_feature_of_a_long_name\n"
		"          6 more: report --full\n");
	v.full = true;
	assert_shows(printed_lines(&v),
		     "\n          o?dd: other settings of the profile, or another command "
		     "(such as cargo\n"
		     "          test)\n"
		     "          dep, app (bin), syn, o?dd, low: a dependency");
}

TEST_CASE(many_crates_of_one_reason_are_counted)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = view_of(&s, N_OF(rows));

	v.rebuilt += 5;
	v.n_rebuilt -= 5;
	assert_shows(printed_lines(&v), "rebuilt   dep, app (bin), syn and 2 more: a dependency");
}

/* Each package has its own src/lib.rs. */
TEST_CASE(files_of_different_packages_are_not_one)
{
	static const struct trace_rebuilt files[] = {
		{LOW, LIB_RS, TRACE_REBUILT_FILE},   {DEP, LIB_RS, TRACE_REBUILT_FILE},
		{TEST, LIB_RS, TRACE_REBUILT_FILE},  {DEP, ABSOLUTE, TRACE_REBUILT_FILE},
		{APP, ABSOLUTE, TRACE_REBUILT_FILE},
	};
	_sample_build_ struct sample_build s = {};
	struct build_view v = view_of(&s, N_OF(files));

	v.rebuilt = files;
	assert_shows(printed_lines(&v), "=rebuilt   low, low (test): src/lib.rs changed\n"
					"          dep: src/lib.rs changed\n"
					"          dep, app (bin): /etc/os-release changed\n");
}

TEST_CASE(nothing_is_said_without_any)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = view_of(&s, 0);
	_free_ char *markdown = printed_build(rebuilt_markdown, &v);
	_free_ char *json = printed_columns(rebuilt_columns, &v);

	assert_shows(printed_lines(&v), "=");
	assert_string_equal(markdown, "");
	assert_lacks(json, "rebuilt");
}

TEST_CASE(the_head_of_a_report_has_them)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	struct trace_rebuilt again[] = {{SB_TYPECK, TRACE_NO_STRING, TRACE_REBUILT_PROFILE},
					{SB_ITEM, TRACE_NO_STRING, TRACE_REBUILT_CONFIG}};
	_free_ char *without = printed_build(build_text, &v);

	v.rebuilt = again;
	v.n_rebuilt = 2;
	assert_shows(
		printed_build(build_text, &v),
		"\nrebuilt   typeck: other settings of the profile, or another command (such as\n"
		"          cargo test)\n"
		"          app::parse::{{impl}}[2]::expression: cargo's");
	assert_lacks(without, "rebuilt");
}

TEST_CASE(markdown_is_a_list)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = view_of(&s, 2);

	assert_shows(printed_build(rebuilt_markdown, &v),
		     "=- built again:\n"
		     "  - `low: src/lib.rs changed`\n"
		     "  - `dep (build script run): watches src/lib.rs, which is missing, so it "
		     "runs each time`\n");
}

TEST_CASE(json_has_a_row_for_each)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = view_of(&s, 4);

	assert_shows(
		printed_columns(rebuilt_columns, &v),
		"\"rebuilt\":[\n{\"crate\":\"low\",\"reason\":\"file\",\"detail\":\"src/lib.rs\"}",
		"\"reason\":\"profile\",\"detail\":null}]");
}

TEST_MAIN(NULL, NULL)
