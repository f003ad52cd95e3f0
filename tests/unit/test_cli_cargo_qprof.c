// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cargo_qprof.h"

#include <sys/stat.h>
#include <unistd.h>

#include "../fixtures/output.h"
#include "cli/cargo_traces.h"
#include "options/parse.h"
#include "test.h"

static char base[] = "/tmp/qprof-test.XXXXXX";

/* A project in which the test stands, and a directory for its traces. */
static int make_project(void **state)
{
	char path[64];

	strcpy(base, "/tmp/qprof-test.XXXXXX");
	if (!mkdtemp(base) || chdir(base) || mkdir("project", 0755) || mkdir("empty", 0755) ||
	    mkdir("project/sub", 0755) || chdir("project"))
		return -1;
	output_write("Cargo.toml", "[package]\n");
	snprintf(path, sizeof(path), "%s/state", base);
	setenv("XDG_STATE_HOME", path, 1);
	setenv("CARGO", "/toolchain/bin/cargo", 1);
	return 0;
}

static int remove_project(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", base);
	return chdir("/") ?: system(command);
}

#define PROJECT_CASE(name) TEST_CASE_WITH(name, make_project, remove_project)

static char line_copy[256];

static int call(struct cargo_call *c, const char *line)
{
	char *words[16] = {};
	size_t n = 0;

	snprintf(line_copy, sizeof(line_copy), "%s", line);
	for (char *word = strtok(line_copy, " "); word; word = strtok(NULL, " "))
		words[n++] = word;
	return cargo_call__of(c, words);
}

/* The translated words; TRACE, OLDER and PAGE are the paths. */
static char *words_of(const struct cargo_call *c)
{
	return PRINTED(for (uint32_t i = 0; i < c->n; i++) {
		const char *word = c->argv[i];

		word = word == c->trace ? "TRACE" : word == c->before ? "OLDER" : word;
		word = word == c->page ? "PAGE" : word == c->program ? "PROGRAM" : word;
		fprintf(to_, "%s%s", i ? " " : "", word);
	});
}

static void assert_call(const char *line, const char *expected)
{
	_cargo_call_ struct cargo_call c = {};
	_free_ char *words = NULL;

	assert_int_equal(call(&c, line), 0);
	assert_null(c.argv[c.n]);
	words = words_of(&c);
	assert_string_equal(words, expected);
}

static void assert_refused(const char *line, int err, const char *says)
{
	_cargo_call_ struct cargo_call c = {};
	_output_ struct output o = {};

	assert_int_equal(CAPTURED(&o, call(&c, line)), err);
	assert_string_equal(o.text[0], "");
	assert_contains(o.text[1], says);
	assert_one_line(o.text[1]);
}

static bool is_cargo_qprof(const char *name, const char *word)
{
	return cargo_qprof_is((char *[]){(char *)name, (char *)word, NULL});
}

TEST_CASE(the_name_of_the_program_decides)
{
	assert_true(is_cargo_qprof("cargo-qprof", NULL));
	assert_true(is_cargo_qprof("/usr/bin/cargo-qprof", "record"));
	assert_false(is_cargo_qprof("/cargo-qprof/qprof-bpf", "build"));
	assert_false(is_cargo_qprof(NULL, NULL));
}

/* The program file may be a copy of that name, which sudo then runs. */
TEST_CASE(a_recording_by_sudo_is_none_of_cargo)
{
	setenv("SUDO_UID", "1000", 1);
	assert_false(is_cargo_qprof("/usr/bin/cargo-qprof", "record"));
	assert_true(is_cargo_qprof("/usr/bin/cargo-qprof", "build"));
	assert_true(is_cargo_qprof("/usr/bin/cargo-qprof", NULL));
	unsetenv("SUDO_UID");
}

PROJECT_CASE(a_command_of_cargo_is_recorded)
{
	assert_call("build --release -p x",
		    "qprof-bpf record --quiet --output TRACE -- /toolchain/bin/cargo build "
		    "--release -p x");
	assert_call("run -- report", "qprof-bpf record --until-run --quiet --output TRACE -- "
				     "/toolchain/bin/cargo run -- report");
	unsetenv("CARGO");
	assert_call("c", "qprof-bpf record --quiet --output TRACE -- cargo c");
	assert_call("+nightly r",
		    "qprof-bpf record --until-run --quiet --output TRACE -- cargo +nightly r");
}

/* rustup's cargo, which the PATH has, knows toolchains. */
PROJECT_CASE(a_toolchain_is_for_the_cargo_of_the_path)
{
	assert_call("+nightly build",
		    "qprof-bpf record --quiet --output TRACE -- cargo +nightly build");
}

PROJECT_CASE(options_before_the_command_are_of_the_recording)
{
	assert_call("--exact --sample=99 build -q",
		    "qprof-bpf record --exact --sample=99 --quiet --output TRACE -- "
		    "/toolchain/bin/cargo build -q");
}

/* Else the value would be taken for cargo's command, or "build" for the value. */
PROJECT_CASE(a_value_stands_behind_an_equals_sign)
{
	assert_refused("--attach perf build", -EINVAL, "equals sign: --attach=HOW");
	assert_refused("--att perf build", -EINVAL, "equals sign: --attach=HOW");
	assert_refused("--exact -e none build", -EINVAL, "equals sign: --events=");
	assert_refused("-vo x.qpt build", -EINVAL, "-vo: write each option of one letter");
	assert_call("--att=perf -enone -v build",
		    "qprof-bpf record --att=perf -enone -v --quiet --output TRACE -- "
		    "/toolchain/bin/cargo build");
}

PROJECT_CASE(what_is_recorded_and_where_to_is_no_option)
{
	static const char *const lines[][2] = {
		{"-o x.qpt build", "take --output"},	 {"-ox.qpt build", "take --output"},
		{"--out=x.qpt build", "take --output"},	 {"--traces=d build", "take --traces"},
		{"--exact --pid=7 build", "take --pid"}, {"-p7 build", "take --pid"},
		{"--cgroup /x build", "take --cgroup"},	 {"--system build", "take --system"},
		{"-- build", "leave out the -- before"}, {"- build", "leave out the - before"},
	};

	for (size_t i = 0; i < N_OF(lines); i++)
		assert_refused(lines[i][0], -EINVAL, lines[i][1]);
	assert_int_not_equal(access(getenv("XDG_STATE_HOME"), F_OK), 0);
}

/* Root has the rights already. */
PROJECT_CASE(sudo_runs_this_file)
{
	_cargo_call_ struct cargo_call c = {};
	_free_ char *words = NULL;

	assert_int_equal(call(&c, "--sudo --exact build"), 0);
	assert_int_equal(c.sudo, geteuid() != 0);
	words = words_of(&c);
	assert_string_equal(words, geteuid() ? "sudo -- PROGRAM record --exact --quiet --output "
					       "TRACE -- /toolchain/bin/cargo build"
					     : "qprof-bpf record --exact --quiet --output TRACE -- "
					       "/toolchain/bin/cargo build");
}

/* What is recorded can be parsed, and the directory is there for it. */
PROJECT_CASE(the_parser_takes_it)
{
	_cargo_call_ struct cargo_call c = {};
	_cli_ struct cli cli = {};
	struct stat st;

	unsetenv("CARGO");
	assert_int_equal(call(&c, "test --lib"), 0);
	assert_true(c.records);
	assert_int_equal(cli_parse((int)c.n, c.argv, &cli), 0);
	assert_struct(cli, command, CLI_RECORD, record.quiet, true);
	assert_ptr_equal(cli.record.output, c.trace);
	assert_string_equal(cli.record.command[1], "test");
	assert_int_equal(stat(c.directory, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(strncmp(c.trace, c.directory, strlen(c.directory)), 0);
}

/* Of the same project, wherever its commands are given. */
PROJECT_CASE(a_manifest_names_the_project)
{
	static const char *const lines[] = {
		"build --manifest-path project/Cargo.toml",
		"build --manifest-path=project/Cargo.toml",
		"install --path project/sub",
		"install --path=project/sub",
	};
	_cargo_call_ struct cargo_call own = {};

	assert_int_equal(call(&own, "build"), 0);
	assert_int_equal(chdir(base), 0);
	for (size_t i = 0; i < N_OF(lines); i++) {
		_cargo_call_ struct cargo_call c = {};

		assert_int_equal(call(&c, lines[i]), 0);
		assert_string_equal(c.directory, own.directory);
	}
	for (int i = 0; i < 2; i++) {
		_cargo_call_ struct cargo_call c = {};

		/* Behind -- it is the program's. */
		assert_int_equal(call(&c, i ? "run -- --manifest-path project/Cargo.toml" : "run"),
				 0);
		assert_string_not_equal(c.directory, own.directory);
	}
}

/* build --help and install need none; of the others, cargo says it. */
PROJECT_CASE(without_a_manifest_cargo_runs)
{
	assert_int_equal(chdir("../empty"), 0);
	assert_refused("report", -ENOENT, "record one in the directory of a project");
	assert_int_not_equal(access(getenv("XDG_STATE_HOME"), F_OK), 0);
	assert_call("build --help", "qprof-bpf record --quiet --output TRACE -- "
				    "/toolchain/bin/cargo build --help");
}

static void make_trace(const char *line)
{
	_cargo_call_ struct cargo_call c = {};

	assert_int_equal(call(&c, line), 0);
	output_write(c.trace, "");
	usleep(2000); /* the next name is another one */
}

PROJECT_CASE(what_was_recorded_is_found)
{
	make_trace("build");
	make_trace("build");
	assert_call("report --full", "qprof-bpf report TRACE --full");
	assert_call("top", "qprof-bpf top TRACE");
	assert_call("diff --by item", "qprof-bpf diff OLDER TRACE --by item");
	assert_call("export -f folded -o x", "qprof-bpf export TRACE -f folded -o x");
	assert_call("page --crate a",
		    "qprof-bpf export TRACE --crate a --force --format=html --output PAGE");
	make_trace("check");
	assert_refused("diff", -ENOENT, "there is one recording, check-");
}

PROJECT_CASE(the_page_lies_beside_the_trace)
{
	_cargo_call_ struct cargo_call c = {};

	make_trace("build");
	assert_int_equal(call(&c, "page"), 0);
	assert_string_equal(c.page + strlen(c.page) - 6, "Z.html");
	assert_int_equal(strncmp(c.page, c.trace, strlen(c.page) - 4), 0);
}

PROJECT_CASE(without_a_recording_a_line_says_how_to_make_one)
{
	assert_refused("report", -ENOENT, "of a project: cargo qprof build");
	assert_refused("--exact --sudo report", -EINVAL, "options before report are those of a");
	/* Help needs none. */
	assert_call("report --help", "qprof-bpf report --help");
}

PROJECT_CASE(a_directory_that_cannot_be_made_is_named)
{
	setenv("XDG_STATE_HOME", "/proc/nothing", 1);
	assert_refused("build", -ENOENT, "set XDG_STATE_HOME to a directory");
}

PROJECT_CASE(the_version_is_that_of_both_names)
{
	assert_call("--version", "qprof-bpf version");
	assert_call("-V", "qprof-bpf version");
}

static void assert_help(const char *line, enum cargo_help expected)
{
	_cargo_call_ struct cargo_call c = {};

	assert_int_equal(call(&c, line), expected);
}

PROJECT_CASE(help_is_no_command)
{
	assert_help("--help", CARGO_HELP_ASKED);
	assert_help("-h", CARGO_HELP_ASKED);
	assert_help("help", CARGO_HELP_ASKED);
	assert_help("--sudo --help", CARGO_HELP_ASKED);
	assert_help("", CARGO_HELP_NEEDED);
	assert_help("--sudo", CARGO_HELP_NEEDED);
	assert_help("+nightly", CARGO_HELP_NEEDED);
	assert_int_not_equal(access(getenv("XDG_STATE_HOME"), F_OK), 0);
}

TEST_MAIN(NULL, NULL)
