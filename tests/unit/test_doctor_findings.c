// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "doctor/findings.h"

#include "test.h"

static void findings_keep_their_texts(void **state)
{
	_findings_ struct findings f = {0};
	char text[] = "BTF";

	findings__add(&f, FINDING_KERNEL, FINDING_OK, text, NULL, "%s %d", "is there", 1);
	findings__add(&f, FINDING_LIMITS, FINDING_PROBLEM, "disk", "make room", "full");
	strcpy(text, "...");
	assert_int_equal(f.err, 0);
	assert_int_equal(f.n, 2);
	assert_string_equal(f.items[0].name, "BTF");
	assert_string_equal(f.items[0].says, "is there 1");
	assert_null(f.items[0].fix);
	assert_string_equal(f.items[1].fix, "make room");
}

static void problems_are_counted_and_notes_are_not(void **state)
{
	_findings_ struct findings f = {0};

	assert_int_equal(findings__problems(&f), 0);
	for (int i = 0; i < 30; i++)
		findings__add(&f, FINDING_KERNEL, (enum finding_state)(i % 3), "x", NULL, "%d", i);
	assert_int_equal(f.n, 30);
	assert_int_equal(findings__problems(&f), 10);
}

static void sections_and_states_have_names(void **state)
{
	for (int i = 0; i < FINDING_SECTIONS; i++)
		assert_true(strlen(finding_section_name((enum finding_section)i)) > 3);
	assert_string_equal(finding_state_name(FINDING_OK), "ok");
	assert_string_equal(finding_state_name(FINDING_NOTE), "note");
	assert_string_equal(finding_state_name(FINDING_PROBLEM), "problem");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(findings_keep_their_texts),
		cmocka_unit_test(problems_are_counted_and_notes_are_not),
		cmocka_unit_test(sections_and_states_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
