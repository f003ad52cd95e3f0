// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

#include <errno.h>

#include "base/diag.h"

static const struct cli_option options[] = {
	HISTORY_STORE_OPTION(trend.store),
	{
		.name = "crate",
		.arg = "CRATE",
		.kind = CLI_TEXT,
		.offset = AT(trend.crate),
		.help = "Of this crate, as reports name it: syn, or 'syn (build script)'. Without "
			"it, of the whole build.",
	},
	{
		.name = "query",
		.arg = "QUERY",
		.kind = CLI_TEXT,
		.offset = AT(trend.query),
		.help = "Of this query, such as typeck.",
	},
	{
		.name = "item",
		.arg = "PATH",
		.kind = CLI_TEXT,
		.offset = AT(trend.item),
		.help = "Of this function, type or module, by its path as report --by item has it. "
			"A history has the hundred most expensive of each crate.",
	},
	{
		.name = "llvm",
		.arg = "NAME",
		.kind = CLI_TEXT,
		.offset = AT(trend.llvm),
		.help = "Of LLVM's CPU time for this function, by its path as report --by generic "
			"has it, or in this pass, as report --by pass has it. A history has the "
			"hundred functions of each crate that took most, and all passes.",
	},
	{
		.name = "metric",
		.arg = "METRIC",
		.kind = CLI_CHOICE,
		.offset = AT(trend.metric),
		.choices = "cpu|wall|count|results|memory",
		.initial = "cpu",
		.help = "What is followed: cpu, the CPU time; wall, how long it took; count, "
			"executions of queries, and results, how many rustc made, which have no "
			"noise; memory, the most that a compiler had resident. Queries and items "
			"have cpu and count.",
	},
	HISTORY_BUILDS_OPTIONS(trend.builds),
	{
		.name = "full",
		.kind = CLI_FLAG,
		.offset = AT(trend.full),
		.help = "A line for each build. Without it, long stretches without a change are "
			"one line.",
	},
	HISTORY_WIDE_OPTION(trend.wide),
	HISTORY_JSON_OPTIONS(trend, "qprof-trend/1"),
	{},
};

static const char about[] =
	"Follows one number over the builds of a history, a line for each, and says at which "
	"commits it changed: by how much, and how sure that is. One slow build among others is "
	"noise, and no change.\n\n"
	"Times of different hosts, and builds by toolchains that take turns, are judged apart. "
	"Builds that were interrupted, that failed or that did other work are left out, and "
	"counted.";

static const struct cli_example examples[] = {
	{"Since when does the build take longer?", "qprof-bpf trend"},
	{"Since when does one crate have more to do?",
	 "qprof-bpf trend --crate syn --metric results"},
	{"A query over the last 50 builds of main",
	 "qprof-bpf trend --query typeck --branch main --last 50"},
	{},
};

static int check(const struct cli *cli)
{
	const struct cli_trend_options *o = &cli->trend;

	if (o->query && o->item)
		return diag_error_r(-EINVAL, "--query and --item exclude each other: a history has "
					     "the sums of each alone");
	if ((o->query || o->item) && o->metric != CLI_HISTORY_CPU && o->metric != CLI_HISTORY_COUNT)
		return diag_error_r(-EINVAL, "queries and items have no --metric wall, results or "
					     "memory: use cpu or count");
	return 0;
}

const struct cli_command cli_trend_command = {
	.name = "trend",
	.usage = "[OPTION...]",
	.summary = "Show since which commit a build, crate or query takes longer",
	.text = about,
	.options = options,
	.examples = examples,
	.check = check,
};
