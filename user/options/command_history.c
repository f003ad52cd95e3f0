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

int cli_check_keep(const struct cli_limits *keep)
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
