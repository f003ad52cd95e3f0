// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cmd.h"

#include "base/diag.h"
#include "history/address.h"
#include "history/clickhouse_tables.h"
#include "history/store.h"
#include "options/exit_code.h"

static int migrate_file(const struct cli_history_migrate_options *o)
{
	_store_ struct store *store = NULL;

	if (o->cluster || o->keep.ns) {
		diag_error("%s is of a server: give its address by --store",
			   o->cluster ? "--cluster" : "--keep");
		return EXIT_CODE_USAGE;
	}
	return store__open(o->store, STORE_WRITE, &store) ? EXIT_CODE_FAILURE : EXIT_CODE_OK;
}

int cmd_history_migrate(const struct cli_history_migrate_options *o)
{
	if (!o->store || !address__is(o->store))
		return migrate_file(o);
	if (o->cluster && !clickhouse_version__is_cluster(o->cluster)) {
		diag_error("--cluster: %s is no name of a cluster: letters, digits, _, - and .",
			   o->cluster);
		return EXIT_CODE_USAGE;
	}
	return clickhouse_version__migrate(o->store, o->cluster, o->keep.ns) ? EXIT_CODE_FAILURE
									     : EXIT_CODE_OK;
}
