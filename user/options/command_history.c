// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

#include <errno.h>

#include "base/diag.h"

static const char about[] =
	"Keeps what a trace says about a build, a row for each crate, query and expensive item, so "
	"that a later question is not only why a build is slow, but since which commit: see "
	"qprof-bpf trend. record --history adds a build when it ends.\n\n"
	"The history is a SQLite file of yours, which is made when it is needed, or tables of a "
	"ClickHouse server, if many machines share one.";

static const struct cli_example examples[] = {
	{"Keep the rows of a build", "qprof-bpf history add build.qpt"},
	{"See what builds there are", "qprof-bpf history list"},
	{"Fail if the newest takes over 5% more CPU time than those of main",
	 "qprof-bpf history check --against main --fail-above 5%"},
	{},
};

/* The limit of a time is no size. */
static int check_keep(const struct cli_limits *keep)
{
	return keep->bytes
		       ? diag_error_r(-EINVAL, "--keep takes a time here, such as 90d, not a size")
		       : 0;
}

int cli_check_history_gate(const struct cli_gate *gate, unsigned int metric)
{
	if (gate->limit.ns && metric >= CLI_HISTORY_COUNT)
		return diag_error_r(-EINVAL,
				    "--fail-above '%s' is a time, but this metric is none: give a "
				    "percentage, such as 1%%",
				    gate->text);
	if (gate->limit_bytes && metric != CLI_HISTORY_MEMORY)
		return diag_error_r(-EINVAL,
				    "--fail-above '%s' is a size, which only --metric memory "
				    "compares",
				    gate->text);
	if (gate->query && metric != CLI_HISTORY_CPU && metric != CLI_HISTORY_COUNT)
		return diag_error_r(-EINVAL,
				    "--fail-above '%s' is a query, which has no wall time, results "
				    "or memory of its own: name crates, as in 'syn/*=10%%'",
				    gate->text);
	return 0;
}

const struct cli_command cli_history_command = {
	.name = "history",
	.usage = "COMMAND [OPTION...]",
	.summary = "Keep the rows of many builds, and compare commits",
	.text = about,
	.examples = examples,
};

/* ---- List ------------------------------------------------------------------------------------ */

static const struct cli_option list_options[] = {
	HISTORY_STORE_OPTION(history_list.store),
	HISTORY_BUILDS_OPTIONS(history_list.builds),
	HISTORY_WIDE_OPTION(history_list.wide),
	HISTORY_JSON_OPTIONS(history_list, "qprof-history/1"),
	{},
};

static const char about_list[] =
	"Lists the builds of a history, the newest last: when, which commit and branch, by which "
	"toolchain, how long it took, and its CPU time.\n\n"
	"A name of which a terminal has no room is cut; JSON has all columns in full.";

static const struct cli_example list_examples[] = {
	{"The ten newest builds of main", "qprof-bpf history list --branch main --last 10"},
	{"All that is known of each build, for a program", "qprof-bpf history list --json"},
	{},
};

const struct cli_command cli_history_list_command = {
	.name = "history list",
	.usage = "[OPTION...]",
	.summary = "List the builds of a history",
	.text = about_list,
	.options = list_options,
	.examples = list_examples,
};

/* ---- Page ------------------------------------------------------------------------------------ */

static const struct cli_option page_options[] = {
	{
		.letter = 'o',
		.name = "output",
		.arg = "FILE",
		.kind = CLI_FILE,
		.offset = AT(history_page.output),
		.help = "Write the page to FILE, which must not exist, or with - to standard "
			"output.",
	},
	{
		.letter = 'f',
		.name = "force",
		.kind = CLI_FLAG,
		.offset = AT(history_page.force),
		.help = "Overwrite the output file.",
	},
	HISTORY_STORE_OPTION(history_page.store),
	HISTORY_BUILDS_OPTIONS(history_page.builds),
	{},
};

static const char about_page[] =
	"Writes a page for a browser: the trend of the build, of its crates and of their queries, "
	"with the commits at which they changed. It is one file, which loads nothing from "
	"elsewhere.";

static const struct cli_example page_examples[] = {
	{"The trends of main", "qprof-bpf history page --branch main -o trends.html"},
	{},
};

static int check_page(const struct cli *cli)
{
	return cli->history_page.output ? 0 : -ENODATA;
}

const struct cli_command cli_history_page_command = {
	.name = "history page",
	.usage = "[OPTION...] -o FILE",
	.summary = "Write a page of trends for a browser",
	.text = about_page,
	.options = page_options,
	.examples = page_examples,
	.check = check_page,
};

/* ---- Prune ----------------------------------------------------------------------------------- */

static const struct cli_option prune_options[] = {
	{
		.name = "keep",
		.arg = "TIME",
		.kind = CLI_LIMITS,
		.offset = AT(history_prune.keep),
		.help = "Keep the builds that began within this time, such as 90d or 12h.",
	},
	HISTORY_STORE_OPTION(history_prune.store),
	{},
};

static const struct cli_example prune_examples[] = {
	{"Keep three months", "qprof-bpf history prune --keep 90d"},
	{},
};

static int check_prune(const struct cli *cli)
{
	const struct cli_limits *keep = &cli->history_prune.keep;

	return check_keep(keep) ?: keep->ns ? 0 : -ENODATA;
}

const struct cli_command cli_history_prune_command = {
	.name = "history prune",
	.usage = "[OPTION...] --keep TIME",
	.summary = "Remove old builds from a history",
	.text = "Removes the builds that began before a time, with all their rows, and says how "
		"many there were.",
	.options = prune_options,
	.examples = prune_examples,
	.check = check_prune,
};

/* ---- Export ---------------------------------------------------------------------------------- */

static const struct cli_option export_options[] = {
	{
		.letter = 'o',
		.name = "output",
		.arg = "FILE",
		.kind = CLI_FILE,
		.offset = AT(history_export.output),
		.help = "Write to FILE, which must not exist. Without this option, and with -, to "
			"standard output.",
	},
	{
		.letter = 'f',
		.name = "force",
		.kind = CLI_FLAG,
		.offset = AT(history_export.force),
		.help = "Overwrite the output file.",
	},
	HISTORY_STORE_OPTION(history_export.store),
	{},
};

static const struct cli_example export_examples[] = {
	{"Keep a copy", "qprof-bpf history export -o history.jsonl"},
	{},
};

const struct cli_command cli_history_export_command = {
	.name = "history export",
	.usage = "[OPTION...]",
	.summary = "Print all rows of a history as JSON lines",
	.text = "Prints each row of each build as one line of JSON. docs/history.md has the "
		"columns; qprof-bpf export -f jsonl prints those of one trace.",
	.options = export_options,
	.examples = export_examples,
};

/* ---- Merge ----------------------------------------------------------------------------------- */

static const struct cli_option merge_options[] = {
	HISTORY_STORE_OPTION(history_merge.store),
	{},
};

static const struct cli_example merge_examples[] = {
	{"Add the builds of another machine", "qprof-bpf history merge laptop.db"},
	{"Move what history export wrote to a server",
	 "qprof-bpf history merge --store http://ci-db:8123/qprof laptop.jsonl"},
	{},
};

const struct cli_command cli_history_merge_command = {
	.name = "history merge",
	.usage = "[OPTION...] FILE",
	.summary = "Add the builds of another history",
	.text = "Adds the builds of FILE, a history or its JSON lines, that the history does not "
		"have, and says how many they are. FILE stays as it is.",
	.operand = {"FILE", CLI_FILE, true, AT(history_merge.other)},
	.options = merge_options,
	.examples = merge_examples,
};

/* ---- Schema ---------------------------------------------------------------------------------- */

static const struct cli_option schema_options[] = {
	HISTORY_CLUSTER_OPTION(history_schema.cluster),
	HISTORY_KEEP_OPTION(history_schema.keep),
	{},
};

static const struct cli_example schema_examples[] = {
	{"The tables of one server", "qprof-bpf history schema"},
	{"Those of a cluster, which forget builds after two years",
	 "qprof-bpf history schema --cluster ci --keep 730d"},
	{},
};

static int check_schema(const struct cli *cli)
{
	return check_keep(&cli->history_schema.keep);
}

const struct cli_command cli_history_schema_command = {
	.name = "history schema",
	.usage = "[OPTION...]",
	.summary = "Print the tables that a ClickHouse server needs",
	.text = "Prints the statements that make the tables of a history on a ClickHouse server, "
		"for whoever administers it. history migrate executes them.",
	.options = schema_options,
	.examples = schema_examples,
	.check = check_schema,
};

/* ---- Migrate --------------------------------------------------------------------------------- */

static const struct cli_option migrate_options[] = {
	HISTORY_STORE_OPTION(history_migrate.store),
	HISTORY_CLUSTER_OPTION(history_migrate.cluster),
	HISTORY_KEEP_OPTION(history_migrate.keep),
	{},
};

static const struct cli_example migrate_examples[] = {
	{"Make the tables", "qprof-bpf history migrate --store http://ci-db:8123/qprof"},
	{"Make them on all servers of a cluster",
	 "qprof-bpf history migrate --store http://ci-db:8123/qprof --cluster ci"},
	{},
};

static int check_migrate(const struct cli *cli)
{
	return check_keep(&cli->history_migrate.keep);
}

const struct cli_command cli_history_migrate_command = {
	.name = "history migrate",
	.usage = "[OPTION...]",
	.summary = "Make or update the tables of a history",
	.text = "Makes the tables that a history needs, or brings those of an older version up to "
		"date. A SQLite file is also updated when a build is added to it.",
	.options = migrate_options,
	.examples = migrate_examples,
	.check = check_migrate,
};
