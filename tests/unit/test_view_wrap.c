// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "view/wrap.h"

#include "../fixtures/output.h"

static void check(const char *text, size_t width, size_t indent, const char *expected)
{
	_free_ char *wrapped = printed_text((wrap_print(out, text, 0, width, indent), 0));

	assert_string_equal(wrapped, expected);
}

static void words_stay_whole(void **state)
{
	check("one two three", 7, 2, "one two\n  three\n");
	check("one two three", 0, 2, "one two three\n");
	check("one two three", 13, 0, "one two three\n");
	check("one two three", 12, 0, "one two\nthree\n");
}

static void a_long_word_stands_alone(void **state)
{
	check("a /usr/lib/x.so b", 5, 1, "a\n /usr/lib/x.so\n b\n");
	check("/usr/lib/x.so", 5, 1, "/usr/lib/x.so\n");
}

static void blanks_are_kept_but_where_a_line_ends(void **state)
{
	check("  ok      a: b c", 14, 10, "  ok      a: b\n          c\n");
	check("", 5, 1, "\n");
	check("a ", 5, 1, "a \n");
}

static void a_line_may_have_begun(void **state)
{
	_free_ char *wrapped = printed_text((wrap_print(out, "a bc d", 8, 10, 1), 0));

	assert_string_equal(wrapped, "a\n bc d\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_stay_whole),
		cmocka_unit_test(a_long_word_stands_alone),
		cmocka_unit_test(a_line_may_have_begun),
		cmocka_unit_test(blanks_are_kept_but_where_a_line_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
