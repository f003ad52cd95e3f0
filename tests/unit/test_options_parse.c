// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "options/parse.h"
#include "options/command.h"

#include "../fixtures/output.h"
#include "../fixtures/rows.h"

#define MAX_ARGS 16

static struct cli cli; /* the last line that was parsed, with its words */
static char *words;

static int forget(void **state)
{
	cli__clear(&cli);
	cli = (struct cli){};
	free(words);
	words = NULL;
	return 0;
}

/* Parse the words of `line` into `cli`. The output goes to *o. */
static int parse_words(const char *line, struct output *o)
{
	static char *argv[MAX_ARGS + 1];
	int argc = 0;

	forget(NULL);
	words = strdup(line);
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
		assert_true(argc < MAX_ARGS);
		argv[argc++] = word;
	}
	argv[argc] = NULL;
	memset(&cli, 0xff, sizeof(cli)); /* cli_parse() sets all of it */
	return CAPTURED(o, cli_parse(argc, argv, &cli));
}

static void parse(const char *line)
{
	_output_ struct output o = {};
	int err = parse_words(line, &o);

	assert_string_equal(o.text[0], "");
	assert_string_equal(o.text[1], "");
	assert_int_equal(err, 0);
}

static void refuse(const char *line, const char *says)
{
	_output_ struct output o = {};

	assert_int_equal(parse_words(line, &o), -EINVAL);
	assert_string_equal(o.text[0], "");
	assert_contains(o.text[1], says);
	assert_one_line(o.text[1]);
}

TEST_CASE(record_is_the_default)
{
	parse("qprof-bpf -p 12");
	assert_int_equal(cli.command, CLI_RECORD);
	assert_false(cli.command_named);
	assert_int_equal(cli.record.pids.n, 1);
	assert_null(cli.record.command);
	assert_null(cli.record.output);
	assert_int_equal(cli.record.interval_ns, 0);
	assert_int_equal(cli_interval_ns(&cli.record), 1000000000);
	assert_int_equal(cli.record.ring_bytes, 16 << 20);
	assert_int_equal(cli.record.attach, CLI_ATTACH_AUTO);
	assert_false(cli.record.json || cli.record.quiet || cli.record.force || cli.verbose);
	parse("qprof-bpf record -p 12");
	assert_true(cli.command_named);
}

TEST_CASE(every_record_option_is_stored)
{
	parse("qprof-bpf -fqvv -o a.qpt -i500ms --slow 2s --json --ring-size=1m --attach perf "
	      "-p 1,2 --pid=3 -p 2");
	assert_true(cli.record.force && cli.record.quiet && cli.record.json);
	assert_int_equal(cli.verbose, 2);
	assert_string_equal(cli.record.output, "a.qpt");
	assert_pairs(cli.record.interval_ns, 500000000, cli.record.slow_ns, 2000000000,
		     cli.record.ring_bytes, 1 << 20, cli.record.attach, CLI_ATTACH_PERF,
		     cli.record.pids.n, 3);
}

TEST_CASE(the_command_comes_whole_after_two_dashes)
{
	parse("qprof-bpf -q -- cargo build -q -- -p");
	assert_string_equal(cli.record.command[0], "cargo");
	assert_string_equal(cli.record.command[2], "-q");
	assert_string_equal(cli.record.command[4], "-p");
	assert_null(cli.record.command[5]);
}

TEST_CASE(record_needs_one_target)
{
	refuse("qprof-bpf --", "usage: qprof-bpf [OPTION...] (-p PID");
	refuse("qprof-bpf record", "usage: qprof-bpf record");
	refuse("qprof-bpf -p 1 -- true", "exclude each other");
	refuse("qprof-bpf -q cargo build", "qprof-bpf -- cargo");
	refuse("qprof-bpf cargo build", "qprof-bpf -- cargo");
}

/* A script that has lost its arguments must not succeed. */
TEST_CASE(without_words_four_commands_are_named)
{
	_output_ struct output o = {};

	assert_int_equal(parse_words("qprof-bpf", &o), -EINVAL);
	assert_string_equal(o.text[0], "");
	assert_golden("cli/first_screen.txt", o.text[1]);
}

TEST_CASE(bad_values_say_what_is_expected)
{
	refuse("qprof-bpf -p x", "--pid 'x' is not process ids such as 4711");
	refuse("qprof-bpf -p 99999999999", "out of range");
	refuse("qprof-bpf --slow 0 -- make", "--slow '0' is out of range");
	refuse("qprof-bpf --budget 5% -- make", "--budget is gone: ");
	refuse("qprof-bpf --budget=5% -- make", "--budget is gone: ");
	refuse("qprof-bpf -p 1 -i 5x", "a duration such as 500ms");
	refuse("qprof-bpf -p 1 -i 1ms", "from 10ms to 1h");
	refuse("qprof-bpf -p 1 -i 2h", "from 10ms to 1h");
	refuse("qprof-bpf -p 1 --ring-size 3m", "power of two");
	refuse("qprof-bpf -p 1 --ring-size 2g", "power of two");
	refuse("qprof-bpf -p 1 --ring-size 1k", "power of two");
	refuse("qprof-bpf -p 1 --ring-size big", "a size such as");
	refuse("qprof-bpf -p 1 --attach ptrace", "not one of auto|multi|perf|read");
	refuse("qprof-bpf -p 1 --output= ", "--output '' is not");
}

TEST_CASE(unknown_and_incomplete_options_are_refused)
{
	refuse("qprof-bpf -x", "unknown option -x");
	refuse("qprof-bpf --nope", "option --nope");
	refuse("qprof-bpf --pid", "--pid needs an argument: --pid=PID[,PID...]");
	refuse("qprof-bpf -p", "--pid needs an argument");
	refuse("qprof-bpf --json=1 -p 1", "--json takes no argument");
	refuse("qprof-bpf report --force x", "option --force");
}

TEST_CASE(report_takes_one_file)
{
	parse("qprof-bpf report a.qpt --json -n 5");
	assert_int_equal(cli.command, CLI_REPORT);
	assert_string_equal(cli.report.file, "a.qpt");
	assert_true(cli.report.json);
	assert_int_equal(cli.report.top, 5);
	parse("qprof-bpf report -- -odd-name");
	assert_string_equal(cli.report.file, "-odd-name");
	refuse("qprof-bpf report", "usage: qprof-bpf report [OPTION...] FILE");
	refuse("qprof-bpf report --callers x", "usage: qprof-bpf report [OPTION...] FILE");
	refuse("qprof-bpf report --callers /dev/null",
	       "'/dev/null' became the value of --callers, so no FILE is left");
	refuse("qprof-bpf report --callers=/dev/null", "usage: qprof-bpf report");
	refuse("qprof-bpf report --callers x --query /dev/null",
	       "'/dev/null' became the value of --query");
	refuse("qprof-bpf report a b", "unexpected 'b'");
	parse("qprof-bpf report --callers type_of --callers 'x*' a");
	assert_int_equal(cli.report.callers.n, 2);
	assert_string_equal(cli.report.callers.texts[0], "type_of");
	refuse("qprof-bpf report --sort instances a", "--by item");
	refuse("qprof-bpf report --sort instances --by cgu a", "--by item");
	refuse("qprof-bpf report --callers x --by crate a", "leave out --query and --by");
	refuse("qprof-bpf report --callers x --query y a", "leave out --query and --by");
	parse("qprof-bpf report --callers x --by query a");
}

TEST_CASE(a_build_has_rows_of_its_own)
{
	parse("qprof-bpf report a");
	assert_int_equal(cli.report.by, CLI_BY_AUTO);
	parse("qprof-bpf report --by build --full --markdown -n 3 a");
	assert_int_equal(cli.report.by, CLI_BY_BUILD);
	assert_true(cli.report.full);
	assert_true(cli.report.markdown);
	refuse("qprof-bpf report --json --markdown a", "exclude each other");
	refuse("qprof-bpf report --by query --full a", "about the report of a build");
	refuse("qprof-bpf report --by build --query x a", "about the report of a build");
	refuse("qprof-bpf report --markdown --callers x a", "about the report of a build");
	refuse("qprof-bpf report --full --sort max a", "about the report of a build");
	refuse("qprof-bpf report --by build --min 1% a", "about the report of a build");
}

TEST_CASE(samples_have_rows_of_their_own)
{
	parse("qprof-bpf report --functions --query x --own --min 1% --sort total a");
	assert_true(cli.report.functions && cli.report.own);
	parse("qprof-bpf report --tree up --memory --query x a");
	assert_int_equal(cli.report.tree, CLI_TREE_UP);
	parse("qprof-bpf report --waits --query x --json -n 3 a");
	assert_true(cli.report.waits);
	parse("qprof-bpf report --memory --min 2% --wide a");
	refuse("qprof-bpf report --functions --by crate a", "choose the rows");
	refuse("qprof-bpf report --tree down --callers x a", "choose the rows");
	refuse("qprof-bpf report --memory --markdown a", "choose the rows");
	refuse("qprof-bpf report --waits --raw a", "choose the rows");
	refuse("qprof-bpf report --memory --waits a", "exclude each other");
	refuse("qprof-bpf report --own a", "--own is for --functions");
	refuse("qprof-bpf report --schema --memory",
	       "--schema has the fields of report --json alone");
	refuse("qprof-bpf report --own --functions a", "name one");
	refuse("qprof-bpf report --memory --query x a", "use it with --functions");
	refuse("qprof-bpf report --memory --min 1ms a", "give --min as a share");
	refuse("qprof-bpf report --functions --sort max a", "sorted by self");
	refuse("qprof-bpf report --tree up --sort total a", "sorted by self");
	refuse("qprof-bpf report --tree sideways a", "not one of down|up");
}

TEST_CASE(the_other_commands_parse)
{
	parse("qprof-bpf plan");
	assert_null(cli.plan.target);
	parse("qprof-bpf plan --full --no-cache +nightly");
	assert_string_equal(cli.plan.target, "+nightly");
	assert_true(cli.plan.full && cli.plan.no_cache);
	parse("qprof-bpf help --completion fish");
	assert_int_equal(cli.help.completion, CLI_SHELL_FISH);
	parse("qprof-bpf help");
	assert_int_equal(cli.help.completion, CLI_SHELL_NONE);
	parse("qprof-bpf version");
	assert_int_equal(cli.command, CLI_VERSION);
	refuse("qprof-bpf version now", "unexpected 'now'");
}

TEST_CASE(help_and_version_need_nothing_else)
{
	parse("qprof-bpf --help");
	assert_true(cli.show_help);
	parse("qprof-bpf --help report");
	assert_true(cli.show_help);
	parse("qprof-bpf report -h");
	assert_true(cli.show_help && cli.command == CLI_REPORT);
	parse("qprof-bpf -V");
	assert_true(cli.show_version);
}

TEST_CASE(a_group_alone_prints_what_it_has)
{
	_output_ struct output o = {};

	assert_int_equal(parse_words("qprof-bpf history", &o), -EINVAL);
	assert_contains(o.text[1], "usage: qprof-bpf history COMMAND");
	assert_contains(o.text[1], "\n       qprof-bpf history list [OPTION...]\n");
}

TEST_CASE(a_command_may_have_two_words)
{
	parse("qprof-bpf history add --label nightly a.qpt b.qpt");
	assert_int_equal(cli.command, CLI_HISTORY_ADD);
	assert_int_equal(cli.history_add.traces.n, 2);
	assert_string_equal(cli.history_add.label, "nightly");
	parse("qprof-bpf history --help");
	assert_true(cli.show_help && cli.command == CLI_HISTORY);
	parse("qprof-bpf help history add");
	assert_string_equal(cli.help.topic.word, "history");
	assert_string_equal(cli.help.topic.verb, "add");
	refuse("qprof-bpf help history add now", "unexpected 'now'");
	refuse("qprof-bpf history nope", "no command 'history nope'");
	refuse("qprof-bpf history -v add", "no command 'history add'");
}

TEST_CASE(questions_to_a_history_are_checked)
{
	parse("qprof-bpf history diff 1f2e 5a6b");
	assert_int_equal(cli.history_diff.commits.n, 2);
	parse("qprof-bpf trend --query typeck --metric count --last 7");
	assert_int_equal(cli.trend.metric, CLI_HISTORY_COUNT);
	assert_int_equal(cli.trend.builds.last, 7);
	parse("qprof-bpf history prune --keep 90d");
	assert_int_equal(cli.history_prune.keep.ns, 90 * 86400000000000ull);
	refuse("qprof-bpf trend --last 0", "--last '0' is out of range");
	refuse("qprof-bpf trend --query typeck --item a::b", "--query and --item exclude");
	refuse("qprof-bpf trend --query typeck --metric wall", "have no --metric wall");
	refuse("qprof-bpf history diff 1f2e", "two commits, not 1");
	refuse("qprof-bpf history diff", "usage: qprof-bpf history diff");
	refuse("qprof-bpf history check --fail-above 5%", "usage: qprof-bpf history check");
	refuse("qprof-bpf history check --against main", "usage: qprof-bpf history check");
	refuse("qprof-bpf history check --against main --fail-above 1s --metric count",
	       "is a time, but this metric is none");
	refuse("qprof-bpf history check --against main --fail-above 1MiB", "is a size");
	refuse("qprof-bpf history prune", "usage: qprof-bpf history prune");
	refuse("qprof-bpf history prune --keep 1g", "a time here");
	refuse("qprof-bpf history page", "usage: qprof-bpf history page");
	refuse("qprof-bpf history merge", "usage: qprof-bpf history merge");
	refuse("qprof-bpf --store x -- true", "take --history");
}

TEST_CASE(every_example_parses)
{
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		const struct cli_example *example = cli_command(id)->examples;

		assert_non_null(example->line);
		for (; example->line; example++) {
			char *line = strdup(example->line), *pipe = strstr(line, " |");
			if (pipe)
				*pipe = '\0';
			parse(strncmp(line, "sudo ", 5) ? line : line + 5);
			assert_true(cli.command == id || cli_command_is_in(cli.command, id));
			free(line);
		}
	}
}

TEST_CASE(import_takes_any_number_of_files)
{
	parse("qprof-bpf import a -o out b --force -- -c");
	assert_int_equal(cli.command, CLI_IMPORT);
	assert_int_equal(cli.import.files.n, 3);
	assert_string_equal(cli.import.files.paths[0], "a");
	assert_string_equal(cli.import.files.paths[1], "b");
	assert_string_equal(cli.import.files.paths[2], "-c");
	assert_string_equal(cli.import.output, "out");
	assert_true(cli.import.force);
	refuse("qprof-bpf import -o out", "usage: qprof-bpf import [OPTION...] PROFILE...");
}

TEST_CASE(export_has_a_format_and_a_place)
{
	parse("qprof-bpf export t.qpt");
	assert_int_equal(cli.command, CLI_EXPORT);
	assert_int_equal(cli.export.format, CLI_FORMAT_MEASUREME);
	assert_string_equal(cli.export.output, ".");
	assert_false(cli.export.force);
	parse("qprof-bpf export -f measureme -o dir --force t.qpt");
	assert_string_equal(cli.export.output, "dir");
	assert_string_equal(cli.export.file, "t.qpt");
	assert_true(cli.export.force);
	parse("qprof-bpf export -f folded --waits t.qpt");
	assert_true(cli.export.waits);
	refuse("qprof-bpf export --functions t.qpt", "are for stacks");
	refuse("qprof-bpf export -f html --memory t.qpt", "html has all samples");
	refuse("qprof-bpf export -f folded --functions --memory t.qpt", "exclude each other");
	refuse("qprof-bpf export -f folded --functions --keys t.qpt", "no keys and no items");
	refuse("qprof-bpf export -f folded --waits --by item t.qpt", "no keys and no items");
	parse("qprof-bpf export -f folded --raw -o - t.qpt");
	assert_int_equal(cli.export.format, CLI_FORMAT_FOLDED);
	assert_string_equal(cli.export.output, "-");
	assert_true(cli.export.raw);
	assert_int_equal(cli.export.max_bytes, 512 << 20);
	parse("qprof-bpf export -f counts --max-size 0 t.qpt");
	assert_int_equal(cli.export.format, CLI_FORMAT_COUNTS);
	assert_int_equal(cli.export.max_bytes, 0);
	refuse("qprof-bpf export -f svg t.qpt", "--format svg is gone: -f html has flame graphs");
	refuse("qprof-bpf export --format=chrome t.qpt",
	       "--format chrome is gone: ui.perfetto.dev");
	refuse("qprof-bpf plan --debuginfod", "--debuginfod is gone: plan prints the line");
	refuse("qprof-bpf export -f png t.qpt", "--format 'png' is not one of measureme|perfetto|");
	refuse("qprof-bpf export a b", "unexpected 'b'");
	parse("qprof-bpf export -f pprof --keys t.qpt");
	assert_true(cli.export.keys);
	refuse("qprof-bpf export --keys t.qpt", "--keys is for stacks");
	refuse("qprof-bpf export -f html --keys t.qpt", "--keys is for stacks");
}

TEST_CASE(dump_goes_to_the_end_by_default)
{
	parse("qprof-bpf dump a.qpt");
	assert_true(cli.dump.to_ns == UINT64_MAX);
	parse("qprof-bpf dump --to 0s a.qpt");
	assert_true(cli.dump.to_ns == 0);
	refuse("qprof-bpf dump --from 1s --to 0s a.qpt", "--to is before --from");
}

TEST_CASE(top_shows_one_thing)
{
	parse("qprof-bpf top");
	assert_int_equal(cli.command, CLI_TOP);
	assert_null(cli.top.file);
	assert_int_equal(cli_interval_ns(&cli.top.record), 1000000000);
	parse("qprof-bpf top -i 200ms a.qpt");
	assert_string_equal(cli.top.file, "a.qpt");
	assert_int_equal(cli.top.record.interval_ns, 200000000);
	parse("qprof-bpf top -p 17,18 -o b.qpt");
	assert_int_equal(cli.top.record.pids.n, 2);
	assert_string_equal(cli.top.record.output, "b.qpt");
	parse("qprof-bpf top -e passes -- make -j4 a.qpt");
	assert_null(cli.top.file);
	assert_string_equal(cli.top.record.command[2], "a.qpt");
	refuse("qprof-bpf top a.qpt b.qpt", "unexpected 'b.qpt'");
	refuse("qprof-bpf top -p 17 -- make", "exclude each other");
	refuse("qprof-bpf top -p 17 a.qpt", "a.qpt is a trace to show");
	refuse("qprof-bpf top -o b.qpt a.qpt", "are for a recording: name what to record");
	refuse("qprof-bpf top -i 1ms", "--interval must be");
	refuse("qprof-bpf top -i 0", "out of range");
}

TEST_CASE(samples_have_a_rate_of_their_own)
{
	parse("qprof-bpf -- make");
	assert_false(cli_samples(&cli.record));
	parse("qprof-bpf --sample --off-cpu-stacks -- make");
	assert_int_equal(cli.record.sample_hz, 251);
	assert_true(cli.record.off_cpu_stacks);
	assert_true(cli_samples(&cli.record));
	assert_int_equal(cli.record.fault_period, 0);
	parse("qprof-bpf --sample=10000 --memory -e none -- make");
	assert_int_equal(cli.record.sample_hz, 10000);
	assert_int_equal(cli.record.fault_period, 100);
	parse("qprof-bpf top --memory=1 -p 1");
	assert_int_equal(cli.top.record.sample_hz, 0);
	assert_int_equal(cli.top.record.fault_period, 1);
	assert_true(cli_samples(&cli.top.record));
	parse("qprof-bpf --memory-light -- make");
	assert_int_equal(cli.record.light_period, 100);
	assert_int_equal(cli.record.fault_period, 0);
	assert_true(cli_samples(&cli.record));
	parse("qprof-bpf --exact --no-sample --memory -- make");
	assert_true(cli.record.no_sample && cli.record.fault_period);
	refuse("qprof-bpf --sample --no-sample -- make", "exclude each other");
	refuse("qprof-bpf top --no-sample a.qpt", "are for a recording");
	parse("qprof-bpf --memory-light=7 -- make");
	assert_int_equal(cli.record.light_period, 7);
	refuse("qprof-bpf --memory --memory-light -- make",
	       "--memory and --memory-light exclude each other");
	refuse("qprof-bpf --memory-light=1000001 -- make", "--memory-light must be from 1 to");
	refuse("qprof-bpf --sample 99 -- make",
	       "a number for --sample comes after an equals sign: --sample=99");
	refuse("qprof-bpf -q --sample 99", "--sample=99");
	refuse("qprof-bpf --sample -q 99", "unexpected '99'");
	refuse("qprof-bpf --sample=0 -- make", "--sample '0' is out of range");
	refuse("qprof-bpf --memory=0 -- make", "--memory '0' is out of range");
	refuse("qprof-bpf --sample=10001 -- make", "--sample must be from 1 to 10000");
	refuse("qprof-bpf --memory=1000001 -- make", "--memory must be from 1 to 1000000");
	refuse("qprof-bpf --sample=x -- make", "is not a number");
	refuse("qprof-bpf --off-cpu-stacks=1 -- make", "takes no argument");
	refuse("qprof-bpf top --exact a.qpt", "are for a recording: name what to record");
	refuse("qprof-bpf top --sample a.qpt", "are for a recording: name what to record");
}

TEST_CASE(diff_takes_two_sides)
{
	parse("qprof-bpf diff a,b c");
	assert_int_equal(cli.command, CLI_DIFF);
	assert_string_equal(cli.diff.sides.paths[0], "a,b");
	assert_string_equal(cli.diff.sides.paths[1], "c");
	assert_pairs(cli.diff.metric, CLI_METRIC_SELF, cli.diff.min.ns, 5000000, cli.diff.top, 10);
	assert_true(!cli.diff.json && !cli.diff.markdown && !cli.diff.gates.n);
	parse("qprof-bpf diff --fail-above 5% a --min 1% --fail-above=x/y=1s b --json");
	assert_int_equal(cli.diff.gates.n, 2);
	assert_string_equal(cli.diff.gates.gates[1].crate, "x");
	assert_int_equal(cli.diff.min.ns, 0);
	assert_int_equal(cli.diff.min.ppm, 10000);
	refuse("qprof-bpf diff", "usage: qprof-bpf diff [OPTION...] BASE NEW");
	refuse("qprof-bpf diff a", "diff compares two sides, not 1");
	refuse("qprof-bpf diff a b c", "A1,A2,A3 or as a directory");
	refuse("qprof-bpf diff a b --json --markdown", "exclude each other");
	refuse("qprof-bpf diff a b --by item --metric total", "no total time");
	refuse("qprof-bpf diff a b --fail-above typeck", "is not a limit such as 5%");
	refuse("qprof-bpf diff a b --metric count --fail-above 5ms",
	       "give a percentage, such as 1%");
}

TEST_MAIN(NULL, forget)
