// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/clickhouse_tables.h"

#include "test.h"

static char *print(const char *cluster, uint64_t days)
{
	const struct clickhouse_tables t = {"ci", cluster, days};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	clickhouse_tables__print(&t, out);
	fclose(out);
	return text;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text);
}

static unsigned int times(const char *text, const char *part)
{
	unsigned int n = 0;

	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

TEST_CASE(one_server_has_plain_tables)
{
	char *text = print(NULL, 0);

	has(text, "CREATE TABLE IF NOT EXISTS ci.query (\n    \"build\" UUID,\n"
		  "    \"start_ns\" Int64,\n    \"crate\" String,\n    \"query\" String,\n");
	has(text, "\"self_ns\" Nullable(Int64)");
	has(text,
	    "CREATE TABLE IF NOT EXISTS ci.llvm (\n    \"build\" UUID,\n    \"start_ns\" Int64,\n"
	    "    \"crate\" String,\n    \"name\" String,\n    \"kind\" Nullable(String),\n");
	has(text, "ORDER BY (crate, name, start_ns, build)");
	has(text, "ENGINE = ReplacingMergeTree() PARTITION BY toYYYYMM(toDateTime(intDiv(start_ns, "
		  "1000000000), 'UTC')) ORDER BY (crate, query, start_ns, build)");
	has(text, "INSERT INTO ci.qprof_schema VALUES (4, '');\n");
	assert_int_equal(times(text, "ENGINE = ReplacingMergeTree()"), HISTORY_TABLES + 1);
	assert_null(strstr(text, "CLUSTER"));
	assert_null(strstr(text, "TTL"));
	free(text);
}

TEST_CASE(a_cluster_has_replicas_and_a_name_for_all_shards)
{
	char *text = print("the-fleet", 0);

	has(text, "CREATE DATABASE IF NOT EXISTS ci ON CLUSTER `the-fleet`;");
	has(text, "CREATE TABLE IF NOT EXISTS ci.item_local ON CLUSTER `the-fleet` (");
	has(text,
	    "ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/ci/item', '{replica}')");
	has(text, "ENGINE = Distributed(`the-fleet`, ci, item_local, cityHash64(toString(build)))");
	assert_int_equal(times(text, "Distributed("), HISTORY_TABLES);
	assert_int_equal(times(text, "ReplicatedReplacingMergeTree("), HISTORY_TABLES + 1);
	free(text);
}

TEST_CASE(tables_may_forget)
{
	char *text = print("the-fleet", 90);

	has(text, "ALTER TABLE ci.build_local ON CLUSTER `the-fleet` MODIFY TTL "
		  "toDateTime(intDiv(start_ns, 1000000000), 'UTC') + INTERVAL 90 DAY;");
	assert_int_equal(times(text, "MODIFY TTL"), HISTORY_TABLES);
	free(text);
}

TEST_MAIN(NULL, NULL)
