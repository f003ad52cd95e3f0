// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reads any bytes as the packed rows of a crate in a file of version 5, and brings it up to date.
 * Accepted bytes have no more rows than their shape has bytes, and the views can be asked for them.
 *
 * The first byte is the size of the shape; the second selects the table.
 */
#include <sqlite3.h>

#include "base/array.h"
#include "history/sqlite_db.h"
#include "history/sqlite_former.h"
#include "history/sqlite_schema.h"
#include "fuzz.h"

static const char *const tables[] = {"query", "item", "llvm"};

static void run(sqlite3 *db, const char *sql)
{
	expect(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
}

static void make_tables(sqlite3 *db)
{
	char *sql = NULL;
	size_t size;
	FILE *f = open_memstream(&sql, &size);

	expect(f);
	fputs("CREATE TABLE names(id INTEGER PRIMARY KEY AUTOINCREMENT, "
	      "text TEXT NOT NULL UNIQUE);",
	      f);
	sqlite_schema__print_builds(f, 5);
	sqlite_former__print(f, 5);
	fputs("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 64) "
	      "INSERT INTO names(text) SELECT 'name ' || i FROM n;"
	      "INSERT INTO builds(n, build, start_ns) VALUES(1, 'b', 1);",
	      f);
	fclose(f);
	run(db, sql);
	free(sql);
}

static void insert(sqlite3 *db, const char *format, const char *table, const uint8_t *bytes,
		   size_t size)
{
	_sqlite3_stmt_ sqlite3_stmt *stmt = NULL;
	char *sql = sqlite3_mprintf(format, table);

	expect(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK);
	sqlite3_free(sql);
	sqlite3_bind_blob64(stmt, 1, bytes, size, SQLITE_STATIC);
	expect(sqlite3_step(stmt) == SQLITE_DONE);
}

static void ask(sqlite3 *db, const char *table, size_t most)
{
	_sqlite3_stmt_ sqlite3_stmt *stmt = NULL;
	char *sql = sqlite3_mprintf("SELECT * FROM %s", table);
	size_t rows = 0;

	expect(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK);
	sqlite3_free(sql);
	while (sqlite3_step(stmt) == SQLITE_ROW)
		rows++;
	expect(rows <= most);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_sqlite3_ sqlite3 *db = NULL;
	const char *table;
	size_t shape;

	if (size < 2)
		return 0;
	table = tables[data[1] % N_OF(tables)];
	shape = data[0] < size - 2 ? data[0] : size - 2;
	expect(sqlite3_open(":memory:", &db) == SQLITE_OK);
	make_tables(db);
	insert(db, "INSERT INTO %s_shapes VALUES(1, 7, ?)", table, shape ? data + 2 : (void *)"",
	       shape);
	insert(db, "INSERT INTO %s_parts VALUES((1 << 32) + 7, 1, ?)", table,
	       size - 2 > shape ? data + 2 + shape : (void *)"", size - 2 - shape);
	if (!sqlite_former__move(db, 5))
		ask(db, table, shape);
	return 0;
}
