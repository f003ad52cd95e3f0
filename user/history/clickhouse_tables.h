/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The tables of history/columns.h on a ClickHouse server, as statements.
 *
 * On one server: a ReplacingMergeTree of each name. On a cluster: <name>_local, replicated, on each
 * server, and <name>, which stands for those of all shards. All rows of a build are on one shard.
 * Rows that came twice are merged some time; questions ask with FINAL, which counts them once.
 *
 * Only what 18.16 has, and today's versions still have. But for TTL: it came with 19.6.
 */
#ifndef QPROF_HISTORY_CLICKHOUSE_TABLES_H
#define QPROF_HISTORY_CLICKHOUSE_TABLES_H

#include <stdio.h>

#include "history/clickhouse_server.h"
#include "history/columns.h"

/* The start of a build. Its month is the partition of all its rows. */
#define CLICKHOUSE_START_TIME "toDateTime(intDiv(start_ns, 1000000000), 'UTC')"

struct clickhouse_tables {
	const char *database;
	const char *cluster; /* NULL: one server */
	uint64_t keep_days;  /* 0: for ever; else by TTL */
};

/* All of them, each ended by a semicolon, for a person. */
void clickhouse_tables__print(const struct clickhouse_tables *t, FILE *out);

struct clickhouse_version {
	int64_t version;  /* 0: there are no tables, or not all of them */
	char cluster[64]; /* empty: one server */
};

/*
 * Ask. The cause of a failure is left in `why` of the server. -EPROTONOSUPPORT: the tables are of a
 * newer version; -ENOENT: there are none, or those of an older one.
 */
int clickhouse_version__check(struct clickhouse_server *s, struct clickhouse_version *v);

/*
 * Make the tables, or bring those that are there to our version; nothing changes if they are of it.
 * `cluster` NULL: one server; `keep_ns` 0: for ever. Prints an error line, or a line of what it
 * did.
 */
int clickhouse_version__migrate(const char *where, const char *cluster, uint64_t keep_ns);

/* The days that a time has, at least 1; 0 of 0. */
uint64_t clickhouse_version__days(uint64_t ns);

/* A name of a cluster, which may stand between backticks: letters, digits, _, - and . */
bool clickhouse_version__is_cluster(const char *text);

#endif /* QPROF_HISTORY_CLICKHOUSE_TABLES_H */
