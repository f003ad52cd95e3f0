// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sqlite_version_1.h"

#include "history/pack.h"
#include "history/sqlite_db.h"
#include "history/sqlite_sums.h"

/* Numbers of a query: kind, how, count; self_ns, total_ns. */
static const struct pack_format format = {.exact = 3, .times = 2};

static int decode(sqlite3_stmt *stmt, struct pack_rows *rows)
{
	uint32_t n = 0;

	if (pack_shape__decode(sqlite3_column_blob(stmt, 1), (size_t)sqlite3_column_bytes(stmt, 1),
			       &format, rows) ||
	    pack_times__decode(sqlite3_column_blob(stmt, 2), (size_t)sqlite3_column_bytes(stmt, 2),
			       &format, 0, rows))
		return SQLITE_CORRUPT;
	for (uint32_t i = 0; i < rows->n; i++)
		if (!rows->at[i].absent)
			rows->at[n++] = rows->at[i];
	rows->n = n;
	return SQLITE_OK;
}

int sqlite_version_1__move_sums(sqlite3 *db)
{
	_sqlite3_stmt_ sqlite3_stmt *stmt = NULL;
	_pack_rows_ struct pack_rows rows = {};
	int rc = sqlite3_prepare_v2(db,
				    "SELECT b.n, s.rows, p.times FROM main.builds AS b "
				    "JOIN main.query_parts AS p ON p.id = b.n << 32 "
				    "JOIN main.query_shapes AS s ON s.id = p.shape ORDER BY b.n",
				    -1, &stmt, NULL);

	while (!rc && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		rc = decode(stmt, &rows);
		if (!rc)
			rc = sqlite_sums__add(db, &format, sqlite3_column_int64(stmt, 0), &rows);
	}
	if (rc != SQLITE_DONE)
		return rc;
	return sqlite3_exec(db,
			    "DELETE FROM main.query_parts WHERE id IN "
			    "(SELECT n << 32 FROM main.builds);"
			    "DELETE FROM main.query_shapes WHERE crate = 0",
			    NULL, NULL, NULL);
}
