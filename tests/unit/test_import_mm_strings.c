// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "import/mm_strings.h"

#include "test.h"
#include "../fixtures/mm_bytes.h"
#include "base/cleanup.h"
#include "qprof/trace_format.h"

static struct mm_bytes m;

static int begin(void **state)
{
	mm_bytes__begin(&m);
	return 0;
}

static int end(void **state)
{
	mm_bytes__end(&m);
	return 0;
}

static void load(struct mm_strings *s)
{
	__cleanup(mm_file__destroy) struct mm_file f;
	const char *why;
	char path[40];
	_close_ int fd = mm_bytes__open(&m, 5000, path);

	assert_int_equal(mm_file__open(&f, path, &why), 0);
	assert_int_equal(mm_strings__load(s, &f), 0);
}

static void check(const struct mm_strings *s, uint64_t id, const char *text, const char *label)
{
	__cleanup(byte_buffer__destroy) struct byte_buffer out = {0};

	assert_int_equal(mm_strings__text(s, id, &out), 0);
	assert_string_equal((char *)out.data, text);
	assert_int_equal(out.size, strlen(text) + 1);
	assert_int_equal(mm_strings__label(s, id, &out), 0);
	assert_string_equal((char *)out.data, label);
}

/* A string of a text and one or two references; b = 0: only one. */
static uint64_t concatenation(const char *text, uint64_t a, uint64_t b)
{
	struct byte_buffer *data = &m.streams[MM_STRING_DATA];
	uint64_t id = data->size + MM_FIRST_REGULAR_ID;

	byte_buffer__bytes(data, text, strlen(text));
	byte_buffer__bytes(data, "\xfe", 1);
	mm_bytes__u64(data, a);
	if (b) {
		byte_buffer__bytes(data, "\xfe", 1);
		mm_bytes__u64(data, b);
	}
	byte_buffer__bytes(data, "\xff", 1);
	return id;
}

static void strings_refer_to_strings(void **state)
{
	uint64_t a = mm_bytes__string(&m, "a"), sep = mm_bytes__string(&m, "\x1e");
	uint64_t ab = concatenation("b", a, 0), label = concatenation("", ab, sep);
	uint64_t both = concatenation("", label, 7);
	__cleanup(mm_strings__destroy) struct mm_strings s;

	mm_bytes__map(&m, 7, a);
	mm_bytes__map(&m, 7, ab);
	mm_bytes__map(&m, 100000000, both);
	mm_bytes__map(&m, 100000003, a); /* a regular id: ignored */
	load(&s);
	check(&s, a, "a", "a");
	check(&s, 7, "ba", "ba"); /* the last mapping of an id counts */
	check(&s, both, "ba\036ba", "ba");
	check(&s, 100000000, "ba\036ba", "ba");
	check(&s, 8, "<unknown>", "<unknown>");
	check(&s, MM_INVALID_ID, "<unknown>", "<unknown>");
	check(&s, UINT64_MAX, "<unknown>", "<unknown>");
	assert_int_equal(mm_strings__address(&s, 7), ab - MM_FIRST_REGULAR_ID);
	assert_true(mm_strings__address(&s, 8) == MM_NO_ADDRESS);
}

/* Each string refers to the previous one twice: 2^60 components. */
static void doubling_ends(void **state)
{
	uint64_t id = mm_bytes__string(&m, "");
	__cleanup(byte_buffer__destroy) struct byte_buffer out = {0};
	__cleanup(mm_strings__destroy) struct mm_strings s;

	for (int i = 0; i < 60; i++)
		id = concatenation("", id, id);
	load(&s);
	assert_int_equal(mm_strings__text(&s, id, &out), 0);
	assert_string_equal((char *)out.data, "<invalid>");
}

static void texts_have_a_limit(void **state)
{
	_free_ char *text = malloc(50001);
	__cleanup(byte_buffer__destroy) struct byte_buffer out = {0};
	__cleanup(mm_strings__destroy) struct mm_strings s;
	uint64_t id;

	memset(text, 'x', 50000);
	text[50000] = '\0';
	id = mm_bytes__string(&m, text);
	for (int i = 0; i < 10; i++)
		id = concatenation("", id, id);
	load(&s);
	assert_int_equal(mm_strings__text(&s, id, &out), 0);
	assert_int_equal(out.size, QPT_TEXT_MAX + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(strings_refer_to_strings, begin, end),
		cmocka_unit_test_setup_teardown(doubling_ends, begin, end),
		cmocka_unit_test_setup_teardown(texts_have_a_limit, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
