// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

#include <errno.h>

#include "base/diag.h"

static const struct cli_option options[] = {
	HISTORY_STORE_OPTION(history_diff.store),
	HISTORY_METRIC_OPTION(history_diff.metric),
	HISTORY_TOOLCHAIN_OPTION(history_diff.toolchain),
	HISTORY_WORKSPACE_OPTION(history_diff.workspace),
	{
		.name = "min",
		.arg = "DURATION|PERCENT",
		.kind = CLI_THRESHOLD,
		.offset = AT(history_diff.min),
		.initial = "5ms",
		.help = "Do not show times that change by less than this: 5ms, or 1% of the whole "
			"build.",
	},
	{
		.letter = 'n',
		.name = "top",
		.arg = "N",
		.kind = CLI_NUMBER,
		.offset = AT(history_diff.top),
		.initial = "10",
		.help = "Show only the N largest changes of each table; 0 shows all. JSON always "
			"has all.",
	},
	HISTORY_WIDE_OPTION(history_diff.wide),
	HISTORY_JSON_OPTIONS(history_diff, "qprof-diff/5"),
	{
		.name = "markdown",
		.kind = CLI_FLAG,
		.offset = AT(history_diff.markdown),
		.help = "Print Markdown, for a CI summary or a comment on a pull request.",
	},
	{},
};

static const char about[] =
	"Compares the builds of two commits by their rows in a history: the build, its crates, and "
	"their queries, the largest change first. If a commit was built several times, its builds "
	"are taken together, and what they differ by is noise.\n\n"
	"COMMIT is a commit as the history has it, or its beginning; else a revision, such as "
	"HEAD~1 or the name of a branch, of the git repository of the current directory. Traces "
	"are compared by qprof-bpf diff, which also compares items.";

static const struct cli_example examples[] = {
	{"What a commit changed", "qprof-bpf history diff 1f2e3d4 5a6b7c8"},
	{"What the last commit changed", "qprof-bpf history diff HEAD~1 HEAD"},
	{"How much more there is to do", "qprof-bpf history diff --metric results 1f2e3d4 5a6b7c8"},
	{},
};

static int check(const struct cli *cli)
{
	const struct cli_history_diff_options *o = &cli->history_diff;

	if (o->schema)
		return 0;
	if (!o->commits.n)
		return -ENODATA;
	if (o->commits.n != 2)
		return diag_error_r(-EINVAL, "history diff compares two commits, not %zu",
				    o->commits.n);
	if (o->json && o->markdown)
		return diag_error_r(-EINVAL, "--json and --markdown exclude each other");
	return 0;
}

const struct cli_command cli_history_diff_command = {
	.name = "history diff",
	.usage = "[OPTION...] COMMIT COMMIT",
	.summary = "Compare the builds of two commits",
	.text = about,
	.operand = {"COMMIT", CLI_TEXTS, false, AT(history_diff.commits)},
	.options = options,
	.examples = examples,
	.check = check,
};
