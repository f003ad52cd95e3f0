// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_pctab.h"

TEST_CASE(everything_is_printed)
{
	_free_ char *text = printed_pctab(pctab_text, &sample_pctab_view);

	assert_golden("view/pctab.txt", text);
}

TEST_CASE(without_times_and_tables_there_is_less)
{
	struct pctab_survey nothing = {};
	_free_ char *text =
		printed_pctab(pctab_text, &(struct pctab_view){.file = "go", .survey = &nothing});

	assert_contains(text, "tables      0;");
	assert_lacks(text, "linear / varint:");
	assert_lacks(text, "ns per");
}

TEST_MAIN(NULL, NULL)
