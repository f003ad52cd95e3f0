// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sqlite_prune.h"

#include "base/map.h"
#include "history/sqlite_db.h"
#include "history/sqlite_schema.h"

/* Run a statement of which ?1 is a number. */
static int run(sqlite3 *db, const char *sql, int64_t number)
{
	_sqlite3_stmt_ sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

	if (rc)
		return rc;
	sqlite3_bind_int64(stmt, 1, number);
	rc = sqlite3_step(stmt);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int sqlite_prune__build(sqlite3 *db, int64_t n)
{
	return run(db, "DELETE FROM main.parts WHERE n = ?", n)
		       ?: run(db, "DELETE FROM main.compiles WHERE n = ?", n)
		       ?: run(db, "DELETE FROM main.builds WHERE n = ?", n);
}

int sqlite_prune__before(sqlite3 *db, uint64_t before_ns, uint64_t *n)
{
#define OF_THEN " WHERE n IN (SELECT n FROM main.builds WHERE start_ns < ?)"
	int64_t before = (int64_t)before_ns;
	int rc = run(db, "DELETE FROM main.parts" OF_THEN, before)
			 ?: run(db, "DELETE FROM main.compiles" OF_THEN, before)
			 ?: run(db, "DELETE FROM main.builds WHERE start_ns < ?", before);

	*n = rc ? 0 : (uint64_t)sqlite3_changes(db);
	return rc || !*n ? rc : sqlite_prune__unused(db);
}

/* Of a place of a list, in a map. */
static uint64_t place_key(int64_t list, int64_t place)
{
	return (uint64_t)list << 16 | (uint64_t)place;
}

/* Mark the places of a text that are not SQLITE_ABSENT. */
static int mark_places(struct u64_map *used, int64_t list, const unsigned char *text)
{
	int64_t place = -1;

	for (; text && *text; text++) {
		if ((*text & 0xc0) == 0x80) /* of the same character */
			continue;
		place++;
		if (*text != SQLITE_ABSENT && u64_map__put(used, place_key(list, place), 0))
			return SQLITE_NOMEM;
	}
	return SQLITE_OK;
}

/* Entries that no build has any more: items come and go. */
static int remove_entries(sqlite3 *db)
{
	__cleanup(u64_map__destroy) struct u64_map used = {};
	_sqlite3_stmt_ sqlite3_stmt *parts = NULL;
	_sqlite3_stmt_ sqlite3_stmt *entries = NULL;
	_sqlite3_stmt_ sqlite3_stmt *remove = NULL;
	int rc = sqlite3_prepare_v2(db, "SELECT list, self FROM main.parts", -1, &parts, NULL);

	while (!rc && (rc = sqlite3_step(parts)) == SQLITE_ROW)
		rc = mark_places(&used, sqlite3_column_int64(parts, 0),
				 sqlite3_column_text(parts, 1));
	if (rc != SQLITE_DONE)
		return rc;
	rc = sqlite3_prepare_v2(db, "SELECT list, place FROM main.entries", -1, &entries, NULL)
		     ?: sqlite3_prepare_v2(db,
					   "DELETE FROM main.entries WHERE list = ? AND place = ?",
					   -1, &remove, NULL);
	while (!rc && (rc = sqlite3_step(entries)) == SQLITE_ROW) {
		int64_t list = sqlite3_column_int64(entries, 0);
		int64_t place = sqlite3_column_int64(entries, 1);

		rc = SQLITE_OK;
		if (u64_map__get(&used, place_key(list, place)) != U64_MAP_NONE)
			continue;
		sqlite3_bind_int64(remove, 1, list);
		sqlite3_bind_int64(remove, 2, place);
		rc = sqlite3_step(remove);
		sqlite3_reset(remove);
		rc = rc == SQLITE_DONE ? SQLITE_OK : rc;
	}
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int sqlite_prune__unused(sqlite3 *db)
{
	static const char rest[] =
		"DELETE FROM main.counts WHERE id NOT IN"
		" (SELECT counts FROM main.parts WHERE counts IS NOT NULL);"
		"DELETE FROM main.large_counts WHERE counts NOT IN (SELECT id FROM main.counts);"
		"DELETE FROM main.lists WHERE list NOT IN (SELECT list FROM main.entries);"
		"DELETE FROM main.names WHERE id NOT IN ("
		"SELECT crate FROM main.lists WHERE crate IS NOT NULL"
		" UNION SELECT name FROM main.entries"
		" UNION SELECT kind FROM main.entries WHERE kind IS NOT NULL"
		" UNION SELECT how FROM main.entries WHERE how IS NOT NULL"
		" UNION SELECT crate FROM main.compiles"
		" UNION SELECT target FROM main.compiles WHERE target IS NOT NULL"
		" UNION SELECT tool FROM main.compiles WHERE tool IS NOT NULL)";

	return remove_entries(db) ?: sqlite3_exec(db, rest, NULL, NULL, NULL);
}
