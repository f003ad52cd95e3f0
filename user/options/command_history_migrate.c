// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

#include <errno.h>

static const struct cli_option options[] = {
	HISTORY_STORE_OPTION(history_migrate.store),
	HISTORY_CLUSTER_OPTION(history_migrate.cluster),
	HISTORY_KEEP_OPTION(history_migrate.keep),
	{},
};

static const struct cli_example examples[] = {
	{"Make the tables", "qprof-bpf history migrate --store http://ci-db:8123/qprof"},
	{"Make them on all servers of a cluster",
	 "qprof-bpf history migrate --store http://ci-db:8123/qprof --cluster ci"},
	{},
};

static int check(const struct cli *cli)
{
	return cli_check_keep(&cli->history_migrate.keep);
}

const struct cli_command cli_history_migrate_command = {
	.name = "history migrate",
	.usage = "[OPTION...]",
	.summary = "Make or update the tables of a history",
	.text = "Makes the tables that a history needs, or brings those of an older version up to "
		"date. "
		"A SQLite file is also updated when a build is added to it.",
	.options = options,
	.examples = examples,
	.check = check,
};
