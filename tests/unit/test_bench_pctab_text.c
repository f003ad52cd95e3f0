// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_pctab.h"

static char *text_of(const struct pctab_view *view)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(pctab_text(out, view), 0);
	fclose(out);
	return text;
}

static void everything_is_printed(void **state)
{
	char *text = text_of(&sample_pctab_view);

	assert_golden("view/pctab.txt", text);
	free(text);
}

static void without_times_and_tables_there_is_less(void **state)
{
	struct pctab_survey nothing = {};
	char *text = text_of(&(struct pctab_view){.file = "go", .survey = &nothing});

	assert_contains(text, "tables      0;");
	assert_lacks(text, "linear / varint:");
	assert_lacks(text, "ns per");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_printed),
		cmocka_unit_test(without_times_and_tables_there_is_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
