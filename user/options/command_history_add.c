// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

static const struct cli_option options[] = {
	HISTORY_STORE_OPTION(history_add.store),
	{
		.name = "commit",
		.arg = "COMMIT",
		.kind = CLI_TEXT,
		.offset = AT(history_add.commit),
		.help = "The commit that was built. Without it, it is asked of git in the "
			"directory of the build, and then of the variables of usual CI services.",
	},
	{
		.name = "branch",
		.arg = "BRANCH",
		.kind = CLI_TEXT,
		.offset = AT(history_add.branch),
		.help = "The branch that was built. Without it, it is found as the commit is.",
	},
	HISTORY_LABEL_OPTION(history_add.label),
	HISTORY_COMMANDS_OPTION(history_add.with_commands),
	{
		.letter = 'q',
		.name = "quiet",
		.kind = CLI_FLAG,
		.offset = AT(history_add.quiet),
		.help = "Print only errors and warnings.",
	},
	NO_LIMITS_OPTION,
	{},
};

static const char about[] =
	"Adds what a trace says to the history: a row for the build, and rows for its crates, "
	"their queries, and the hundred most expensive items of each. The trace is not needed "
	"afterwards. A trace that is added twice is there once. One whose recording was "
	"interrupted, or that is damaged, is marked, and no question counts it.\n\n"
	"The rows name the machine, the commit, crates, queries and items. Paths and command "
	"lines stay out, unless --with-commands is given.\n\n"
	"Without TRACE, sends what waits because a server could not be reached.";

static const struct cli_example examples[] = {
	{"Keep the rows of a build", "qprof-bpf history add build.qpt"},
	{"Say which commit it was",
	 "qprof-bpf history add --commit 1f2e3d4 --branch main build.qpt"},
	{"Send them to a server that all machines share",
	 "qprof-bpf history add --store http://ci-db:8123/qprof *.qpt"},
	{},
};

const struct cli_command cli_history_add_command = {
	.name = "history add",
	.usage = "[OPTION...] [TRACE...]",
	.summary = "Add the rows of traces to a history",
	.text = about,
	.operand = {"TRACE", CLI_FILES, false, AT(history_add.traces)},
	.options = options,
	.examples = examples,
};
