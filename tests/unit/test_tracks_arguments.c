// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/arguments.h"

#include <errno.h>
#include <stddef.h>

#include "test.h"

#define BYTES_AT offsetof(struct wire_argument, bytes)

static char last[WIRE_ARGUMENT_MAX + 64];

static int note_text(void *ctx, const char *text, uint32_t *id)
{
	(void)ctx;
	snprintf(last, sizeof(last), "%s", text);
	*id = (uint32_t)strlen(text);
	return 0;
}

static const struct tracks_sink sink = {.text = note_text};

static struct wire_argument argument(uint64_t number, const char *text)
{
	struct wire_argument r = {
		.type = WIRE_ARGUMENT, .argument = number, .size = (uint32_t)strlen(text)};

	memcpy(r.bytes, text, r.size);
	return r;
}

static int record(struct arguments *a, const struct wire_argument *r)
{
	return arguments__record(a, &sink, r, BYTES_AT + r->size);
}

static const char *text_of(const struct wire_argument *r)
{
	struct arguments a = {0};

	assert_int_equal(record(&a, r), 0);
	assert_int_equal(arguments__at(&a, r->argument)->string, strlen(last) + 1);
	arguments__clear(&a);
	return last;
}

static int note_none(void *ctx, const char *text, uint32_t *id)
{
	*id = TRACE_NO_STRING;
	return 0;
}

static void without_room_in_the_trace_it_is_not_known(void **state)
{
	const struct tracks_sink full = {.text = note_none};
	struct wire_argument core = argument(7, "core");
	struct arguments a = {0};

	assert_int_equal(arguments__record(&a, &full, &core, BYTES_AT + core.size), 0);
	assert_null(arguments__at(&a, 7));
	assert_null(arguments__text(&a, 7));
	assert_int_equal(a.texts.size, 0);
	arguments__clear(&a);
}

static void a_number_has_the_string_of_its_text(void **state)
{
	struct wire_argument core = argument(7, "core"), std = argument(9, "std");
	struct arguments a = {0};

	assert_null(arguments__at(&a, 7));
	assert_int_equal(record(&a, &core), 0);
	assert_int_equal(record(&a, &std), 0);
	assert_int_equal(arguments__at(&a, 7)->string, 5);
	assert_null(arguments__at(&a, 8));
	assert_int_equal(arguments__at(&a, 9)->string, 4);
	assert_null(arguments__at(&a, 1u << 31));
	arguments__clear(&a);
}

/* Distinct texts have distinct strings here, as their lengths differ. */
static void texts_are_kept_once_and_up_to_a_limit(void **state)
{
	struct wire_argument core = argument(7, "core"), again = argument(8, "core");
	struct wire_argument std = argument(9, "std");
	struct arguments a = {0};

	assert_null(arguments__text(&a, 7));
	assert_int_equal(record(&a, &core), 0);
	assert_string_equal(arguments__text(&a, 7), "core");
	assert_int_equal(record(&a, &again), 0);
	assert_string_equal(arguments__text(&a, 8), "core");
	assert_int_equal(a.texts.size, sizeof("core"));
	/* One byte too few is left. */
	while (a.texts.size < ARGUMENTS_TEXTS_MAX - 3)
		byte_buffer__bytes(&a.texts, "", 1);
	assert_int_equal(record(&a, &std), 0);
	assert_non_null(arguments__at(&a, 9));
	assert_null(arguments__text(&a, 9));
	assert_int_equal(a.texts.size, ARGUMENTS_TEXTS_MAX - 3);
	assert_string_equal(arguments__text(&a, 7), "core");
	assert_null(arguments__text(&a, 10));
	arguments__clear(&a);
}

static void a_number_follows_its_text_as_in_rustcs_profiles(void **state)
{
	struct wire_argument r = argument(1, "regex-cgu.0");

	r.value = WIRE_VALUE_NUMBER;
	r.number = 1466;
	assert_string_equal(text_of(&r), "regex-cgu.0\x1e"
					 "1466");
}

static void a_macro_is_described_as_rustc_does(void **state)
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
static void a_place_in_the_source_is_kept(void **state)
{
	struct wire_argument r = argument(1, "Debug");
	struct arguments a = {0};

	r.macro = WIRE_MACRO_DERIVE;
	r.value = WIRE_VALUE_SPAN;
	r.number = 0x400000007;
	assert_int_equal(record(&a, &r), 0);
	assert_string_equal(last, "#[derive(Debug)]");
	assert_int_equal(arguments__at(&a, 1)->span, 0x400000007);
	arguments__clear(&a);
}

static void a_cut_text_ends_in_dots(void **state)
{
	struct wire_argument r = argument(1, "long");

	r.cut = 3;
	assert_string_equal(text_of(&r), "long...");
}

static void a_text_ends_at_its_first_zero(void **state)
{
	struct wire_argument r = argument(1, "xyz");

	r.bytes[1] = '\0';
	assert_string_equal(text_of(&r), "x");
}

static void other_records_are_refused(void **state)
{
	struct wire_argument r = argument(1, "text");
	struct arguments a = {0};

	assert_int_equal(arguments__record(&a, &sink, &r, BYTES_AT - 1), -EBADMSG);
	assert_int_equal(arguments__record(&a, &sink, &r, BYTES_AT), -EBADMSG);
	assert_int_equal(arguments__record(&a, &sink, &r, BYTES_AT + 5), -EBADMSG);
	assert_int_equal(arguments__record(&a, &sink, &r, sizeof(r) + 1), -EBADMSG);
	r.macro = WIRE_MACRO_QUOTED + 1;
	assert_int_equal(record(&a, &r), -EBADMSG);
	r = argument(1, "text");
	r.value = WIRE_VALUE_SPAN + 1;
	assert_int_equal(record(&a, &r), -EBADMSG);
	/* A number that no recording reaches is not remembered. */
	r = argument(~0ull, "text");
	assert_int_equal(record(&a, &r), 0);
	assert_null(arguments__at(&a, ~0ull));
	arguments__clear(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_has_the_string_of_its_text),
		cmocka_unit_test(without_room_in_the_trace_it_is_not_known),
		cmocka_unit_test(texts_are_kept_once_and_up_to_a_limit),
		cmocka_unit_test(a_number_follows_its_text_as_in_rustcs_profiles),
		cmocka_unit_test(a_macro_is_described_as_rustc_does),
		cmocka_unit_test(a_place_in_the_source_is_kept),
		cmocka_unit_test(a_cut_text_ends_in_dots),
		cmocka_unit_test(a_text_ends_at_its_first_zero),
		cmocka_unit_test(other_records_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
