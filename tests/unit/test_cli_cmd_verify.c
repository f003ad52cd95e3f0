// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/output.h"
#include "cli/cmd.h"
#include "options/exit_code.h"

static int verify(const char *file, struct output *o)
{
	const struct cli_verify_options options = {.file = file};
	int status;

	output_begin(o);
	status = cmd_verify(&options);
	output_end(o);
	return status;
}

static void a_whole_trace_is_reported_to_be_whole(void **state)
{
	struct output o;

	assert_int_equal(verify("tests/golden/good-index.qpt", &o), EXIT_CODE_OK);
	assert_contains(o.text[0], "tests/golden/good-index.qpt: whole\n");
	assert_contains(o.text[0], "spans        4\n");
	assert_null(strstr(o.text[0], "missing"));
	assert_string_equal(o.text[1], "");
	output_free(&o);
}

static void missing_names_and_indexes_are_counted(void **state)
{
	struct output o;

	assert_int_equal(verify("tests/golden/good-strings.qpt", &o), EXIT_CODE_OK);
	assert_contains(o.text[0], "missing      1 spans have no name\n");
	assert_contains(o.text[0], "missing      2 spans have no event text\n");
	assert_contains(o.text[0], "missing      6 chunks are in no index\n");
	assert_contains(o.text[0], "lost         unknown");
	output_free(&o);
}

static void decisions_and_what_they_hid_are_counted(void **state)
{
	struct output o;

	assert_int_equal(verify("tests/golden/good-decisions.qpt", &o), EXIT_CODE_OK);
	assert_contains(o.text[0], "decisions    4 on what to watch, within a budget\n"
				   "  counted      1,234,567 executions have no span\n"
				   "  estimated    1,000 executions have no span\n");
	assert_contains(o.text[0],
			"               2 executions left by unwinding or never ended\n");
	output_free(&o);
	assert_int_equal(verify("tests/golden/good-plain.qpt", &o), EXIT_CODE_OK);
	assert_lacks(o.text[0], "decisions");
	assert_lacks(o.text[0], "have no span");
	output_free(&o);
}

static void functions_and_callers_are_counted(void **state)
{
	struct output o;

	assert_int_equal(verify("tests/golden/good-callers.qpt", &o), EXIT_CODE_OK);
	assert_contains(o.text[0], "functions    3, 2 of them with lines\n");
	assert_contains(o.text[0], "callers      6 spans have a caller\n");
	assert_contains(o.text[0], "missing      1 callers lie in no function\n");
	output_free(&o);
	assert_int_equal(verify("tests/golden/good-plain.qpt", &o), EXIT_CODE_OK);
	assert_lacks(o.text[0], "functions");
	assert_lacks(o.text[0], "callers");
	output_free(&o);
}

static void the_status_distinguishes_cut_from_damaged(void **state)
{
	static const struct {
		const char *file;
		int status;
		const char *line;
	} cases[] = {
		{"tests/golden/bad-killed.qpt", EXIT_CODE_INCOMPLETE, "unfinished"},
		{"tests/golden/bad-no-end.qpt", EXIT_CODE_INCOMPLETE, "cut short"},
		{"tests/golden/bad-cut-in-spans.qpt", EXIT_CODE_INCOMPLETE, "cut short"},
		{"tests/golden/bad-chunk-crc.qpt", EXIT_CODE_DAMAGED, "damaged at byte 90"},
		{"tests/golden/bad-after-end.qpt", EXIT_CODE_DAMAGED, "damaged at byte"},
		{"tests/golden/good-index-lies.qpt", EXIT_CODE_DAMAGED, "its index is wrong"},
		{"tests/golden/good-index-wrong.qpt", EXIT_CODE_DAMAGED, "its index is wrong"},
		{"tests/golden/good-index-nowhere.qpt", EXIT_CODE_DAMAGED, "its index is wrong"},
		{"tests/golden/good-index-late.qpt", EXIT_CODE_DAMAGED, "its index is wrong"},
		{"tests/golden/bad-not-a-trace.qpt", EXIT_CODE_DAMAGED, "does not begin"},
		{"tests/golden/bad-newer-version.qpt", EXIT_CODE_FAILURE, ""},
		{"/nonexistent.qpt", EXIT_CODE_FAILURE, ""},
	};
	struct output o;

	for (size_t i = 0; i < N_OF(cases); i++) {
		assert_int_equal(verify(cases[i].file, &o), cases[i].status);
		assert_contains(o.text[0], cases[i].line);
		assert_int_equal(!*o.text[1], cases[i].status != EXIT_CODE_FAILURE);
		output_free(&o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_trace_is_reported_to_be_whole),
		cmocka_unit_test(missing_names_and_indexes_are_counted),
		cmocka_unit_test(decisions_and_what_they_hid_are_counted),
		cmocka_unit_test(functions_and_callers_are_counted),
		cmocka_unit_test(the_status_distinguishes_cut_from_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
