// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

static const struct cli_option options[] = {
	HISTORY_STORE_OPTION(history_list.store),
	HISTORY_BUILDS_OPTIONS(history_list.builds),
	HISTORY_WIDE_OPTION(history_list.wide),
	HISTORY_JSON_OPTIONS(history_list, "qprof-history/1"),
	{},
};

static const char about[] =
	"Lists the builds of a history, the newest last: when, which commit and branch, by which "
	"toolchain, how long it took, and its CPU time.\n\n"
	"A name of which a terminal has no room is cut; JSON has all columns in full.";

static const struct cli_example examples[] = {
	{"The ten newest builds of main", "qprof-bpf history list --branch main --last 10"},
	{"All that is known of each build, for a program", "qprof-bpf history list --json"},
	{},
};

const struct cli_command cli_history_list_command = {
	.name = "history list",
	.usage = "[OPTION...]",
	.summary = "List the builds of a history",
	.text = about,
	.options = options,
	.examples = examples,
};
