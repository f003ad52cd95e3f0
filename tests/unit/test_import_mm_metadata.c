// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "import/mm_metadata.h"

#include "test.h"
#include "../fixtures/random.h"

static struct mm_metadata parse(const char *text)
{
	struct mm_metadata m;

	assert_int_equal(mm_metadata__parse(&m, text, strlen(text)), 0);
	return m;
}

static void check_cmd(const char *escaped, const char *cmd)
{
	__cleanup(mm_metadata__clear) struct mm_metadata m;
	char text[256];

	snprintf(text, sizeof(text), "{\"start_time\": 5, \"process_id\": 6, \"cmd\": \"%s\"}",
		 escaped);
	m = parse(text);
	assert_true(m.found);
	assert_int_equal(m.start_time_ns, 5);
	assert_int_equal(m.process.pid, 6);
	assert_string_equal(m.process.command, cmd);
}

static void escapes_of_json_and_of_rust_are_taken(void **state)
{
	check_cmd("rustc a.rs ", "rustc a.rs");
	check_cmd("", "");
	check_cmd("don\\'t \\\"x\\\" \\\\\\' \\\\u{e9}", "don't \"x\" \\' \\u{e9}");
	check_cmd("\\u{e9} \\u00e9 \\u{1f980} \\ud83e\\udd80", "\xc3\xa9 \xc3\xa9 \xf0\x9f\xa6\x80 "
							       "\xf0\x9f\xa6\x80");
	check_cmd("\\t\\n\\r\\u{7f}|", "\t\n\r\x7f|");
	/* An escaped quote does not end the text. */
	check_cmd("a\\u{22}b\\u{5c}c", "a\"b\\c");
	check_cmd("a\\u{0}b", "a b");
	check_cmd("\\u{d800}.\\u{10ffff}", "\xef\xbf\xbd.\xf4\x8f\xbf\xbf");
	check_cmd("raw \xc3\xa9", "raw \xc3\xa9");
}

static void malformed_metadata_counts_as_missing(void **state)
{
	static const char *const texts[] = {
		"",
		"{",
		"[1]",
		"5",
		"null",
		"{}",
		"<unknown>",
		"{\"start_time\": 1, \"process_id\": 1}",
		"{\"start_time\": 1, \"process_id\": 4294967296, \"cmd\": \"\"}",
		"{\"start_time\": \"1\", \"process_id\": 1, \"cmd\": \"\"}",
		"{\"start_time\": -1, \"process_id\": 1, \"cmd\": \"\"}",
		"{\"start_time\": 1.5, \"process_id\": 1, \"cmd\": \"\"}",
		"{\"start_time\": 1, \"process_id\": 1, \"cmd\": 1}",
		"{\"start_time\": 1, \"process_id\": 1, \"cmd\": \"\\u{110000}\"}",
		"{\"start_time\": 1, \"process_id\": 1, \"cmd\": \"\\u{e9\"}",
		"{\"start_time\": 1, \"process_id\": 1, \"cmd\": \"\\x\"}",
		"{\"start_time\": 1, \"process_id\": 1, \"cmd\": \"\\",
	};

	for (size_t i = 0; i < N_OF(texts); i++) {
		struct mm_metadata m = parse(texts[i]);

		if (m.found)
			fail_msg("%s", texts[i]);
		assert_int_equal(m.process.exit_status, TRACE_EXIT_UNKNOWN);
		mm_metadata__clear(&m);
	}
}

static void our_own_member_is_taken(void **state)
{
	struct mm_metadata m = parse("{\"start_time\": 18446744073709551615, \"process_id\": 1, "
				     "\"cmd\": \"\", \"qprof\": {\"crate\": \"a\", "
				     "\"crate_type\": null, \"exit_status\": 4294967295, "
				     "\"attached_late\": true, \"losses\": {\"ring_full\": 3, "
				     "\"new_cause\": 1}}}");

	assert_true(m.found && m.exported && m.has_losses);
	assert_true(m.start_time_ns == UINT64_MAX);
	assert_string_equal(m.process.crate, "a");
	assert_null(m.process.crate_type);
	assert_int_equal(m.process.exit_status, -1);
	assert_true(m.process.attached_late);
	assert_int_equal(m.losses.count[TRACE_LOST_RING_FULL], 3);
	mm_metadata__clear(&m);
	m = parse("{\"start_time\": 1, \"process_id\": 1, \"cmd\": \"\", \"qprof\": "
		  "{\"losses\": null, \"crate\": 5}}");
	assert_true(m.exported && !m.has_losses && !m.process.crate);
	mm_metadata__clear(&m);
	m = parse("{\"start_time\": 1, \"process_id\": 1, \"cmd\": \"\", \"qprof\": [1]}");
	assert_true(m.found && !m.exported);
	mm_metadata__clear(&m);
}

/* Many of the texts end inside an escape. */
static void random_texts_are_harmless(void **state)
{
	static const char alphabet[] = "\\\\\\u{}'\"e9x{\":,[";
	struct rng rng = rng_new();

	for (int i = 0; i < 20000; i++) {
		size_t size = rng_below(&rng, 30);
		char *text = malloc(size + 1);
		struct mm_metadata m;

		for (size_t j = 0; j < size; j++)
			text[j] = alphabet[rng_below(&rng, sizeof(alphabet) - 1)];
		assert_int_equal(mm_metadata__parse(&m, text, size), 0);
		mm_metadata__clear(&m);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes_of_json_and_of_rust_are_taken),
		cmocka_unit_test(malformed_metadata_counts_as_missing),
		cmocka_unit_test(our_own_member_is_taken),
		cmocka_unit_test(random_texts_are_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
