// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_pctab.h"

static void everything_is_printed(void **state)
{
	_free_ char *text = printed_pctab(pctab_text, &sample_pctab_view);

	assert_golden("view/pctab.txt", text);
}

static void without_times_and_tables_there_is_less(void **state)
{
	struct pctab_survey nothing = {};
	_free_ char *text =
		printed_pctab(pctab_text, &(struct pctab_view){.file = "go", .survey = &nothing});

	assert_contains(text, "tables      0;");
	assert_lacks(text, "linear / varint:");
	assert_lacks(text, "ns per");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_printed),
		cmocka_unit_test(without_times_and_tables_there_is_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
