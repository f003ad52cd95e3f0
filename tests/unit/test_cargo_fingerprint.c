// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cargo/fingerprint.h"

#include "test.h"

/* A fingerprint as cargo 1.95 wrote it, with what a test has in other places. */
#define JSON(rustc, features, profile, deps, local, rustflags)                             \
	"{\"rustc\":" rustc ",\"features\":\"" features "\",\"declared_features\":\"[]\"," \
	"\"target\":12202435644614585293,\"profile\":" profile ",\"path\":14043173606327," \
	"\"deps\":[" deps "],\"local\":[" local "],\"rustflags\":[" rustflags "],"         \
	"\"config\":8247474407144887393,\"compile_kind\":0}"
#define DEP_INFO(dir) \
	"{\"CheckDepInfo\":{\"dep_info\":\"debug/.fingerprint/" dir "/dep\",\"checksum\":false}}"
#define LOG	 "[12291222773058448422,\"log\",false,10031469680652712901]"
#define OTHER	 "[12291222773058448422,\"log\",false,7]"
#define SERDE	 "[5,\"serde\",false,18446744073709551615]"
#define VAR(val) "{\"RerunIfEnvChanged\":{\"var\":\"CC\",\"val\":" val "}}"
#define WATCH(paths) \
	"{\"RerunIfChanged\":{\"output\":\"debug/build/a/output\",\"paths\":[" paths "]}}"
#define NEWEST(of) "{\"Precalculated\":\"" of "\"}"

static const char plain[] = JSON("7", "[]", "1", LOG, DEP_INFO("a-1"), "");

static struct fingerprint parsed(const char *json)
{
	struct fingerprint f;

	assert_int_equal(fingerprint__parse(&f, json, strlen(json)), 0);
	return f;
}

TEST_CASE(the_first_difference_is_the_reason)
{
	static const struct {
		const char *before, *after;
		bool differs;
		enum trace_rebuilt_reason reason;
		const char *detail;
	} rows[] = {
		{plain, plain, false, 0, ""},
		/* The directory of a unit has another name, and so have files in it. */
		{plain, JSON("7", "[]", "1", LOG, DEP_INFO("a-2"), ""), false, 0, ""},
		{plain, JSON("8", "[]", "2", LOG, DEP_INFO("a-1"), ""), true, TRACE_REBUILT_RUSTC,
		 ""},
		{plain, JSON("7", "[]", "2", LOG, DEP_INFO("a-1"), "\"-O\""), true,
		 TRACE_REBUILT_PROFILE, ""},
		{plain, JSON("7", "[]", "1", OTHER, DEP_INFO("a-1"), "\"-Clink-arg=],\\\"\""), true,
		 TRACE_REBUILT_FLAGS, ""},
		{plain, JSON("7", "[\\\"std\\\"]", "2", LOG, DEP_INFO("a-1"), ""), true,
		 TRACE_REBUILT_FEATURES, "+std"},
		{JSON("7", "[\\\"a\\\", \\\"b\\\"]", "1", LOG, DEP_INFO("a-1"), ""),
		 JSON("7", "[\\\"b\\\", \\\"c\\\"]", "1", LOG, DEP_INFO("a-1"), ""), true,
		 TRACE_REBUILT_FEATURES, "+c -a"},
		{plain, JSON("7", "[]", "1", OTHER, DEP_INFO("a-1"), ""), true,
		 TRACE_REBUILT_DEPENDENCY, ""},
		{plain, JSON("7", "[]", "1", OTHER "," SERDE, DEP_INFO("a-1"), ""), true,
		 TRACE_REBUILT_DEPENDENCIES, "+serde"},
		{plain, JSON("7", "[]", "1", "", DEP_INFO("a-1"), ""), true,
		 TRACE_REBUILT_DEPENDENCIES, "-log"},
		{JSON("7", "[]", "1", "", WATCH("\"a\"") "," VAR("null"), ""),
		 JSON("7", "[]", "1", "", WATCH("\"a\"") "," VAR("\"secret\""), ""), true,
		 TRACE_REBUILT_ENVIRONMENT, "CC"},
		{JSON("7", "[]", "1", "", WATCH("\"a\""), ""),
		 JSON("7", "[]", "1", "", WATCH("\"a\",\"b\""), ""), true,
		 TRACE_REBUILT_BUILD_SCRIPT, ""},
		{JSON("7", "[]", "1", "", WATCH("\"a\""), ""),
		 JSON("7", "[]", "1", "", WATCH("\"a\"") "," VAR("null"), ""), true,
		 TRACE_REBUILT_BUILD_SCRIPT, ""},
		{JSON("7", "[]", "1", "", NEWEST("17.5s (src/a.rs)"), ""),
		 JSON("7", "[]", "1", "", NEWEST("18.5s (src/b.rs)"), ""), true, TRACE_REBUILT_FILE,
		 "src/b.rs"},
		{JSON("7", "[]", "1", "", "{\"CheckDepInfo\":{\"checksum\":true}}", ""),
		 JSON("7", "[]", "1", "", DEP_INFO("a-1"), ""), true, TRACE_REBUILT_CONFIG, ""},
		{JSON("7", "[]", "1", "", NEWEST("17.5s (src/a.rs)"), ""),
		 JSON("7", "[]", "1", "", WATCH("\"a\""), ""), true, TRACE_REBUILT_BUILD_SCRIPT,
		 ""},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct fingerprint before = parsed(rows[i].before), after = parsed(rows[i].after);
		enum trace_rebuilt_reason reason = TRACE_REBUILT_UNKNOWN;
		char detail[FINGERPRINT_DETAIL_MAX];

		assert_int_equal(fingerprint__differs(&before, &after, &reason, detail),
				 rows[i].differs);
		if (!rows[i].differs)
			continue;
		assert_int_equal(reason, rows[i].reason);
		assert_string_equal(detail, rows[i].detail);
	}
}

TEST_CASE(fields_that_differ_are_counted)
{
	struct fingerprint a = parsed(plain);
	struct fingerprint b = parsed(JSON("8", "[]", "2", "", DEP_INFO("a-1"), "\"-O\""));

	assert_int_equal(fingerprint__distance(&a, &a), 0);
	assert_int_equal(fingerprint__distance(&a, &b), 3);
}

/* Of a later version: nothing can be said of it. */
TEST_CASE(another_form_is_refused)
{
	static const char *const texts[] = {
		"",
		"{}",
		"[]",
		"{\"rustc\":7}",
		"{\"rustc\":7,",
		"{\"rustc\"",
		"{\"rustc\":\"7",
		"{\"new\":1," JSON("7", "[]", "1", "", "", ""),
	};
	_Static_assert(sizeof(plain) > 40, "a text to be changed");
	struct fingerprint f;
	char changed[sizeof(plain) + 16];

	for (size_t i = 0; i < N_OF(texts); i++)
		assert_int_equal(fingerprint__parse(&f, texts[i], strlen(texts[i])), -EBADMSG);
	for (size_t size = 0; size + 1 < strlen(plain); size++)
		assert_int_equal(fingerprint__parse(&f, plain, size), -EBADMSG);
	snprintf(changed, sizeof(changed), "{\"more\":1,%s", plain + 1);
	assert_int_equal(fingerprint__parse(&f, changed, strlen(changed)), -EBADMSG);
	snprintf(changed, sizeof(changed), "{\"rustc\":\"\",%s", strchr(plain, ',') + 1);
	assert_int_equal(fingerprint__parse(&f, changed, strlen(changed)), -EBADMSG);
	snprintf(changed, sizeof(changed), "{\"rustc\":7,%s", plain + 1);
	assert_int_equal(fingerprint__parse(&f, changed, strlen(changed)), -EBADMSG);
}

static bool note_dep(void *ctx, uint64_t hash)
{
	return hash == *(uint64_t *)ctx;
}

TEST_CASE(dependencies_are_known_by_their_fingerprints)
{
	struct fingerprint f = parsed(JSON("7", "[]", "1", LOG "," SERDE, DEP_INFO("a-1"), ""));
	uint64_t hash = UINT64_MAX;

	assert_true(fingerprint__any_dep(&f, note_dep, &hash));
	hash = 10031469680652712901u;
	assert_true(fingerprint__any_dep(&f, note_dep, &hash));
	hash = 5;
	assert_false(fingerprint__any_dep(&f, note_dep, &hash));
}

TEST_CASE(watched_paths_are_listed)
{
	struct fingerprint f = parsed(
		JSON("7", "[]", "1", "", VAR("null") "," WATCH("\"a\",\"q\\\"\",\"b c\""), ""));
	struct word path;
	size_t at = 0;

	path = fingerprint__watched(&f, &at);
	assert_true(word__is(path, "a"));
	path = fingerprint__watched(&f, &at);
	assert_true(word__is(path, "b c"));
	assert_null(fingerprint__watched(&f, &at).at);
}

/* Two files, the second with a checksum, and two variables, the second without a value. */
static const uint8_t inputs[] = "\x01\0\0\0\xff\x01\x02\0\0\0"
				"\0\x0a\0\0\0src/lib.rs\0"
				"\x01\x05\0\0\0/x.rs\x01\x07\0\0\0\0\0\0\0\x03\0\0\0abc"
				"\x02\0\0\0\x02\0\0\0CC\x01\x03\0\0\0gcc\x01\0\0\0V";
#define INPUTS_SIZE (sizeof(inputs)) /* the last byte, 0, says that V has no value */

TEST_CASE(the_list_of_inputs_is_read)
{
	struct dep_info_entry e;
	struct dep_info d;

	assert_int_equal(dep_info__begin(&d, inputs, INPUTS_SIZE), 0);
	assert_int_equal(dep_info__next(&d, &e), 1);
	assert_true(word__is(e.name, "src/lib.rs") && e.in_package && !e.is_variable);
	assert_int_equal(dep_info__next(&d, &e), 1);
	assert_true(word__is(e.name, "/x.rs") && !e.in_package && !e.is_variable);
	assert_int_equal(dep_info__next(&d, &e), 1);
	assert_true(word__is(e.name, "CC") && e.is_variable && word__is(e.value, "gcc"));
	assert_int_equal(dep_info__next(&d, &e), 1);
	assert_true(word__is(e.name, "V") && e.is_variable && !e.value.at);
	assert_int_equal(dep_info__next(&d, &e), 0);
	assert_int_equal(dep_info__next(&d, &e), 0);
}

TEST_CASE(a_list_that_is_cut_is_malformed)
{
	for (size_t size = 0; size < INPUTS_SIZE; size++) {
		struct dep_info_entry e;
		struct dep_info d;
		int err = dep_info__begin(&d, inputs, size);

		for (int i = 0; !err && i < 5; i++)
			err = dep_info__next(&d, &e) < 0 ? -EBADMSG : 0;
		assert_int_equal(err, -EBADMSG);
	}
}

TEST_MAIN(NULL, NULL)
