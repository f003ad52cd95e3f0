// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cargo_traces.h"
#include <sys/stat.h>
#include <unistd.h>
#include "../fixtures/output.h"
#include "test.h"
#include "cli/cargo_report.h"

static char base[] = "/tmp/qprof-test.XXXXXX";

static int make_base(void **state)
{
	strcpy(base, "/tmp/qprof-test.XXXXXX");
	return mkdtemp(base) ? 0 : -1;
}

static int remove_base(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", base);
	return system(command);
}

/* A path below the test's directory, until the fourth next call. */
static const char *at(const char *rest)
{
	static char paths[4][128];
	static unsigned int n;
	char *path = paths[n++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", base, rest);
	return path;
}

static void make_directory(const char *rest)
{
	assert_int_equal(mkdir(at(rest), 0755), 0);
}

/* ---- The workspace --------------------------------------------------------------------------- */

static void assert_top(const char *from, const char *expected)
{
	_free_ char *top = NULL, *real = realpath(at(expected), NULL);

	assert_int_equal(cargo_workspace__find(at(from), &top), 0);
	assert_string_equal(top, real);
}

TEST_CASE_WITH(the_nearest_workspace_upwards_is_the_top, make_base, remove_base)
{
	make_directory("outer");
	make_directory("outer/a");
	make_directory("outer/a/src");
	make_directory("outer/own");
	output_write(at("outer/Cargo.toml"), "[package]\nname = \"o\"\n [ workspace ] # all\n");
	output_write(at("outer/a/Cargo.toml"), "[package]\nworkspace = \"..\"\n"
					       "[lints]\nworkspace = true\n[workspaces]\n");
	output_write(at("outer/own/Cargo.toml"), "[workspace.dependencies]\n");
	assert_top("outer/a/src", "outer");
	assert_top("outer/a", "outer");
	assert_top("outer", "outer");
	assert_top("outer/own", "outer/own");
}

TEST_CASE_WITH(without_a_workspace_it_is_the_nearest_package, make_base, remove_base)
{
	_free_ char *top = NULL;

	make_directory("outer");
	make_directory("outer/inner");
	assert_int_equal(cargo_workspace__find(at("outer/inner"), &top), -ENOENT);
	assert_int_equal(cargo_workspace__find(at("nothing"), &top), -ENOENT);
	assert_null(top);
	output_write(at("outer/Cargo.toml"), "[package]\n");
	assert_top("outer/inner", "outer");
	output_write(at("outer/inner/Cargo.toml"), "[package]\n");
	assert_top("outer/inner", "outer/inner");
}

/* It would be waited for. */
TEST_CASE_WITH(a_fifo_is_no_manifest, make_base, remove_base)
{
	_free_ char *top = NULL;

	assert_int_equal(mkfifo(at("Cargo.toml"), 0600), 0);
	assert_int_equal(cargo_workspace__find(base, &top), -ENOENT);
}

TEST_CASE(clones_have_directories_of_their_own)
{
	_free_ char *a = NULL, *b = NULL, *again = NULL, *root = NULL;

	setenv("XDG_STATE_HOME", "/state", 1);
	a = cargo_traces_directory("/home/a/tool");
	b = cargo_traces_directory("/home/b/tool");
	again = cargo_traces_directory("/home/a/tool");
	root = cargo_traces_directory("/");
	assert_string_equal(a, again);
	assert_string_not_equal(a, b);
	assert_int_equal(strlen(a), strlen("/state/qprof-bpf/tool-00000000"));
	assert_int_equal(strncmp(a, "/state/qprof-bpf/tool-", 22), 0);
	assert_int_equal(strncmp(root, "/state/qprof-bpf/root-", 22), 0);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static char *name_of(const char *line, time_t seconds)
{
	const struct timespec when = {.tv_sec = seconds, .tv_nsec = 7999999};
	char copy[128], *words[16] = {};
	size_t n = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		words[n++] = word;
	return cargo_traces_name(words, &when);
}

static bool are_one_command(const char *a, const char *b)
{
	_free_ char *one = name_of(a, 0), *other = name_of(b, 0);

	return !strcmp(one, other);
}

TEST_CASE(a_name_has_the_command_and_the_time)
{
	_free_ char *name = name_of("+nightly build --release", 1764582671);

	assert_int_equal(strncmp(name, "build-", 6), 0);
	assert_string_equal(name + 14, "-20251201T095111.007Z.qpt");
}

TEST_CASE(all_words_make_the_command)
{
	assert_true(are_one_command("build --release", "b --release"));
	assert_true(are_one_command("--sudo build", "build"));
	assert_false(are_one_command("build --release", "build"));
	assert_false(are_one_command("build", "check"));
	assert_false(are_one_command("+nightly build", "build"));
	assert_false(are_one_command("--exact build", "build"));
	assert_false(are_one_command("build -p ab c", "build -p a bc"));
}

TEST_CASE(no_command_leads_elsewhere)
{
	_free_ char *name = name_of("../../x.y\n build", 0);

	assert_null(strpbrk(name, "/\n"));
	assert_int_equal(strncmp(name, "______x_y_-", 11), 0);
}

/* ---- The list -------------------------------------------------------------------------------- */

static void make_trace(const char *line, time_t seconds)
{
	_free_ char *name = name_of(line, seconds), *page = cargo_traces_page(name);

	output_write(at(name), "");
	output_write(at(page), "");
}

TEST_CASE_WITH(the_newest_two_of_one_command_are_found, make_base, remove_base)
{
	_cargo_traces_ struct cargo_traces all = CARGO_TRACES_NONE;
	_free_ char *first = name_of("build", 1000), *second = name_of("build", 3000);

	make_trace("build", 1000);
	make_trace("check", 2000);
	make_trace("build", 3000);
	make_trace("build --release", 2500);
	output_write(at("mine.qpt"), "");
	output_write(at("build-1b2c3d4e-20251201T095111.007Z.qpt.old"), "");
	assert_int_equal(symlink("mine.qpt", at("build-1b2c3d4e-20251201T095111.007Z.qpt")), 0);
	assert_int_equal(cargo_traces__list(&all, base), 0);
	assert_struct(all, n, 4, at[0].name, second);
	assert_string_equal(cargo_traces__before(&all, 0)->name, first);
	assert_null(cargo_traces__before(&all, 1));
}

TEST_CASE(no_directory_is_no_list)
{
	_cargo_traces_ struct cargo_traces all = CARGO_TRACES_NONE;

	assert_int_equal(cargo_traces__list(&all, "/tmp/qprof-test-no-such"), -ENOENT);
	assert_int_equal(all.n, 0);
}

TEST_CASE_WITH(ten_of_each_command_are_kept, make_base, remove_base)
{
	_cargo_traces_ struct cargo_traces all = CARGO_TRACES_NONE, left = CARGO_TRACES_NONE;
	_free_ char *gone = name_of("build", 1001), *kept = name_of("build", 1002), *page = NULL;

	make_trace("check", 1);
	for (int i = 0; i < CARGO_TRACES_KEPT + 2; i++)
		make_trace("build", 1000 + i);
	output_write(at("mine.qpt"), "");
	assert_int_equal(cargo_traces__list(&all, base), 0);
	cargo_traces__trim(&all);
	assert_int_equal(cargo_traces__list(&left, base), 0);
	assert_int_equal(left.n, CARGO_TRACES_KEPT + 1);
	assert_int_equal(access(at("mine.qpt"), F_OK), 0);
	page = cargo_traces_page(gone);
	assert_int_not_equal(access(at(gone), F_OK), 0);
	assert_int_not_equal(access(at(page), F_OK), 0);
	assert_int_equal(access(at(kept), F_OK), 0);
}

TEST_CASE_WITH(fifty_of_all_commands_are_kept, make_base, remove_base)
{
	_cargo_traces_ struct cargo_traces all = CARGO_TRACES_NONE, left = CARGO_TRACES_NONE;
	char line[32];

	for (int i = 0; i < CARGO_TRACES_MOST + 2; i++) {
		snprintf(line, sizeof(line), "build -p p%d", i);
		make_trace(line, 1000 + i);
	}
	assert_int_equal(cargo_traces__list(&all, base), 0);
	cargo_traces__trim(&all);
	assert_int_equal(cargo_traces__list(&left, base), 0);
	assert_int_equal(left.n, CARGO_TRACES_MOST);
	for (uint32_t i = 0; i < left.n; i++)
		assert_string_equal(left.at[i].name, all.at[i].name);
}

/* ---- Cargo report ---------------------------------------------------------------------------- */

static char cargo_report_base[] = "/tmp/qprof-test.XXXXXX";
static char trace[96];

static void path_of(char path[96], const char *name)
{
	snprintf(path, 96, "%s/%s", cargo_report_base, name);
}

/* A copy of a trace of tests/golden. */
static void set_up(const char *golden)
{
	char command[160];

	strcpy(cargo_report_base, "/tmp/qprof-test.XXXXXX");
	assert_non_null(mkdtemp(cargo_report_base));
	path_of(trace, "build-1b2c3d4e-20251201T095111.007Z.qpt");
	snprintf(command, sizeof(command), "cp tests/golden/%s %s", golden, trace);
	assert_int_equal(system(command), 0);
}

static void report(int status, struct output *o)
{
	output_begin(o);
	cargo_report(cargo_report_base, trace, status);
	output_end(o);
	assert_string_equal(o->text[0], "");
}

static void clean(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", cargo_report_base);
	assert_int_equal(system(command), 0);
}

TEST_CASE(a_compile_is_reported_and_kept)
{
	_output_ struct output o = {};

	set_up("good-plain.qpt");
	report(0, &o);
	assert_output(&o, 0, "2>compile   a: 3.00 us", "2>qprof-bpf: kept /tmp/qprof-test.");
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
	cargo_report(cargo_report_base, trace, 0);
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
