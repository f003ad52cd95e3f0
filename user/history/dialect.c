// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/dialect.h"

const char *dialect__rows(enum history_table_id table)
{
	static const char *const tables[HISTORY_TABLES] = {
		[HISTORY_BUILD] = "\"build\"", [HISTORY_COMPILE] = "\"compile\"",
		[HISTORY_QUERY] = "\"query\"", [HISTORY_ITEM] = "\"item\"",
		[HISTORY_LLVM] = "\"llvm\"",
	};

	return tables[table];
}

const char *dialect__table(enum store_kind kind, enum history_table_id table)
{
	static const char *const tables[HISTORY_TABLES] = {
		[HISTORY_BUILD] = "\"build\" FINAL", [HISTORY_COMPILE] = "\"compile\" FINAL",
		[HISTORY_QUERY] = "\"query\" FINAL", [HISTORY_ITEM] = "\"item\" FINAL",
		[HISTORY_LLVM] = "\"llvm\" FINAL",
	};

	return kind == STORE_CLICKHOUSE ? tables[table] : dialect__rows(table);
}

bool dialect__wants_window(enum store_kind kind)
{
	return kind == STORE_CLICKHOUSE;
}

const char *dialect__query_sums(enum store_kind kind)
{
	return kind == STORE_SQLITE ? "\"query_sum\"" : dialect__table(kind, HISTORY_QUERY);
}

const char *dialect__find(enum store_kind kind)
{
	return kind == STORE_CLICKHOUSE ? "position" : "instr";
}
