// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "view/markdown.h"

#include "../fixtures/output.h"

static void assert_code(const char *text, const char *expected)
{
	_free_ char *printed = printed_text(markdown_code(out, text));

	assert_string_equal(printed, expected);
}

static void nothing_ends_the_cell_or_the_span(void **state)
{
	assert_code("a/typeck", "`a/typeck`");
	assert_code("a|b`c\nd", "`a\\|b'c?d`");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_ends_the_cell_or_the_span),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
