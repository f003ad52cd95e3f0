// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/export_trace.h"

static void the_small_trace_is_as_it_was(void **state)
{
	assert_small_golden(export_svg, "export/small.svg");
}

static void names_end_nothing(void **state)
{
	struct export_job job = {};
	size_t size;
	_free_ char *text = export_small(export_svg, &job, &size);
	const char *script;

	assert_int_equal(strlen(text), size);
	assert_lacks(text, "<b>");
	assert_contains(text, "&lt;b&gt;&quot;&#39;&amp;");
	script = strstr(text, "]]>");
	assert_non_null(script);
	assert_true(!strncmp(script, "]]></script>\n</svg>\n", 22));
}

/* With role="img", a screen reader would present one picture and no boxes. */
static void boxes_are_buttons_with_their_title_as_name(void **state)
{
	_free_ char *text = export_small_text(export_svg, &(struct export_job){});

	assert_lacks(text, "role=\"img\"");
	assert_contains(text, "<g class=\"b\" role=\"button\" tabindex=\"0\" data-n=\"typeck\"");
	assert_contains(text, "<title>typeck (");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_small_trace_is_as_it_was),
		cmocka_unit_test(names_end_nothing),
		cmocka_unit_test(boxes_are_buttons_with_their_title_as_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
