// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/parse.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "base/diag.h"
#include "cli/usage.h"
#include "cli/value.h"

#define MAX_OPTIONS 64
#define LONG_BASE   0x100 /* getopt's value of row i is LONG_BASE + i: options without a letter */

#define INTERVAL_LEAST 10000000ull
#define LOOK_LEAST     100000000ull /* of stuck: each look stops threads */
#define INTERVAL_MOST  3600000000000ull
#define RING_MOST      (1ull << 30)

/* One command's rows in the form getopt_long(3) wants. */
struct getopt_tables {
	char letters[2 * MAX_OPTIONS + 3];
	struct option longs[MAX_OPTIONS + 1];
};

static void make_tables(enum cli_command_id id, struct getopt_tables *tables)
{
	size_t n, n_longs = 0;
	const struct cli_option *options = cli_options(&n);
	char *letters = tables->letters;

	memset(tables, 0, sizeof(*tables));
	*letters++ = '-'; /* operands in order, to tell those before "--" from those behind */
	*letters++ = ':'; /* a missing argument is told apart */
	for (size_t i = 0; i < n && n_longs < MAX_OPTIONS; i++) {
		const struct cli_option *o = &options[i];

		if (!cli_takes(id, o))
			continue;
		tables->longs[n_longs++] = (struct option){
			.name = o->name,
			.has_arg = o->arg ? required_argument : no_argument,
			.val = LONG_BASE + (int)i,
		};
		if (!o->letter)
			continue;
		*letters++ = o->letter;
		if (o->arg)
			*letters++ = ':';
	}
}

static const struct cli_option *find_option(enum cli_command_id id, int value)
{
	size_t n;
	const struct cli_option *options = cli_options(&n);

	if (value >= LONG_BASE)
		return (size_t)(value - LONG_BASE) < n ? &options[value - LONG_BASE] : NULL;
	for (size_t i = 0; i < n; i++) {
		if (cli_takes(id, &options[i]) && options[i].letter == value)
			return &options[i];
	}
	return NULL;
}

static int store_choice(unsigned int *field, const struct cli_option *o, const char *arg)
{
	unsigned int index;
	int err = value_choice(arg, o->choices, &index);

	if (!err)
		*field = o->first + index;
	return err;
}

static int add_file(struct cli_files *files, const char *path)
{
	const char **paths = reallocarray(files->paths, files->n + 1, sizeof(*paths));

	if (!paths)
		return -ENOMEM;
	files->paths = paths;
	files->paths[files->n++] = path;
	return *path ? 0 : -EINVAL;
}

static bool is_zero(const struct cli_option *o, const void *field)
{
	const struct cli_threshold *threshold = field;

	if (o->kind == CLI_THRESHOLD)
		return !threshold->ns && !threshold->millipercent;
	return o->kind == CLI_DURATION && !*(const uint64_t *)field;
}

static int parse_value(struct cli *cli, const struct cli_option *o, const char *arg)
{
	void *field = (char *)cli + o->offset;

	switch (o->kind) {
	case CLI_FLAG:
		*(bool *)field = true;
		return 0;
	case CLI_COUNT:
		++*(unsigned int *)field;
		return 0;
	case CLI_TEXT:
	case CLI_FILE:
	case CLI_COMMAND:
		*(const char **)field = arg;
		return *arg ? 0 : -EINVAL;
	case CLI_TEXTS:
		return value_texts(arg, field);
	case CLI_THRESHOLD:
		return value_threshold(arg, field);
	case CLI_GATES:
		return value_gate(arg, field);
	case CLI_FILES:
		return add_file(field, arg);
	case CLI_PIDS:
		return value_pids(arg, field);
	case CLI_DURATION:
		return value_duration(arg, field);
	case CLI_SIZE:
		return value_size(arg, field);
	case CLI_NUMBER:
		return value_number(arg, field);
	case CLI_CHOICE:
		return store_choice(field, o, arg);
	}
	return -EINVAL;
}

static int store(struct cli *cli, const struct cli_option *o, const char *arg)
{
	int err = parse_value(cli, o, arg);

	return !err && o->positive && is_zero(o, (char *)cli + o->offset) ? -ERANGE : err;
}

static const char *expected(enum cli_kind kind)
{
	switch (kind) {
	case CLI_PIDS:
		return "process ids such as 4711 or 4711,4712";
	case CLI_DURATION:
		return "a duration such as 500ms or 2s";
	case CLI_SIZE:
		return "a size such as 64k or 16m";
	case CLI_NUMBER:
		return "a number";
	case CLI_THRESHOLD:
		return "a duration such as 10ms, or a part of all such as 1%";
	case CLI_GATES:
		return "a limit such as 5% or 200ms, or of something: typeck=10%, "
		       "CRATE/QUERY=10%, 'CRATE/*=10%'";
	default:
		return "a name";
	}
}

static int bad_value(const struct cli_option *o, const char *arg, int err)
{
	if (err == -ENOMEM)
		return diag_error_r(err, "out of memory");
	if (err == -ERANGE)
		return diag_error_r(-EINVAL, "--%s '%s' is out of range", o->name, arg);
	if (o->kind == CLI_CHOICE)
		return diag_error_r(-EINVAL, "--%s '%s' is not one of %s", o->name, arg,
				    o->choices);
	return diag_error_r(-EINVAL, "--%s '%s' is not %s", o->name, arg, expected(o->kind));
}

static int set_initial_values(struct cli *cli)
{
	size_t n;
	const struct cli_option *options = cli_options(&n);

	for (size_t i = 0; i < n; i++) {
		int err = options[i].initial ? store(cli, &options[i], options[i].initial) : 0;

		if (err)
			return bad_value(&options[i], options[i].initial, err);
	}
	return 0;
}

/* getopt_long() gave '?' or ':'. */
static int bad_option(const struct cli *cli, char **argv, int got)
{
	const char *name = cli_command(cli->command)->name;
	const struct cli_option *o = optopt ? find_option(cli->command, optopt) : NULL;

	if (o && got == ':')
		return diag_error_r(-EINVAL, "--%s needs an argument: --%s=%s", o->name, o->name,
				    o->arg);
	if (o)
		return diag_error_r(-EINVAL, "--%s takes no argument", o->name);
	if (optopt)
		return diag_error_r(-EINVAL, "unknown option -%c; see qprof-bpf %s --help", optopt,
				    name);
	return diag_error_r(-EINVAL, "unknown or ambiguous option %s; see qprof-bpf %s --help",
			    argv[optind - 1], name);
}

static int take_operand(struct cli *cli, const char *text)
{
	const struct cli_command *command = cli_command(cli->command);
	void *field = (char *)cli + command->operand.offset;

	if (cli->help || cli->version)
		return 0;
	if (command->takes_command && !command->operand.name)
		return diag_error_r(-EINVAL,
				    "unexpected '%s': the command to profile comes after --, as in "
				    "qprof-bpf -- %s; see qprof-bpf --help",
				    text, text);
	if (command->operand.kind == CLI_FILES)
		return add_file(field, text) == -ENOMEM ? diag_error_r(-ENOMEM, "out of memory")
							: 0;
	if (!command->operand.name || *(const char **)field)
		return diag_error_r(-EINVAL, "unexpected '%s'; see qprof-bpf %s --help", text,
				    command->name);
	*(const char **)field = text;
	return 0;
}

/* Of a recording, by whichever command. */
static int check_recording(const struct cli *cli)
{
	const struct cli_record_options *o = &cli->record;

	if (cli_ways_to_record(o) > 1)
		return diag_error_r(-EINVAL, "--pid, --system, --cgroup and a command exclude each "
					     "other: record one of them");
	if (o->interval_ns < INTERVAL_LEAST || o->interval_ns > INTERVAL_MOST)
		return diag_error_r(-EINVAL, "--interval must be from 10ms to 1h");
	if (o->budget.ns)
		return diag_error_r(-EINVAL, "--budget must be a percentage, such as 5%%");
	if (o->ring_bytes & (o->ring_bytes - 1) || o->ring_bytes > RING_MOST ||
	    o->ring_bytes < (uint64_t)sysconf(_SC_PAGESIZE))
		return diag_error_r(-EINVAL,
				    "--ring-size must be a power of two from %ld (a page) "
				    "to 1g, such as 64m",
				    sysconf(_SC_PAGESIZE));
	return 0;
}

static int check_record(const struct cli *cli)
{
	if (!cli_ways_to_record(&cli->record)) {
		cli_print_usage_line(stderr, CLI_RECORD, cli->command_named);
		return -EINVAL;
	}
	return check_recording(cli);
}

static int check_top(const struct cli *cli)
{
	const struct cli_record_options *o = &cli->record;
	bool records = cli_ways_to_record(o);

	if (records && cli->top.file)
		return diag_error_r(-EINVAL,
				    "%s is a trace to show: leave it out, or what is to be "
				    "recorded",
				    cli->top.file);
	if (!records && (o->output || o->force || o->events.n || o->budget.millipercent))
		return diag_error_r(-EINVAL,
				    "--output, --force, --events and --budget are for what "
				    "is recorded: say what");
	return check_recording(cli);
}

static int check_stuck(const struct cli *cli)
{
	const struct cli_stuck_options *o = &cli->stuck;

	if (!o->pids.n) {
		cli_print_usage_line(stderr, CLI_STUCK, true);
		return -EINVAL;
	}
	if (o->interval_ns < LOOK_LEAST || o->interval_ns > INTERVAL_MOST)
		return diag_error_r(-EINVAL, "--interval must be from 100ms to 1h");
	return 0;
}

static int check_dump(const struct cli *cli)
{
	const struct cli_dump_options *o = &cli->dump;

	if (!o->file && !o->schema) {
		cli_print_usage_line(stderr, CLI_DUMP, true);
		return -EINVAL;
	}
	if (o->to_ns < o->from_ns)
		return diag_error_r(-EINVAL, "--to is before --from");
	return 0;
}

static int check_report(const struct cli *cli)
{
	const struct cli_report_options *o = &cli->report;
	bool rows = o->queries.n || o->callers.n || o->sort != CLI_SORT_SELF || o->min.ns ||
		    o->min.millipercent;
	bool build = o->by == CLI_BY_BUILD || o->markdown || o->full;

	if (o->json && o->markdown)
		return diag_error_r(-EINVAL, "--json and --markdown exclude each other");
	if (build && (rows || o->by > CLI_BY_BUILD))
		return diag_error_r(-EINVAL,
				    "--by build, --markdown and --full are about the report of a "
				    "build: leave out other --by, --query, --callers, --sort and "
				    "--min");
	if (o->callers.n && (o->by > CLI_BY_QUERY || o->queries.n))
		return diag_error_r(-EINVAL, "--callers names the queries and says what a row is: "
					     "leave out --query and --by");
	return 0;
}

static int check_diff(const struct cli *cli)
{
	const struct cli_diff_options *o = &cli->diff;

	if (o->sides.n != 2)
		return diag_error_r(-EINVAL,
				    "diff compares two sides, not %zu: several traces of one are "
				    "given as A1,A2,A3 or as a directory",
				    o->sides.n);
	if (o->json && o->markdown)
		return diag_error_r(-EINVAL, "--json and --markdown exclude each other");
	for (size_t i = 0; i < o->gates.n; i++) {
		if (o->metric == CLI_METRIC_COUNT && o->gates.gates[i].limit.ns)
			return diag_error_r(-EINVAL,
					    "--fail-above '%s' is a time, and --metric count "
					    "compares none: give a part, such as 1%%",
					    o->gates.gates[i].text);
	}
	return 0;
}

static int check(const struct cli *cli)
{
	const struct cli_command *command = cli_command(cli->command);
	const void *field = (const char *)cli + command->operand.offset;
	bool given = command->operand.kind == CLI_FILES ? ((const struct cli_files *)field)->n > 0
							: *(const char *const *)field != NULL;

	if (command->operand.required && !given) {
		cli_print_usage_line(stderr, cli->command, true);
		return -EINVAL;
	}
	if (cli->command == CLI_DUMP)
		return check_dump(cli);
	if (cli->command == CLI_STUCK)
		return check_stuck(cli);
	if (cli->command == CLI_REPORT)
		return check_report(cli);
	if (cli->command == CLI_DIFF)
		return check_diff(cli);
	if (cli->command == CLI_TOP)
		return check_top(cli);
	return cli->command == CLI_RECORD ? check_record(cli) : 0;
}

/* The command's name, if it is given; returns how many arguments that took. */
static int take_command_name(int argc, char **argv, struct cli *cli)
{
	cli->command = CLI_RECORD;
	if (argc < 2 || argv[1][0] == '-')
		return 0;
	cli->command = cli_command_by_name(argv[1]);
	cli->command_named = true;
	if (cli->command != CLI_N_COMMANDS)
		return 1;
	return diag_error_r(-EINVAL,
			    "no command '%s'; to profile a program: qprof-bpf -- %s; for "
			    "the commands there are: qprof-bpf --help",
			    argv[1], argv[1]);
}

static int parse_options(int argc, char **argv, struct cli *cli)
{
	struct getopt_tables tables;
	int got, err = 0;

	make_tables(cli->command, &tables);
	opterr = 0;
	optind = 0; /* glibc: start anew */
	while (!err && (got = getopt_long(argc, argv, tables.letters, tables.longs, NULL)) != -1) {
		const struct cli_option *o;

		if (got == '?' || got == ':')
			return bad_option(cli, argv, got);
		if (got == 1) {
			err = take_operand(cli, optarg);
			continue;
		}
		o = find_option(cli->command, got);
		err = o ? store(cli, o, optarg) : -EINVAL;
		if (err)
			return bad_value(o, optarg, err);
	}
	if (!err && cli_command(cli->command)->takes_command && optind < argc)
		cli->record.command = argv + optind;
	for (; !err && !cli->record.command && optind < argc; optind++)
		err = take_operand(cli, argv[optind]);
	return err;
}

int cli_parse(int argc, char **argv, struct cli *cli)
{
	int named, err;

	memset(cli, 0, sizeof(*cli));
	named = take_command_name(argc, argv, cli);
	if (named < 0)
		return named;
	cli->dump.to_ns = UINT64_MAX; /* which no duration says */
	err = set_initial_values(cli) ?: parse_options(argc - named, argv + named, cli);
	if (!err && !cli->help && !cli->version)
		err = check(cli);
	if (err)
		cli__clear(cli);
	return err;
}

static void clear_gates(struct cli_gates *gates)
{
	for (size_t i = 0; i < gates->n; i++) {
		free(gates->gates[i].crate);
		free(gates->gates[i].query);
	}
	free(gates->gates);
	*gates = (struct cli_gates){0};
}

/* The kinds that own something. */
static void clear_field(enum cli_kind kind, void *field)
{
	switch (kind) {
	case CLI_TEXTS:
		free(((struct cli_texts *)field)->texts);
		*(struct cli_texts *)field = (struct cli_texts){0};
		break;
	case CLI_PIDS:
		free(((struct cli_pids *)field)->pids);
		*(struct cli_pids *)field = (struct cli_pids){0};
		break;
	case CLI_FILES:
		free(((struct cli_files *)field)->paths);
		*(struct cli_files *)field = (struct cli_files){0};
		break;
	case CLI_GATES:
		clear_gates(field);
		break;
	default:
		break;
	}
}

void cli__clear(struct cli *cli)
{
	size_t n;
	const struct cli_option *o = cli_options(&n);

	for (size_t i = 0; i < n; i++)
		clear_field(o[i].kind, (char *)cli + o[i].offset);
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		const struct cli_operand *operand = &cli_command(id)->operand;

		if (operand->name)
			clear_field(operand->kind, (char *)cli + operand->offset);
	}
}
