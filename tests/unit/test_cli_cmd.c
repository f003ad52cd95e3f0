// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "cli/cmd.h"
#include "../fixtures/output.h"
#include "options/exit_code.h"
#include <fcntl.h>
#include <json-c/json.h>
#include "base/version.h"
#include "cli/process_filter.h"

TEST_CASE(a_file_that_is_no_trace_is_named)
{
	struct trace_reader *r = NULL;
	struct output o;

	output_begin(&o);
	assert_int_not_equal(cmd_open_trace("/dev/null", &r), 0);
	output_end(&o);
	assert_null(r);
	assert_contains(o.text[1], "cannot read /dev/null");
	output_free(&o);
}

TEST_CASE(the_size_of_a_trace_limits_its_printed_output)
{
	assert_int_equal(cmd_most_output(0), CMD_OUTPUT_FREE);
	assert_int_equal(cmd_most_output(10), CMD_OUTPUT_FREE + 10 * CMD_OUTPUT_FACTOR);
	assert_int_equal(cmd_most_output(UINT64_MAX), UINT64_MAX);
	cmd_set_limits(false);
	assert_int_equal(cmd_most_output(10), UINT64_MAX);
	cmd_set_limits(true);
}

TEST_CASE(a_stream_fails_at_its_limit)
{
	struct cmd_output bound = {.most = 4};
	struct output o;
	FILE *out;
	int err;

	output_begin(&o);
	out = cmd_open_output(&bound);
	fputs("abcd", out);
	err = cmd_close_output(&bound, out, 0);
	assert_int_equal(err, 0);
	out = cmd_open_output(&bound);
	fputs("e", out);
	err = cmd_close_output(&bound, out, 0);
	fflush(stdout);
	output_end(&o);
	assert_int_equal(err, -EFBIG);
	assert_string_equal(o.text[0], "abcd");
	output_free(&o);
}

TEST_CASE(without_a_stream_the_error_is_kept)
{
	struct cmd_output bound = {};

	assert_int_equal(cmd_close_output(&bound, NULL, -EIO), -EIO);
	assert_int_equal(cmd_close_output(&bound, NULL, 0), -ENOMEM);
}

/* ---- Cmd top --------------------------------------------------------------------------------- */

/* tests/e2e/test_top.py tests `top` on a terminal. */

TEST_CASE(without_a_terminal_the_fix_is_named)
{
	const struct cli_top_options options = {.file = "tests/golden/good-plain.qpt",
						.record = {.interval_ns = 1000000000}};
	int saved = dup(STDIN_FILENO), null = open("/dev/null", O_RDONLY);
	struct output o;
	int status;

	dup2(null, STDIN_FILENO);
	close(null);
	output_begin(&o);
	status = cmd_top(&options);
	output_end(&o);
	dup2(saved, STDIN_FILENO);
	close(saved);
	assert_int_equal(status, EXIT_CODE_FAILURE);
	assert_struct(o, text[0], "", text[1],
		      "qprof-bpf: error: top needs a terminal: stdin is none. \"qprof-bpf "
		      "record\" prints blocks of lines anywhere, and \"qprof-bpf report\" "
		      "shows a trace\n");
	output_free(&o);
}

/* ---- Cmd doctor ------------------------------------------------------------------------------ */

/*
 * The output of `doctor` that does not depend on rights or the kernel. test_doctor_*.c test the
 * findings, test_view_doctor_*.c how they are printed.
 */

static char *doctor(const struct cli_doctor_options *options)
{
	struct output o;
	int status;

	output_begin(&o);
	status = cmd_doctor(options);
	output_end(&o);
	assert_int_equal(status, EXIT_CODE_SICK);
	assert_string_equal(o.text[1], "");
	free(o.text[1]);
	return o.text[0];
}

TEST_CASE(a_compiler_that_is_not_there_is_a_problem)
{
	assert_shows(doctor(&(struct cli_doctor_options){.target = "/nonexistent/rustc"}),
		     "kernel\n  ok        version: Linux ",
		     "\n  problem   /nonexistent/rustc: ", "Recording does not work here");
}

TEST_CASE(a_process_that_is_no_compiler_is_a_problem)
{
	_free_ char *text =
		doctor(&(struct cli_doctor_options){.target = "1999999999", .json = true});
	struct json_object *o = json_tokener_parse(text);

	assert_string_equal(json_object_get_string(json_object_object_get(o, "schema")),
			    "qprof-doctor/1");
	assert_false(json_object_get_boolean(json_object_object_get(o, "works")));
	assert_int_equal(json_object_array_length(json_object_object_get(o, "toolchains")), 0);
	assert_contains(text, "there is no process 1999999999");
	json_object_put(o);
}

/* ---- Cmd verify ------------------------------------------------------------------------------ */

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

TEST_CASE(a_whole_trace_is_reported_to_be_whole)
{
	assert_output(&o, verify("tests/golden/good-index.qpt", EXIT_CODE_OK),
		      "tests/golden/good-index.qpt: whole\n", "spans        4\n",
		      "               2 executions left by unwinding or never ended\n", "!missing",
		      "2>=");
}

TEST_CASE(missing_names_and_indexes_are_counted)
{
	assert_output(&o, verify("tests/golden/good-strings.qpt", EXIT_CODE_OK),
		      "missing      1 spans have no name\n",
		      "missing      2 spans have no event text\n",
		      "missing      6 chunks are in no index\n", "lost         unknown");
}

TEST_CASE(functions_and_callers_are_counted)
{
	assert_output(&o, verify("tests/golden/good-callers.qpt", EXIT_CODE_OK),
		      "functions    3, 2 of them with lines\n",
		      "callers      6 spans have a caller\n",
		      "missing      1 callers lie in no function\n");
	assert_output(&o, verify("tests/golden/good-plain.qpt", EXIT_CODE_OK), "!functions",
		      "!callers");
}

TEST_CASE(samples_and_stacks_are_counted)
{
	assert_output(&o, verify("tests/golden/good-samples.qpt", EXIT_CODE_OK),
		      "samples      7\n"
		      "               3 do not reach the start of their thread\n"
		      "  stacks       11 entries\n",
		      "!lie in no function");
	assert_contains(verify("tests/golden/good-later-additions.qpt", EXIT_CODE_OK),
			"missing      20 samples are lost\n");
	assert_lacks(verify("tests/golden/good-plain.qpt", EXIT_CODE_OK), "sample");
}

TEST_CASE(the_status_distinguishes_cut_from_damaged)
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

/* ---- Cmd help -------------------------------------------------------------------------------- */

/* The commands that only print, help and version, and their failure on a full disk. */

static char *help(const struct cli_help_options *options, int expected)
{
	struct output o;
	int status;

	output_begin(&o);
	status = cmd_help(options);
	output_end(&o);
	assert_int_equal(status, expected);
	assert_int_equal(status == EXIT_CODE_OK, !*o.text[1]);
	free(o.text[status == EXIT_CODE_OK]);
	return o.text[status != EXIT_CODE_OK];
}

static void assert_help(const struct cli_help_options *options, const char *golden)
{
	_free_ char *text = help(options, EXIT_CODE_OK);

	assert_golden(golden, text);
}

TEST_CASE(without_a_topic_there_is_an_overview)
{
	assert_help(&(struct cli_help_options){}, "cli/help.txt");
}

TEST_CASE(a_topic_is_explained)
{
	assert_help(&(struct cli_help_options){.topic.word = "plan"}, "cli/help_plan.txt");
}

TEST_CASE(an_unknown_topic_is_a_usage_error)
{
	assert_shows(help(&(struct cli_help_options){.topic.word = "nope"}, EXIT_CODE_USAGE),
		     "no command 'nope'");
}

TEST_CASE(a_topic_may_be_two_words)
{
	assert_shows(
		help(&(struct cli_help_options){.topic = {"history", "nope"}}, EXIT_CODE_USAGE),
		"no command 'history nope'");
	assert_help(&(struct cli_help_options){.topic = {"history", "add"}},
		    "cli/help_history-add.txt");
}

TEST_CASE(manual_and_completion_are_printed)
{
	_free_ char *text =
		help(&(struct cli_help_options){.completion = CLI_SHELL_ZSH}, EXIT_CODE_OK);

	assert_help(&(struct cli_help_options){.man = true}, "cli/qprof-bpf.1");
	assert_help(&(struct cli_help_options){.man = true, .topic.word = "plan"},
		    "cli/qprof-bpf-plan.1");
	assert_contains(text, "#compdef qprof-bpf\n");
}

TEST_CASE(the_version_is_one_line)
{
	struct output o;

	output_begin(&o);
	assert_int_equal(cmd_version(&(struct cli_version_options){}), EXIT_CODE_OK);
	output_end(&o);
	assert_string_equal(o.text[0], "qprof-bpf " QPROF_VERSION "\n");
	output_free(&o);
}

TEST_CASE(a_full_disk_is_a_failure)
{
	struct output o;
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC), status;

	output_begin(&o);
	dup2(full, STDOUT_FILENO);
	close(full);
	status = cmd_version(&(struct cli_version_options){});
	clearerr(stdout);
	output_end(&o);
	assert_int_equal(status, EXIT_CODE_FAILURE);
	assert_contains(o.text[1], "cannot write to standard output: No space left");
	output_free(&o);
}

/* ---- Process filter -------------------------------------------------------------------------- */

static const struct trace_process library = {
	.pid = 10, .crate = (char *)"proc_macro2", .crate_type = (char *)"lib"};
static const struct trace_process script = {
	.pid = 11,
	.crate = (char *)"build_script_build",
	.command = (char *)"rustc --out-dir /t/build/proc-macro2-0123456789abcdef"};
static const struct trace_process program = {
	.pid = 12, .crate = (char *)"app", .crate_type = (char *)"bin"};
static const struct trace_process version = {.pid = 13, .command = (char *)"rustc -vV"};

static bool wants(const char *crate, const char *id, const struct trace_process *p)
{
	const struct cli_processes of = {.crates = {&crate, crate != NULL},
					 .ids = {&id, id != NULL}};
	struct process_filter f = {.of = &of};
	bool wanted = process_filter__wants(&f, p);

	assert_int_equal(f.found, wanted);
	assert_int_equal(process_filter__check(&f, "x") == 0,
			 wanted || !process_filter__is_set(&of));
	return wanted;
}

TEST_CASE(a_crate_is_found_by_its_names)
{
	assert_true(wants("proc_macro2", NULL, &library));
	assert_true(wants("proc-macro2", NULL, &library));
	assert_true(wants("proc*", NULL, &library));
	assert_true(wants("proc-macro2", NULL, &script));
	assert_true(wants("proc_macro2", NULL, &script));
	assert_true(wants("*(build script)", NULL, &script));
	assert_true(wants("app", NULL, &program));
	assert_true(wants("app (bin)", NULL, &program));
	assert_false(wants("app (test)", NULL, &program));
	assert_false(wants("proc", NULL, &library));
	assert_false(wants("app", NULL, &version));
}

TEST_CASE(a_process_is_found_by_its_number)
{
	assert_true(wants(NULL, "12", &program));
	assert_true(wants(NULL, "app", &program));
	assert_false(wants(NULL, "1", &program));
	assert_true(wants(NULL, "13", &version));
	assert_true(wants("app", "12", &program));
	assert_false(wants("app", "10", &program));
	assert_true(wants(NULL, NULL, &version));
}

TEST_MAIN(NULL, NULL)
