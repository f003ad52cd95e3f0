// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

static const struct cli_option options[] = {
	HISTORY_STORE_OPTION(history_merge.store),
	{},
};

static const struct cli_example examples[] = {
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
		"have, "
		"and says how many they are. FILE stays as it is.",
	.operand = {"FILE", CLI_FILE, true, AT(history_merge.other)},
	.options = options,
	.examples = examples,
};
