// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/parse.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "options/command.h"
#include "options/usage.h"
#include "options/value.h"

#define MAX_OPTIONS 64
#define LONG_BASE   0x100 /* getopt's value of row i is LONG_BASE + i: options without a letter */

/* One command's rows in the form getopt_long(3) wants. */
struct getopt_tables {
	char letters[2 * MAX_OPTIONS + 3];
	struct option longs[MAX_OPTIONS + 1];
};

static void make_tables(enum cli_command_id id, struct getopt_tables *tables)
{
	char *letters = tables->letters;
	const struct cli_option *o;

	memset(tables, 0, sizeof(*tables));
	*letters++ = '-'; /* operands in order; getopt does not return operands after "--" */
	*letters++ = ':'; /* returns ':' for a missing argument, instead of '?' */
	for (size_t i = 0; i < MAX_OPTIONS && (o = cli_option(id, i)); i++) {
		tables->longs[i] = (struct option){
			.name = o->name,
			.has_arg = o->implied ? optional_argument
				   : o->arg   ? required_argument
					      : no_argument,
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
	const struct cli_option *o;

	if (value >= LONG_BASE)
		return cli_option(id, (size_t)(value - LONG_BASE));
	for (size_t i = 0; (o = cli_option(id, i)); i++) {
		if (o->letter == value)
			return o;
	}
	return NULL;
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

static int parse_value(struct cli *cli, const struct cli_option *o, const char *arg)
{
	void *field = (char *)cli + o->offset;
	unsigned int index;
	int err;

	switch (o->kind) {
	case CLI_FLAG:
		*(bool *)field = true;
		return 0;
	case CLI_COUNT:
		++*(unsigned int *)field;
		return 0;
	case CLI_TEXT:
	case CLI_FILE:
		*(const char **)field = arg;
		return *arg ? 0 : -EINVAL;
	case CLI_COMMAND:
		return -EINVAL;
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
	case CLI_LIMITS:
		return value_limit(arg, field);
	case CLI_SIZE:
		return value_size(arg, field);
	case CLI_NUMBER:
		return value_number(arg, field);
	case CLI_CHOICE:
		err = value_choice(arg, o->choices, &index);
		if (!err)
			*(unsigned int *)field = o->first + index;
		return err;
	}
	return -EINVAL;
}

static int store(struct cli *cli, const struct cli_option *o, const char *arg)
{
	const void *field = (const char *)cli + o->offset;
	const struct cli_threshold *threshold = field;
	int err = parse_value(cli, o, arg);
	bool zero = false;

	if (err || !o->positive)
		return err;
	if (o->kind == CLI_THRESHOLD)
		zero = !threshold->ns && !threshold->ppm;
	else if (o->kind == CLI_DURATION || o->kind == CLI_NUMBER)
		zero = !*(const uint64_t *)field;
	return zero ? -ERANGE : 0;
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
	case CLI_LIMITS:
		return "a time such as 1h or 7d, or a size such as 256m or 10g";
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

/* What other versions took, and what there is instead. */
static const struct {
	const char *option, *value, *instead;
} gone[] = {
	{"budget", NULL, "without it no query has probes, --exact records each execution"},
	{"debuginfod", NULL,
	 "plan prints the line that installs the debug file of a library without symbols"},
	{"format", "chrome",
	 "ui.perfetto.dev opens that of -f perfetto, any browser that of -f html"},
	{"format", "svg", "-f html has flame graphs; inferno-flamegraph draws one of -f folded"},
};

/* `value` is NULL for an option that is gone itself; it is `len` bytes at `option`. */
static int refuse_gone(const char *option, size_t len, const char *value)
{
	for (size_t i = 0; i < N_OF(gone); i++)
		if (!value == !gone[i].value && !strncmp(gone[i].option, option, len) &&
		    !gone[i].option[len] && (!value || !strcmp(gone[i].value, value)))
			return diag_error_r(-EINVAL, "--%s%s%s is gone: %s", gone[i].option,
					    value ? " " : "", value ?: "", gone[i].instead);
	return 0;
}

static int bad_value(const struct cli_option *o, const char *arg, int err)
{
	if (err == -EINVAL && refuse_gone(o->name, strlen(o->name), arg))
		return err;
	if (err == -ENOMEM)
		return diag_error_r(err, "out of memory");
	if (err == -ERANGE)
		return diag_error_r(-EINVAL, "--%s '%s' is out of range", o->name, arg);
	if (o->kind == CLI_CHOICE)
		return diag_error_r(-EINVAL, "--%s '%s' is not one of %s", o->name, arg,
				    o->choices);
	return diag_error_r(-EINVAL, "--%s '%s' is not %s", o->name, arg, expected(o->kind));
}

/* Report why getopt_long() returned '?' or ':'. */
static int bad_option(const struct cli *cli, char **argv, int got)
{
	const char *name = cli_command(cli->command)->name, *word = argv[optind - 1];
	const struct cli_option *o = optopt ? find_option(cli->command, optopt) : NULL;

	if (o && got == ':')
		return diag_error_r(-EINVAL, "--%s needs an argument: --%s=%s", o->name, o->name,
				    o->arg);
	if (o)
		return diag_error_r(-EINVAL, "--%s takes no argument", o->name);
	if (optopt)
		return diag_error_r(-EINVAL, "unknown option -%c; see qprof-bpf %s --help", optopt,
				    name);
	return refuse_gone(word + 2, strcspn(word + 2, "="), NULL)
		       ?: diag_error_r(-EINVAL,
				       "unknown or ambiguous option %s; see qprof-bpf %s --help",
				       word, name);
}

static int no_command(const char *group, const char *verb)
{
	return diag_error_r(-EINVAL, "no command '%s %s'; for those there are: qprof-bpf %s --help",
			    group, verb, group);
}

static int take_operand(struct cli *cli, const char *text)
{
	const struct cli_command *command = cli_command(cli->command);
	enum cli_kind kind = command->operand.kind;
	void *field = (char *)cli + command->operand.offset;
	struct cli_name *name = field;
	const char **word = kind == CLI_COMMAND && name->word ? &name->verb : field;

	if (cli->show_help || cli->show_version)
		return 0;
	if (cli_command_is_group(cli->command))
		return no_command(command->name, text);
	if (command->command && !command->operand.name)
		return diag_error_r(-EINVAL,
				    "unexpected '%s': the command to profile comes after --, as in "
				    "qprof-bpf -- %s; see qprof-bpf --help",
				    text, text);
	if (kind == CLI_FILES || kind == CLI_TEXTS) {
		int err = kind == CLI_FILES ? add_file(field, text) : value_texts(text, field);

		return err == -ENOMEM ? diag_error_r(err, "out of memory") : 0;
	}
	if (!command->operand.name || *word)
		return diag_error_r(-EINVAL, "unexpected '%s'; see qprof-bpf %s --help", text,
				    command->name);
	*word = text;
	return 0;
}

static bool has_operand(const struct cli *cli)
{
	const struct cli_operand *operand = &cli_command(cli->command)->operand;
	const void *field = (const char *)cli + operand->offset;

	if (operand->kind == CLI_FILES)
		return ((const struct cli_files *)field)->n;
	if (operand->kind == CLI_TEXTS)
		return ((const struct cli_texts *)field)->n;
	return *(const char *const *)field;
}

/* The last word, if an option took it as its value. */
struct taken {
	const struct cli_option *by; /* NULL: none did */
	const char *word;
};

static int check(const struct cli *cli, const struct taken *last)
{
	const struct cli_command *command = cli_command(cli->command);
	int err = 0;

	if (cli_command_is_group(cli->command) || (command->operand.required && !has_operand(cli)))
		err = -ENODATA;
	else if (command->check)
		err = command->check(cli);
	if (err != -ENODATA)
		return err;
	if (last->by && command->operand.name && !has_operand(cli) && !access(last->word, F_OK))
		return diag_error_r(
			-EINVAL,
			"'%s' became the value of --%s, so no %s is left; see qprof-bpf "
			"%s --help",
			last->word, last->by->name, command->operand.name, command->name);
	cli_print_usage_line(stderr, cli->command, cli->command_named);
	return -EINVAL;
}

/* Take the command's name, of one word or two, if given; returns the number of words taken. */
static int take_command_name(int argc, char **argv, struct cli *cli)
{
	struct cli_name name = {};
	enum cli_command_id id;

	cli->command = CLI_RECORD;
	if (argc < 2 || argv[1][0] == '-')
		return 0;
	name.word = argv[1];
	id = cli_command_by_name(&name);
	if (id == CLI_N_COMMANDS)
		return diag_error_r(-EINVAL,
				    "no command '%s'; to profile a program: qprof-bpf -- %s; for "
				    "the commands there are: qprof-bpf --help",
				    argv[1], argv[1]);
	cli->command = id;
	cli->command_named = true;
	if (!cli_command_is_group(id) || argc < 3 || argv[2][0] == '-')
		return 1;
	name.verb = argv[2];
	id = cli_command_by_name(&name);
	if (id == CLI_N_COMMANDS)
		return no_command(name.word, name.verb);
	cli->command = id;
	return 2;
}

/* Take everything after "--": a command, or operands. */
static int take_rest(int argc, char **argv, struct cli *cli)
{
	size_t command = cli_command(cli->command)->command;

	if (command && optind < argc) {
		*(char ***)((char *)cli + command) = argv + optind;
		return 0;
	}
	for (; optind < argc; optind++) {
		int err = take_operand(cli, argv[optind]);

		if (err)
			return err;
	}
	return 0;
}

/* A number after an option whose argument may be left out was meant to be that argument. */
static int check_implied(const struct cli *cli, int option, int got)
{
	const struct cli_option *o = option ? find_option(cli->command, option) : NULL;

	if (!o || !o->implied || got != 1 || *optarg < '0' || *optarg > '9')
		return 0;
	return diag_error_r(-EINVAL, "a number for --%s comes after an equals sign: --%s=%s",
			    o->name, o->name, optarg);
}

static int parse_options(int argc, char **argv, struct cli *cli, struct taken *last)
{
	struct getopt_tables tables;
	int got, option = 0; /* the one before, if it came without an argument */

	make_tables(cli->command, &tables);
	opterr = 0;
	optind = 0; /* glibc: restart the scan */
	while ((got = getopt_long(argc, argv, tables.letters, tables.longs, NULL)) != -1) {
		const struct cli_option *o = got > 1 ? find_option(cli->command, got) : NULL;
		int err = check_implied(cli, option, got);

		if (err)
			return err;
		if (got == '?' || got == ':')
			return bad_option(cli, argv, got);
		if (got == 1) {
			err = take_operand(cli, optarg);
		} else {
			const char *arg = optarg ?: o->implied;

			err = store(cli, o, arg);
			err = err ? bad_value(o, arg, err) : 0;
		}
		if (err)
			return err;
		option = got > 1 && !optarg ? got : 0;
		if (got > 1 && optarg && optind == argc && optarg == argv[argc - 1])
			*last = (struct taken){o, optarg};
	}
	return take_rest(argc, argv, cli);
}

int cli_parse(int argc, char **argv, struct cli *cli)
{
	const struct cli_option *o;
	struct taken last = {};
	int named, err = 0;

	memset(cli, 0, sizeof(*cli));
	if (argc < 2) {
		cli_print_first_screen(stderr);
		return -EINVAL;
	}
	named = take_command_name(argc, argv, cli);
	if (named < 0)
		return named;
	cli->dump.to_ns = UINT64_MAX; /* no duration as an argument has this value */
	for (size_t i = 0; !err && (o = cli_option(cli->command, i)); i++) {
		err = o->initial ? store(cli, o, o->initial) : 0;
		err = err ? bad_value(o, o->initial, err) : 0;
	}
	err = err ?: parse_options(argc - named, argv + named, cli, &last);
	if (!err && !cli->show_help && !cli->show_version)
		err = check(cli, &last);
	if (err)
		cli__clear(cli);
	return err;
}

/* Only some kinds own memory. */
static void clear_field(enum cli_kind kind, void *field)
{
	struct cli_gates *gates = field;

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
		for (size_t i = 0; i < gates->n; i++) {
			free(gates->gates[i].crate);
			free(gates->gates[i].query);
		}
		free(gates->gates);
		*gates = (struct cli_gates){0};
		break;
	default:
		break;
	}
}

void cli__clear(struct cli *cli)
{
	const struct cli_operand *operand = &cli_command(cli->command)->operand;
	const struct cli_option *o;

	for (size_t i = 0; (o = cli_option(cli->command, i)); i++)
		clear_field(o->kind, (char *)cli + o->offset);
	if (operand->name)
		clear_field(operand->kind, (char *)cli + operand->offset);
}
