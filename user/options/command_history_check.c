// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

#include <errno.h>

#include "base/diag.h"

static const struct cli_option options[] = {
	HISTORY_STORE_OPTION(history_check.store),
	{
		.name = "commit",
		.arg = "COMMIT",
		.kind = CLI_TEXT,
		.offset = AT(history_check.commit),
		.help = "Judge the builds of this commit, or revision of the git repository of the "
			"current directory. Without it, the newest build is judged.",
	},
	{
		.name = "against",
		.arg = "BRANCH",
		.kind = CLI_TEXT,
		.offset = AT(history_check.against),
		.help = "Compare with the newest builds of this branch, without those of the "
			"judged commit.",
	},
	{
		.letter = 'n',
		.name = "last",
		.arg = "N",
		.kind = CLI_NUMBER,
		.offset = AT(history_check.last),
		.initial = "20",
		.positive = true,
		.help = "Compare with that many builds; at most 50.",
	},
	{
		.name = "fail-above",
		.arg = "[WHAT=]LIMIT",
		.kind = CLI_GATES,
		.offset = AT(history_check.gates),
		.help = "Exit with 1 if WHAT grew by more than LIMIT, a part of its former value "
			"(5%) or a time (200ms), and by more than noise. WHAT is as in diff: "
			"without it the whole build; otherwise QUERY, CRATE/QUERY, or CRATE/*, "
			"all of a crate. May be given several times: any of them.",
	},
	HISTORY_METRIC_OPTION(history_check.metric),
	{
		.name = "toolchain",
		.arg = "TEXT",
		.kind = CLI_TEXT,
		.offset = AT(history_check.toolchain),
		.help = "Compare with builds by a compiler whose version has TEXT in it. Without "
			"it, by the same compiler.",
	},
	HISTORY_WORKSPACE_OPTION(history_check.workspace),
	HISTORY_WIDE_OPTION(history_check.wide),
	HISTORY_JSON_OPTIONS(history_check, "qprof-diff/5"),
	{
		.name = "markdown",
		.kind = CLI_FLAG,
		.offset = AT(history_check.markdown),
		.help = "Print Markdown, for a CI summary or a comment on a pull request.",
	},
	{},
};

static const char about[] =
	"Compares a build with the last ones of a branch before it, and fails if it takes more: "
	"the gate of a pull request that keeps no traces. The median of those builds since their "
	"level last changed is the former value, and what they differ by is noise. All builds of "
	"its commit are judged together.\n\n"
	"Exits with 1 if a limit was exceeded, and with 0 if not; the last line says so. With 125 "
	"if there is no verdict: there is no build to compare with, what is limited is not known "
	"on both sides, records were lost, or there is too much noise. Wall time needs three "
	"builds of the commit.";

static const struct cli_example examples[] = {
	{"Fail if the newest build takes over 5% more CPU time than main",
	 "qprof-bpf history check --against main --last 20 --fail-above 5%"},
	{"Fail if there is more to do: one build of main is enough",
	 "qprof-bpf history check --against main --metric results --fail-above 1%"},
	{"A comment for a pull request",
	 "qprof-bpf history check --against main --fail-above 5% --markdown"},
	{},
};

static int check(const struct cli *cli)
{
	const struct cli_history_check_options *o = &cli->history_check;

	if (o->schema)
		return 0;
	if (!o->against || !o->gates.n)
		return -ENODATA;
	if (o->json && o->markdown)
		return diag_error_r(-EINVAL, "--json and --markdown exclude each other");
	for (size_t i = 0; i < o->gates.n; i++) {
		int err = cli_check_history_gate(&o->gates.gates[i], o->metric);

		if (err)
			return err;
	}
	return 0;
}

const struct cli_command cli_history_check_command = {
	.name = "history check",
	.usage = "[OPTION...] --against BRANCH --fail-above LIMIT",
	.summary = "Fail if a build takes more than the last ones of a branch",
	.text = about,
	.options = options,
	.examples = examples,
	.check = check,
};
