// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sqlite_version_2.h"

#include "base/array.h"
#include "history/pack.h"
#include "history/sqlite_db.h"

/* Packed rows. Those of a part stay in its shape, and become absent; those of sums are removed. */
struct packed {
	const char *next; /* id, rows, times of the first behind an id */
	const char *update;
	const char *remove;
	struct pack_format format; /* of sums, as history/sqlite_sums.h has them, without times */
	unsigned int how;	   /* the number that is the word */
};

#define PARTS(table)                                                                   \
	"SELECT p.id, s.rows, p.times FROM main." table "_parts AS p JOIN main." table \
	"_shapes AS s ON s.id = p.shape WHERE p.id > ? ORDER BY p.id LIMIT 1",         \
		"UPDATE main." table "_parts SET times = ?2 WHERE id = ?1",            \
		"DELETE FROM main." table "_parts WHERE id = ?"
#define SUMS(table, id)                                                                           \
	"SELECT " id ", rows, NULL FROM main." table " WHERE " id " > ? ORDER BY " id " LIMIT 1", \
		"UPDATE main." table " SET rows = ?2 WHERE " id " = ?1",                          \
		"DELETE FROM main." table " WHERE " id " = ?"

static const struct packed all[] = {
	{PARTS("query"), {.exact = 3, .times = 2}, 1},
	{PARTS("item"), {.exact = 2, .times = 1}, 0},
	{SUMS("sums_recent", "n"), {.exact = 5}, 1},
	{SUMS("sums_turned", "id"), {.exact = 5}, 1},
};

static int decode(sqlite3_stmt *stmt, const struct packed *p, struct pack_rows *rows)
{
	if (pack_shape__decode(sqlite3_column_blob(stmt, 1), (size_t)sqlite3_column_bytes(stmt, 1),
			       &p->format, rows) ||
	    (p->format.times &&
	     pack_times__decode(sqlite3_column_blob(stmt, 2), (size_t)sqlite3_column_bytes(stmt, 2),
				&p->format, 0, rows)))
		return SQLITE_CORRUPT;
	return SQLITE_OK;
}

/* Whether there were some. `*left`: of other rows. */
static bool remove_rows(const struct packed *p, struct pack_rows *rows, uint64_t word,
			uint32_t *left)
{
	uint32_t n = 0;
	bool any = false;

	*left = 0;
	for (uint32_t i = 0; i < rows->n; i++) {
		struct pack_row *row = &rows->at[i];
		bool is = !row->absent && row->exact[p->how] == word;

		any |= is;
		row->absent |= is;
		*left += !row->absent;
		if (!row->absent || p->format.times)
			rows->at[n++] = *row;
	}
	rows->n = n;
	return any;
}

static int run(sqlite3 *db, const char *sql, int64_t id, const struct byte_buffer *bytes)
{
	_sqlite3_stmt_ sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

	if (rc)
		return rc;
	sqlite3_bind_int64(stmt, 1, id);
	if (bytes)
		sqlite3_bind_blob64(stmt, 2, bytes->data, bytes->size, SQLITE_STATIC);
	rc = sqlite3_step(stmt);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int update(sqlite3 *db, const struct packed *p, int64_t id, const struct pack_rows *rows)
{
	struct byte_buffer bytes = {};
	int rc;

	if (p->format.times)
		pack_times__encode(&bytes, &p->format, rows);
	else
		pack_shape__encode(&bytes, &p->format, rows);
	rc = bytes.failed ? SQLITE_NOMEM : run(db, p->update, id, &bytes);
	byte_buffer__destroy(&bytes);
	return rc;
}

static int remove_from(sqlite3 *db, const struct packed *p, uint64_t word)
{
	_sqlite3_stmt_ sqlite3_stmt *next = NULL;
	_pack_rows_ struct pack_rows rows = {};
	int64_t id = 0;
	int rc = sqlite3_prepare_v2(db, p->next, -1, &next, NULL);

	while (!rc) {
		uint32_t left;

		sqlite3_bind_int64(next, 1, id);
		rc = sqlite3_step(next);
		if (rc != SQLITE_ROW)
			break;
		id = sqlite3_column_int64(next, 0);
		rc = decode(next, p, &rows);
		sqlite3_reset(next);
		if (!rc && remove_rows(p, &rows, word, &left))
			rc = left ? update(db, p, id, &rows) : run(db, p->remove, id, NULL);
	}
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int sqlite_version_2__remove_estimates(sqlite3 *db)
{
	_sqlite3_stmt_ sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(db, "SELECT id FROM main.names WHERE text = 'estimated'", -1,
				    &stmt, NULL);
	uint64_t word;

	if (!rc)
		rc = sqlite3_step(stmt);
	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? SQLITE_OK : rc;
	word = (uint64_t)sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	rc = SQLITE_OK;
	for (size_t i = 0; i < N_OF(all) && !rc; i++)
		rc = remove_from(db, &all[i], word);
	return rc;
}
