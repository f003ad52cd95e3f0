// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <fcntl.h>
#include <signal.h>

#include "test.h"
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fixtures/directory.h"
#include "../fixtures/output.h"
#include "../fixtures/sampled_build.h"
#include "cli/cmd.h"
#include "import/mm_reader.h"
#include "options/exit_code.h"

/* The output of the last command; the next one frees it. */
static struct output o;

static int export_of(const char *file, enum cli_format format, const char *to, bool force)
{
	const struct cli_export_options options = {
		.file = file,
		.format = format,
		.output = to,
		.force = force,
		.max_bytes = format == CLI_FORMAT_MEASUREME ? 0 : 1 << 20};
	int status;

	output_free(&o);
	output_begin(&o);
	status = cmd_export(&options);
	output_end(&o);
	return status;
}

static int export_as(enum cli_format format, const char *to, bool force)
{
	return export_of("tests/golden/good-plain.qpt", format, to, force);
}

static int export(const char *file, const char *to, bool force)
{
	return export_of(file, CLI_FORMAT_MEASUREME, to, force);
}

TEST_CASE(a_trace_becomes_files)
{
	_mm_reader_ struct mm_reader *r = NULL;
	const char *why;

	assert_says(&o, export("tests/golden/good-plain.qpt", directory, false), EXIT_CODE_OK, "=",
		    "2>wrote 1 file with 4 events to /tmp/",
		    "2>read them with measureme's summarize");
	assert_int_equal(mm_reader__open(directory_path("a-0004711.mm_profdata"), &r, &why), 0);
	assert_int_equal(mm_reader__n_events(r), 4);

	assert_says(&o, export("tests/golden/good-plain.qpt", directory, false), EXIT_CODE_FAILURE,
		    "2>exists already", "2>--force");
	assert_int_equal(export("tests/golden/good-plain.qpt", directory, true), EXIT_CODE_OK);
	directory_files(true);
}

TEST_CASE(the_directory_is_made)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/new", directory);
	assert_int_equal(export("tests/golden/good-plain.qpt", path, false), EXIT_CODE_OK);
	must(unlink(directory_path("new/a-0004711.mm_profdata")), rmdir(path));
	strcat(path, "/deeper");
	assert_says(&o, export("tests/golden/good-plain.qpt", path, false), EXIT_CODE_FAILURE,
		    "2>cannot make ");
	assert_says(&o, export("tests/golden/good-plain.qpt", "/dev/null", false),
		    EXIT_CODE_FAILURE, "2>cannot write into /dev/null: Not a directory");
}

TEST_CASE(an_export_reports_an_incomplete_trace)
{
	assert_says(&o, export("tests/golden/bad-killed.qpt", directory, false), EXIT_CODE_OK,
		    "2>warning: tests/golden/bad-killed.qpt: unfinished",
		    "2>what could be read was exported");
	directory_files(true);
	/* This trace has one compiler, which ran no query. */
	assert_says(&o, export("tests/golden/good-zstd.qpt", directory, false), EXIT_CODE_OK,
		    "2>1 compiler executed no query and has no file", "2>wrote 0 files");
	assert_int_equal(directory_files(false), 0);
	assert_says(&o, export("tests/golden/bad-not-a-trace.qpt", directory, false),
		    EXIT_CODE_FAILURE, "2>cannot read tests/golden/bad-not-a-trace.qpt");
}

TEST_CASE(each_format_is_a_file_and_names_its_viewer)
{
	static const struct {
		enum cli_format format;
		const char *wrote, *viewer;
	} rows[] = {
		{CLI_FORMAT_PERFETTO, "2>wrote 4 intervals to /tmp/", "2>in ui.perfetto.dev"},
		{CLI_FORMAT_FOLDED, "2>wrote 3 stacks to /tmp/", "2>inferno-flamegraph"},
		{CLI_FORMAT_PPROF, "2>wrote 3 stacks to /tmp/",
		 "2>go tool pprof -http=localhost: /tmp/"},
		{CLI_FORMAT_SPEEDSCOPE, "2>wrote 3 stacks to /tmp/", "2>www.speedscope.app"},
		{CLI_FORMAT_COUNTS, "2>wrote 2 rows to /tmp/", "2>any editor"},
		{CLI_FORMAT_HTML, "2>wrote 4 intervals to /tmp/", "2>in a browser"},
		{CLI_FORMAT_JSONL, "2>wrote 4 rows to /tmp/", "2>qprof-bpf history merge"},
	};

	for (size_t i = 0; i < N_OF(rows); i++)
		assert_says(&o, export_as(rows[i].format, directory_path("out"), i), EXIT_CODE_OK,
			    "=", "2>warning: 3 records were lost while it was recorded",
			    rows[i].wrote, rows[i].viewer,
			    rows[i].format == CLI_FORMAT_JSONL
				    ? "2>nothing was sent anywhere, but it holds the "
				      "names of the machine and of what was compiled"
				    : "2>nothing was sent anywhere, but it holds "
				      "paths, command lines and names of what was compiled");
	assert_int_equal(directory_files(true), 1);
}

TEST_CASE(a_file_is_kept_unless_forced)
{
	char *path = strdup(directory_path("out"));

	output_write(path, "mine");
	assert_says(&o, export_as(CLI_FORMAT_FOLDED, path, false), EXIT_CODE_FAILURE,
		    "2>out exists already; choose another name with -o, or overwrite "
		    "it with --force");
	assert_int_equal(export_as(CLI_FORMAT_COUNTS, path, true), EXIT_CODE_OK);
	assert_shows(output_read(path), "=mir_built,2,0.000000740\ntypeck,2,0.000000105\n");
	assert_says(&o, export_as(CLI_FORMAT_FOLDED, directory, true), EXIT_CODE_FAILURE,
		    "2>Is a directory; name a file with -o, or - for standard output");
	assert_int_equal(directory_files(true), 1);
	free(path);
}

TEST_CASE(standard_output_gets_data_only)
{
	assert_says(&o, export_as(CLI_FORMAT_FOLDED, "-", false), EXIT_CODE_OK,
		    "=a (4711);mir_built 700\na (4711);typeck 65\n"
		    "a (4711);typeck;mir_built 40\n",
		    "2>wrote 3 stacks to standard output (71 B)");
}

/* Export a trace without its last byte from a pipe whose other end stays open. */
static pid_t start_on_half_a_trace(const char *pipe, const char *to, int *feed)
{
	char trace[4096];
	int fd = open("tests/golden/good-plain.qpt", O_RDONLY | O_CLOEXEC);
	ssize_t size = read(fd, trace, sizeof(trace));
	pid_t child = fork();

	close(fd);
	if (!child) {
		const struct cli_export_options options = {
			.file = pipe, .format = CLI_FORMAT_SPEEDSCOPE, .output = to};

		_exit(cmd_export(&options));
	}
	/* For reading too, so that this does not wait for a child that has failed. */
	*feed = open(pipe, O_RDWR | O_CLOEXEC);
	assert_int_equal(write(*feed, trace, size - 1), size - 1);
	return child;
}

TEST_CASE(an_interrupted_export_leaves_no_file)
{
	char *pipe = strdup(directory_path("pipe")), *to = strdup(directory_path("out"));
	int feed, status;
	pid_t child;

	assert_int_equal(mkfifo(pipe, 0600), 0);
	child = start_on_half_a_trace(pipe, to, &feed);
	while (access(to, F_OK))
		assert_int_equal(waitpid(child, &status, WNOHANG), 0);
	kill(child, SIGTERM);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	assert_int_equal(access(to, F_OK), -1);
	close(feed);
	unlink(pipe);
	free(pipe);
	free(to);
}

/* A trace of samples in the directory. */
static const char *sampled(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/sampled.qpt", directory);
	unlink(path);
	sampled_build_write(path);
	return path;
}

static const char *stacks(struct cli_export_options options, int expected)
{
	int status;

	options.output = "-";
	output_free(&o);
	output_begin(&o);
	status = cmd_export(&options);
	output_end(&o);
	assert_int_equal(status, expected);
	return o.text[0];
}

TEST_CASE(samples_are_exported_if_there_is_nothing_else)
{
	struct cli_export_options options = {.file = sampled(), .format = CLI_FORMAT_FOLDED};

	assert_output(&o, stacks(options, EXIT_CODE_OK), "llvm::SelectionDAG::Legalize",
		      "2>does not have all executions of queries: stacks are of functions",
		      "2>wrote 10 stacks");
	options.functions = true;
	assert_output(&o, stacks(options, EXIT_CODE_OK), "llvm::SelectionDAG::Legalize",
		      "2>!no executions");
	options.format = CLI_FORMAT_SPEEDSCOPE;
	assert_contains(stacks(options, EXIT_CODE_OK), "rustc's stacks on the CPU");
	/* Of queries, of which it has none. */
	options = (struct cli_export_options){
		.file = options.file, .format = CLI_FORMAT_FOLDED, .keys = true};
	assert_output(&o, stacks(options, EXIT_CODE_FAILURE), "=", "2>record it with --exact\n");
	unlink(options.file);
}

TEST_CASE(samples_are_exported_by_cause)
{
	struct cli_export_options options = {.file = sampled(), .format = CLI_FORMAT_FOLDED};

	options.memory = true;
	assert_output(&o, stacks(options, EXIT_CODE_OK),
		      "llvm::SelectionDAG::Legalize;__memmove_avx_unaligned_erms 8192000\n",
		      "2>--countname bytes");
	options.format = CLI_FORMAT_SPEEDSCOPE;
	assert_contains(stacks(options, EXIT_CODE_OK), "\"unit\":\"bytes\"");
	options.memory = false;
	options.waits = true;
	assert_contains(stacks(options, EXIT_CODE_OK), "rustc's waits");
	unlink(options.file);
}

TEST_CASE(counts_are_exported_where_no_query_has_probes)
{
	struct cli_export_options options = {.file = sampled(), .format = CLI_FORMAT_COUNTS};

	assert_contains(stacks(options, EXIT_CODE_OK), "\ntypeck,1234,0.026000000\n");
	/* Not known; then that of both compilers. */
	assert_contains(o.text[0], "\nevaluate_obligation,0,0.010000000\n");
	assert_true(!strncmp(o.text[0], "analysis,2,0.036000000\n", 23));
	/* Each event of this format would be an execution. */
	options.format = CLI_FORMAT_MEASUREME;
	assert_output(&o, stacks(options, EXIT_CODE_FAILURE), "=",
		      "2>has not all executions of queries, which measureme's events need: "
		      "record it with --exact\n");
	unlink(options.file);
}

TEST_CASE(samples_that_are_not_there_are_an_error)
{
	struct cli_export_options options = {.file = "tests/golden/good-plain.qpt",
					     .format = CLI_FORMAT_FOLDED,
					     .functions = true};

	assert_output(&o, stacks(options, EXIT_CODE_FAILURE), "=",
		      "2>has no such samples: record it with --sample");
	options = (struct cli_export_options){.file = sampled(), .format = CLI_FORMAT_COUNTS};
	assert_output(&o, stacks(options, EXIT_CODE_OK), "2>have no place in this format");
	unlink(options.file);
}

TEST_MAIN(directory_make, directory_remove)
