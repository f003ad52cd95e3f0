// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

#include <errno.h>

static const struct cli_option options[] = {
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

static const struct cli_example examples[] = {
	{"Keep three months", "qprof-bpf history prune --keep 90d"},
	{},
};

static int check(const struct cli *cli)
{
	const struct cli_limits *keep = &cli->history_prune.keep;

	return cli_check_keep(keep) ?: keep->ns ? 0 : -ENODATA;
}

const struct cli_command cli_history_prune_command = {
	.name = "history prune",
	.usage = "[OPTION...] --keep TIME",
	.summary = "Remove old builds from a history",
	.text = "Removes the builds that began before a time, with all their rows, and says how "
		"many there were.",
	.options = options,
	.examples = examples,
	.check = check,
};
