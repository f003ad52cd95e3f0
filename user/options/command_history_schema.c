// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

static const struct cli_option options[] = {
	HISTORY_CLUSTER_OPTION(history_schema.cluster),
	HISTORY_KEEP_OPTION(history_schema.keep),
	{},
};

static const struct cli_example examples[] = {
	{"The tables of one server", "qprof-bpf history schema"},
	{"Those of a cluster, which forget builds after two years",
	 "qprof-bpf history schema --cluster ci --keep 730d"},
	{},
};

static int check(const struct cli *cli)
{
	return cli_check_keep(&cli->history_schema.keep);
}

const struct cli_command cli_history_schema_command = {
	.name = "history schema",
	.usage = "[OPTION...]",
	.summary = "Print the tables that a ClickHouse server needs",
	.text = "Prints the statements that make the tables of a history on a ClickHouse server, "
		"for "
		"whoever administers it. history migrate executes them.",
	.options = options,
	.examples = examples,
	.check = check,
};
