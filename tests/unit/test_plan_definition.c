// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/definition.h"

#include "test.h"
#include "../fixtures/names.h"

static void fields_are_where_the_layout_says(void **state)
{
	const struct plan_layout l = names_layout();
	struct wire_piece r = names_piece(1, 0);
	struct definition d;

	names_row(&r, TAG_NAMED, 77, 3, 5);
	d = definition__read(&l, r.bytes);
	assert_int_equal(d.tag, TAG_NAMED);
	assert_int_equal(d.symbol, 77);
	assert_int_equal(d.disambiguator, 3);
	assert_int_equal(d.parent, 5);
	assert_int_equal(definition__symbol(&l, &d), 77);
	d.tag = WIRE_TAGS;
	assert_int_equal(definition__symbol(&l, &d), WIRE_TAG_UNKNOWN);
}

static void segments_are_as_rustc_prints_them(void **state)
{
	const struct plan_layout l = names_layout();
	struct definition named = {.tag = TAG_NAMED}, other = {.tag = TAG_ROOT};
	char out[DEFINITION_SEGMENT_MAX], long_text[WIRE_SYMBOL_MAX + 100];

	definition__segment(&l, &named, "visit", out);
	assert_string_equal(out, "visit");
	named.disambiguator = 4;
	definition__segment(&l, &named, "visit", out);
	assert_string_equal(out, "visit[4]");
	other.disambiguator = UINT32_MAX;
	definition__segment(&l, &other, "impl", out);
	assert_string_equal(out, "{{impl}}[4294967295]");
	memset(long_text, 'a', sizeof(long_text));
	long_text[sizeof(long_text) - 1] = '\0';
	definition__segment(&l, &other, long_text, out);
	assert_int_equal(strlen(out), WIRE_SYMBOL_MAX + strlen("{{}}[4294967295]"));
}

static void a_definition_may_have_no_name(void **state)
{
	struct plan_layout l = names_layout();
	struct definition d = {.tag = TAG_NAMED, .disambiguator = 2};
	char out[DEFINITION_SEGMENT_MAX];

	assert_int_equal(definition__symbol(&l, &d), 0);
	l.wire.unnamed = 78;
	l.wire.unnamed_tags = 1u << TAG_NAMED;
	assert_int_equal(definition__symbol(&l, &d), 78);
	definition__segment(&l, &d, "synthetic", out);
	assert_string_equal(out, "{{synthetic}}[2]");
	d.symbol = 77;
	assert_int_equal(definition__symbol(&l, &d), 77);
	definition__segment(&l, &d, "visit", out);
	assert_string_equal(out, "visit[2]");
	d.symbol = 0;
	d.tag = WIRE_TAGS;
	assert_int_equal(definition__symbol(&l, &d), WIRE_TAG_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_where_the_layout_says),
		cmocka_unit_test(segments_are_as_rustc_prints_them),
		cmocka_unit_test(a_definition_may_have_no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
