// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cargo_report.h"

#include <sys/stat.h>
#include <unistd.h>

#include "../fixtures/output.h"
#include "cli/cargo_traces.h"
#include "test.h"

static char base[] = "/tmp/qprof-test.XXXXXX";
static char trace[96];

static void path_of(char path[96], const char *name)
{
	snprintf(path, 96, "%s/%s", base, name);
}

/* A copy of a trace of tests/golden. */
static void set_up(const char *golden)
{
	char command[160];

	strcpy(base, "/tmp/qprof-test.XXXXXX");
	assert_non_null(mkdtemp(base));
	path_of(trace, "build-1b2c3d4e-20251201T095111.007Z.qpt");
	snprintf(command, sizeof(command), "cp tests/golden/%s %s", golden, trace);
	assert_int_equal(system(command), 0);
}

static void report(int status, struct output *o)
{
	output_begin(o);
	cargo_report(base, trace, status);
	output_end(o);
	assert_string_equal(o->text[0], "");
}

static void clean(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", base);
	assert_int_equal(system(command), 0);
}

TEST_CASE(a_compile_is_reported_and_kept)
{
	_output_ struct output o = {};

	set_up("good-plain.qpt");
	report(0, &o);
	assert_contains(o.text[1], "compile   a: 3.00 us");
	assert_contains(o.text[1], "qprof-bpf: kept /tmp/qprof-test.");
	assert_int_equal(access(trace, F_OK), 0);
	clean();
}

static void assert_nothing(const char *golden, int status, const char *says)
{
	_output_ struct output o = {};

	set_up(golden);
	report(status, &o);
	assert_contains(o.text[1], says);
	assert_one_line(o.text[1]);
	assert_int_not_equal(access(trace, F_OK), 0);
	clean();
}

TEST_CASE(without_a_compile_a_line_says_why_and_no_trace_is_kept)
{
	assert_nothing("good-empty.qpt", 0, "up to date, it compiles one crate again after");
	assert_nothing("good-empty.qpt", 101 << 8, "nothing was compiled before the command");
	assert_nothing("good-zstd.qpt", 0, "toolchain without librustc_driver are not seen");
}

/* Else they would add up: each is as large as a trace that can be read. */
TEST_CASE(one_that_cannot_be_read_counts_as_one_that_is_kept)
{
	char path[96], name[64];
	_output_ struct output o = {};

	set_up("good-plain.qpt");
	for (int i = 0; i < CARGO_TRACES_KEPT; i++) {
		snprintf(name, sizeof(name), "build-1b2c3d4e-20251101T095111.%03dZ.qpt", i);
		path_of(path, name);
		output_write(path, "");
	}
	output_write(trace, "no trace");
	report(0, &o);
	path_of(path, "build-1b2c3d4e-20251101T095111.000Z.qpt");
	assert_int_not_equal(access(path, F_OK), 0);
	path_of(path, "build-1b2c3d4e-20251101T095111.001Z.qpt");
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(access(trace, F_OK), 0);
	clean();
}

/* As of `2>&1 | head -1`: the caller has the status of cargo to pass on. */
TEST_CASE(a_reader_that_is_gone_ends_nothing)
{
	int ends[2], before = dup(STDERR_FILENO);

	set_up("good-plain.qpt");
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	dup2(ends[1], STDERR_FILENO);
	cargo_report(base, trace, 0);
	dup2(before, STDERR_FILENO);
	close(ends[1]);
	close(before);
	clean();
}

/* The recording has said why. */
TEST_CASE(a_recording_that_did_not_begin_has_nothing_to_add)
{
	_output_ struct output o = {};

	set_up("good-plain.qpt");
	unlink(trace);
	report(125 << 8, &o);
	assert_string_equal(o.text[1], "");
	clean();
}

TEST_MAIN(NULL, NULL)
