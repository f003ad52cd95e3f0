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

#include "history/columns.h"

/* The table whose one row of the highest version says which version the tables are of. */
#define CLICKHOUSE_VERSION_TABLE "qprof_schema"

/* The start of a build. Its month is the partition of all its rows. */
#define CLICKHOUSE_START_TIME "toDateTime(intDiv(start_ns, 1000000000), 'UTC')"

/* The column that builds have in version 1 alone. */
#define CLICKHOUSE_BUDGET "budget_ppm"

struct clickhouse_tables {
	const char *database;
	const char *cluster; /* NULL: one server */
	uint64_t keep_days;  /* 0: for ever; else by TTL */
};

/* "CREATE DATABASE ..." */
void clickhouse_tables__database(const struct clickhouse_tables *t, FILE *out);
/* The table of the version, and the row that says that all tables are of HISTORY_VERSION. */
void clickhouse_tables__version(const struct clickhouse_tables *t, FILE *out);
void clickhouse_tables__mark(const struct clickhouse_tables *t, FILE *out);
/* The table that holds rows. */
void clickhouse_tables__local(const struct clickhouse_tables *t, enum history_table_id id,
			      FILE *out);
/* The one that stands for all; of a cluster only. */
void clickhouse_tables__distributed(const struct clickhouse_tables *t, enum history_table_id id,
				    FILE *out);
void clickhouse_tables__drop_distributed(const struct clickhouse_tables *t,
					 enum history_table_id id, FILE *out);
/* Have the table that holds rows forget those that are older than `keep_days`. */
void clickhouse_tables__keep(const struct clickhouse_tables *t, enum history_table_id id,
			     FILE *out);
/*
 * Of version 1: have the table that holds rows forget the estimates, or that builds had budgets, in
 * the background. Not of HISTORY_COMPILE, which has neither.
 */
void clickhouse_tables__forget_budgets(const struct clickhouse_tables *t, enum history_table_id id,
				       FILE *out);
/* Remove CLICKHOUSE_BUDGET from the table that holds rows. */
void clickhouse_tables__drop_budget(const struct clickhouse_tables *t, FILE *out);
/* Add a column that the table that holds rows, of an older version, lacks. */
void clickhouse_tables__add_column(const struct clickhouse_tables *t, enum history_table_id id,
				   const struct history_column *c, FILE *out);

/* All of them, each ended by a semicolon, for a person. */
void clickhouse_tables__print(const struct clickhouse_tables *t, FILE *out);

#endif /* QPROF_HISTORY_CLICKHOUSE_TABLES_H */
