// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/process_filter.h"

#include "test.h"

static const struct trace_process library = {
	.pid = 10, .crate = (char *)"proc_macro2", .crate_type = (char *)"lib"};
static const struct trace_process script = {
	.pid = 11,
	.crate = (char *)"build_script_build",
	.command = (char *)"rustc --out-dir /t/build/proc-macro2-0123456789abcdef",
};
static const struct trace_process program = {
	.pid = 12, .crate = (char *)"app", .crate_type = (char *)"bin"};
static const struct trace_process version = {.pid = 13, .command = (char *)"rustc -vV"};

static bool wants(const char *crate, const char *id, const struct trace_process *p)
{
	const struct cli_processes of = {
		.crates = {&crate, crate != NULL},
		.ids = {&id, id != NULL},
	};
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
