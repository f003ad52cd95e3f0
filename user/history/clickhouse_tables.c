// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/clickhouse_tables.h"

#include <inttypes.h>
#include <string.h>

/* The order of rows, by which questions find them; it is also what makes two rows the same. */
static const char *const orders[HISTORY_TABLES] = {
	[HISTORY_BUILD] = "start_ns, build",
	[HISTORY_COMPILE] = "crate, start_ns, build, number",
	[HISTORY_QUERY] = "crate, query, start_ns, build",
	[HISTORY_ITEM] = "crate, item, start_ns, build",
	[HISTORY_LLVM] = "crate, name, start_ns, build",
};

/* " ON CLUSTER ..." where there is one. Names of databases are plain; those of clusters may have -.
 */
static void put_cluster(const struct clickhouse_tables *t, FILE *out)
{
	if (t->cluster)
		fprintf(out, " ON CLUSTER `%s`", t->cluster);
}

static void put_name(const struct clickhouse_tables *t, const char *table, bool local, FILE *out)
{
	fprintf(out, "%s.%s%s", t->database, table, local && t->cluster ? "_local" : "");
}

/* A UUID takes half the bytes of its text, in every row. Texts are plain: sorted ones are small. */
static void put_type(const struct history_column *c, FILE *out)
{
	const char *type = c->type == HISTORY_NUMBER ? "Int64" : "String";

	if (!strcmp(c->name, "build"))
		type = "UUID";
	fprintf(out, c->required ? "%s" : "Nullable(%s)", type);
}

static void put_columns(const struct history_table *table, FILE *out)
{
	for (size_t i = 0; i < table->n; i++) {
		fprintf(out, "%s\n    \"%s\" ", i ? "," : " (", table->columns[i].name);
		put_type(&table->columns[i], out);
	}
	fputs("\n)", out);
}

static void put_engine(const struct clickhouse_tables *t, const char *table, FILE *out)
{
	if (t->cluster)
		fprintf(out,
			" ENGINE = ReplicatedReplacingMergeTree"
			"('/clickhouse/tables/{shard}/%s/%s', '{replica}')",
			t->database, table);
	else
		fputs(" ENGINE = ReplacingMergeTree()", out);
}

void clickhouse_tables__database(const struct clickhouse_tables *t, FILE *out)
{
	fprintf(out, "CREATE DATABASE IF NOT EXISTS %s", t->database);
	put_cluster(t, out);
}

void clickhouse_tables__version(const struct clickhouse_tables *t, FILE *out)
{
	fprintf(out, "CREATE TABLE IF NOT EXISTS %s." CLICKHOUSE_VERSION_TABLE, t->database);
	put_cluster(t, out);
	fputs(" (\n    version Int64,\n    cluster String\n)", out);
	/* One for all shards. */
	if (t->cluster)
		fprintf(out,
			" ENGINE = ReplicatedReplacingMergeTree"
			"('/clickhouse/tables/%s/" CLICKHOUSE_VERSION_TABLE
			"', '{shard}-{replica}')",
			t->database);
	else
		fputs(" ENGINE = ReplacingMergeTree()", out);
	fputs(" ORDER BY version", out);
}

void clickhouse_tables__mark(const struct clickhouse_tables *t, FILE *out)
{
	fprintf(out, "INSERT INTO %s." CLICKHOUSE_VERSION_TABLE " VALUES (%d, '%s')", t->database,
		HISTORY_VERSION, t->cluster ? t->cluster : "");
}

void clickhouse_tables__local(const struct clickhouse_tables *t, enum history_table_id id,
			      FILE *out)
{
	const struct history_table *table = history_table(id);

	fputs("CREATE TABLE IF NOT EXISTS ", out);
	put_name(t, table->name, true, out);
	put_cluster(t, out);
	put_columns(table, out);
	put_engine(t, table->name, out);
	fprintf(out, " PARTITION BY toYYYYMM(" CLICKHOUSE_START_TIME ") ORDER BY (%s)", orders[id]);
}

void clickhouse_tables__keep(const struct clickhouse_tables *t, enum history_table_id id, FILE *out)
{
	fputs("ALTER TABLE ", out);
	put_name(t, history_table(id)->name, true, out);
	put_cluster(t, out);
	fprintf(out, " MODIFY TTL " CLICKHOUSE_START_TIME " + INTERVAL %" PRIu64 " DAY",
		t->keep_days);
}

void clickhouse_tables__distributed(const struct clickhouse_tables *t, enum history_table_id id,
				    FILE *out)
{
	const struct history_table *table = history_table(id);

	fputs("CREATE TABLE IF NOT EXISTS ", out);
	put_name(t, table->name, false, out);
	put_cluster(t, out);
	put_columns(table, out);
	fprintf(out, " ENGINE = Distributed(`%s`, %s, %s_local, cityHash64(toString(build)))",
		t->cluster, t->database, table->name);
}

void clickhouse_tables__drop_distributed(const struct clickhouse_tables *t,
					 enum history_table_id id, FILE *out)
{
	fputs("DROP TABLE IF EXISTS ", out);
	put_name(t, history_table(id)->name, false, out);
	put_cluster(t, out);
}

void clickhouse_tables__add_column(const struct clickhouse_tables *t, enum history_table_id id,
				   const struct history_column *c, FILE *out)
{
	fputs("ALTER TABLE ", out);
	put_name(t, history_table(id)->name, true, out);
	put_cluster(t, out);
	fprintf(out, " ADD COLUMN \"%s\" ", c->name);
	put_type(c, out);
}

void clickhouse_tables__forget_budgets(const struct clickhouse_tables *t, enum history_table_id id,
				       FILE *out)
{
	fputs("ALTER TABLE ", out);
	put_name(t, history_table(id)->name, true, out);
	put_cluster(t, out);
	/* 18.16 would remove rows of which a condition is null. */
	fputs(id == HISTORY_BUILD ? " UPDATE how = 'sampled' WHERE coalesce(how, '') = 'budget'"
				  : " DELETE WHERE coalesce(how, '') = 'estimated'",
	      out);
}

void clickhouse_tables__drop_budget(const struct clickhouse_tables *t, FILE *out)
{
	fputs("ALTER TABLE ", out);
	put_name(t, history_table(HISTORY_BUILD)->name, true, out);
	put_cluster(t, out);
	fputs(" DROP COLUMN " CLICKHOUSE_BUDGET, out);
}

void clickhouse_tables__print(const struct clickhouse_tables *t, FILE *out)
{
	clickhouse_tables__database(t, out);
	fputs(";\n\n", out);
	clickhouse_tables__version(t, out);
	fputs(";\n\n", out);
	for (int id = 0; id < HISTORY_TABLES; id++) {
		clickhouse_tables__local(t, id, out);
		fputs(";\n\n", out);
		if (t->keep_days) {
			clickhouse_tables__keep(t, id, out);
			fputs(";\n\n", out);
		}
		if (!t->cluster)
			continue;
		clickhouse_tables__distributed(t, id, out);
		fputs(";\n\n", out);
	}
	clickhouse_tables__mark(t, out);
	fputs(";\n", out);
}
