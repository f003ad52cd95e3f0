// SPDX-License-Identifier: Apache-2.0 OR MIT
/* diff's row of the table of commands. */
#include "cli/commands.h"

static int run_diff(const struct cli *cli)
{
	return cmd_diff(&cli->diff);
}

static const char about_diff[] =
	"Compares two builds, query by query and crate by crate, and prints what changed by more "
	"than chance explains, the largest change first. BASE and NEW are a trace each, several "
	"traces of the same build separated by commas, or a directory: all its *.qpt. One word is "
	"one side, so that no order and no glob can mix them up. Needs no privileges.\n\n"
	"Compilers are paired by crate name, crate type, and, if there are several of these, by "
	"command line, source file, or order. What is compared is the median of each side. A "
	"change counts if it is at least --min, more than the range of either side's traces, and "
	"those ranges do not meet. With fewer than five traces on a side ranges tell little: then "
	"noise is also estimated, from the queries that were executed equally often on both "
	"sides, and stated; a sum has to change by twice as much, a single query by thrice.\n\n"
	"Times need three to five traces a side, recorded in turns on one machine; with one a "
	"side only large changes show. Executions need one: their number is the same in every "
	"clean build of the same source by the same compiler, so that a limit on them does not "
	"fail by chance.\n\n"
	"With --fail-above the exit status is 1 if something grew by more than it allows, and 0 if "
	"not. Traces that are not whole do not pass, and a name that is in none of them is an "
	"error: 125.";

static const struct cli_example diff_examples[] = {
	{"What changed", "qprof-bpf diff before.qpt after.qpt"},
	{"Fail if all crates together take over 5% longer",
	 "qprof-bpf diff --fail-above 5% a1.qpt,a2.qpt,a3.qpt b1.qpt,b2.qpt,b3.qpt"},
	{"Fail if there is more to do: no noise, one trace a side",
	 "qprof-bpf diff --metric count --fail-above 1% base.qpt new.qpt"},
	{"Watch a query, and those of one crate whose names begin with typ",
	 "qprof-bpf diff --fail-above typeck=10% --fail-above syn/typ*=1s base/ new/"},
	{"A summary for a pull request",
	 "qprof-bpf diff --markdown base/ new/ | tee -a summary.md"},
	{},
};

const struct cli_command cli_diff_command = {
	.name = "diff",
	.usage = "[OPTION...] BASE NEW",
	.summary = "Compare two builds, and fail if one is slower",
	.text = about_diff,
	.operand = {"BASE NEW", CLI_FILES, true, offsetof(struct cli, diff.sides)},
	.examples = diff_examples,
	.run = run_diff,
};
