// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cmd.h"

#include "base/diag.h"
#include "history/clickhouse_tables.h"
#include "options/exit_code.h"

/* Where the statements are for no server in particular. */
#define DATABASE "qprof"

int cmd_history_schema(const struct cli_history_schema_options *o)
{
	const struct clickhouse_tables tables = {
		DATABASE,
		o->cluster,
		clickhouse_version__days(o->keep.ns),
	};

	if (o->cluster && !clickhouse_version__is_cluster(o->cluster)) {
		diag_error("--cluster: %s is no name of a cluster: letters, digits, _, - and .",
			   o->cluster);
		return EXIT_CODE_USAGE;
	}
	clickhouse_tables__print(&tables, stdout);
	return EXIT_CODE_OK;
}
