// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/output.h"
#include "cli/cmd.h"
#include "options/exit_code.h"

/* The output of the last command; the next one frees it. */
static struct output o;

/* Verify a file. Returns the output on stdout. */
static const char *verify(const char *file, int expected)
{
	const struct cli_verify_options options = {.file = file};
	int status;

	output_free(&o);
	output_begin(&o);
	status = cmd_verify(&options);
	output_end(&o);
	assert_int_equal(status, expected);
	return o.text[0];
}

static void a_whole_trace_is_reported_to_be_whole(void **state)
{
	assert_contains(verify("tests/golden/good-index.qpt", EXIT_CODE_OK),
			"tests/golden/good-index.qpt: whole\n");
	assert_contains(o.text[0], "spans        4\n");
	assert_contains(o.text[0],
			"               2 executions left by unwinding or never ended\n");
	assert_lacks(o.text[0], "missing");
	assert_string_equal(o.text[1], "");
}

static void missing_names_and_indexes_are_counted(void **state)
{
	assert_contains(verify("tests/golden/good-strings.qpt", EXIT_CODE_OK),
			"missing      1 spans have no name\n");
	assert_contains(o.text[0], "missing      2 spans have no event text\n");
	assert_contains(o.text[0], "missing      6 chunks are in no index\n");
	assert_contains(o.text[0], "lost         unknown");
}

static void functions_and_callers_are_counted(void **state)
{
	assert_contains(verify("tests/golden/good-callers.qpt", EXIT_CODE_OK),
			"functions    3, 2 of them with lines\n");
	assert_contains(o.text[0], "callers      6 spans have a caller\n");
	assert_contains(o.text[0], "missing      1 callers lie in no function\n");
	assert_lacks(verify("tests/golden/good-plain.qpt", EXIT_CODE_OK), "functions");
	assert_lacks(o.text[0], "callers");
}

static void samples_and_stacks_are_counted(void **state)
{
	assert_contains(verify("tests/golden/good-samples.qpt", EXIT_CODE_OK),
			"samples      7\n"
			"               3 do not reach the start of their thread\n"
			"  stacks       11 entries\n");
	assert_lacks(o.text[0], "lie in no function");
	assert_contains(verify("tests/golden/good-later-additions.qpt", EXIT_CODE_OK),
			"missing      20 samples are lost\n");
	assert_lacks(verify("tests/golden/good-plain.qpt", EXIT_CODE_OK), "sample");
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
		{"tests/golden/bad-decisions.qpt", EXIT_CODE_FAILURE, ""},
		{"/nonexistent.qpt", EXIT_CODE_FAILURE, ""},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		assert_contains(verify(cases[i].file, cases[i].status), cases[i].line);
		assert_int_equal(!*o.text[1], cases[i].status != EXIT_CODE_FAILURE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_trace_is_reported_to_be_whole),
		cmocka_unit_test(missing_names_and_indexes_are_counted),
		cmocka_unit_test(functions_and_callers_are_counted),
		cmocka_unit_test(samples_and_stacks_are_counted),
		cmocka_unit_test(the_status_distinguishes_cut_from_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
