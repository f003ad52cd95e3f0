// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sqlite_prune.h"

#include <errno.h>

#include "base/array.h"
#include "history/sqlite_db.h"
#include "history/sqlite_packed.h"
#include "history/sqlite_sums.h"

/* Which names are in use, by number. */
struct used {
	bool *at;
	uint32_t n;
};

static void used__clear(struct used *u)
{
	free(u->at);
}

static int mark(struct used *u, int64_t id)
{
	if (id <= 0 || id >= SQLITE_NAMES_MAX)
		return SQLITE_CORRUPT;
	if (array__reserve_at(&u->at, (uint32_t)id, &u->n, sizeof(*u->at)))
		return SQLITE_NOMEM;
	u->at[id] = true;
	return SQLITE_OK;
}

static bool is_used(const struct used *u, int64_t id)
{
	return id > 0 && id < u->n && u->at[id];
}

static int done(sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt);

	sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* ---- Builds ---------------------------------------------------------------------------------- */

static const char *const of_build[] = {
	"DELETE FROM main.query_parts WHERE id >= ?1 << 32 AND id < (?1 + 1) << 32",
	"DELETE FROM main.item_parts WHERE id >= ?1 << 32 AND id < (?1 + 1) << 32",
	"DELETE FROM main.llvm_parts WHERE id >= ?1 << 32 AND id < (?1 + 1) << 32",
	"DELETE FROM main.sums_recent WHERE n = ?1",
	"DELETE FROM main.compiles WHERE n = ?1",
	"DELETE FROM main.builds WHERE n = ?1",
};

int sqlite_prune__build(sqlite3 *db, int64_t n)
{
	int rc = SQLITE_OK;

	for (size_t i = 0; i < N_OF(of_build) && !rc; i++) {
		_sqlite3_stmt_ sqlite3_stmt *stmt = NULL;

		rc = sqlite3_prepare_v2(db, of_build[i], -1, &stmt, NULL);
		if (rc)
			break;
		sqlite3_bind_int64(stmt, 1, n);
		rc = done(stmt);
	}
	return rc;
}

static int remove_builds(sqlite3 *db, uint64_t before_ns, uint64_t *n)
{
	_sqlite3_stmt_ sqlite3_stmt *oldest = NULL;
	int rc = sqlite3_prepare_v2(db, "SELECT n FROM main.builds WHERE start_ns < ? LIMIT 1", -1,
				    &oldest, NULL);

	*n = 0;
	if (!rc)
		sqlite3_bind_int64(oldest, 1, (int64_t)before_ns);
	while (!rc && (rc = sqlite3_step(oldest)) == SQLITE_ROW) {
		int64_t build = sqlite3_column_int64(oldest, 0);

		sqlite3_reset(oldest);
		rc = sqlite_prune__build(db, build);
		++*n;
	}
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* ---- What no build needs any more ------------------------------------------------------------ */

static const char remove_shapes[] =
	"DELETE FROM main.query_shapes WHERE id NOT IN (SELECT shape FROM main.query_parts);"
	"DELETE FROM main.item_shapes WHERE id NOT IN (SELECT shape FROM main.item_parts);"
	"DELETE FROM main.llvm_shapes WHERE id NOT IN (SELECT shape FROM main.llvm_parts);"
	"DELETE FROM main.item_crates; DELETE FROM main.llvm_crates";

static int mark_row(struct used *u, const struct packed_table *p, const struct pack_row *row)
{
	int rc = mark(u, (int64_t)row->key);

	for (unsigned int e = 0; e < p->format.exact && !rc; e++)
		if (p->exact[e]->type == HISTORY_TEXT && row->exact[e] != PACK_UNKNOWN)
			rc = mark(u, (int64_t)row->exact[e]);
	return rc;
}

/* The names of a shape; its keys are found in this crate again. */
static int keep_shape(struct used *u, const struct packed_table *p, sqlite3_stmt *shape,
		      sqlite3_stmt *add_where)
{
	_pack_rows_ struct pack_rows rows = {};
	int64_t crate = sqlite3_column_int64(shape, 0);
	int rc = mark(u, crate);

	if (pack_shape__decode(sqlite3_column_blob(shape, 1),
			       (size_t)sqlite3_column_bytes(shape, 1), &p->format, &rows))
		return SQLITE_CORRUPT;
	for (uint32_t i = 0; i < rows.n && !rc; i++) {
		rc = mark_row(u, p, &rows.at[i]);
		if (rc || !p->where)
			continue;
		sqlite3_bind_int64(add_where, 1, (int64_t)rows.at[i].key);
		sqlite3_bind_int64(add_where, 2, crate);
		rc = done(add_where);
	}
	return rc;
}

static int keep_shapes(struct used *u, sqlite3 *db, enum history_table_id id)
{
	struct packed_table p = packed_table(id);
	_sqlite3_stmt_ sqlite3_stmt *shape = NULL;
	_sqlite3_stmt_ sqlite3_stmt *add_where = NULL;
	int rc = packed__prepare(&p, db, "SELECT crate, rows FROM main.%s_shapes", &shape);

	if (!rc && p.where)
		rc = packed__prepare(&p, db, "INSERT OR IGNORE INTO main.%s_crates VALUES(?, ?)",
				     &add_where);
	while (!rc && (rc = sqlite3_step(shape)) == SQLITE_ROW)
		rc = keep_shape(u, &p, shape, add_where);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int keep_compiles(struct used *u, sqlite3 *db)
{
	_sqlite3_stmt_ sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(db,
				    "SELECT crate FROM main.compiles UNION "
				    "SELECT target FROM main.compiles UNION "
				    "SELECT tool FROM main.compiles",
				    -1, &stmt, NULL);

	while (!rc && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
		rc = sqlite3_column_type(stmt, 0) == SQLITE_NULL
			     ? SQLITE_OK
			     : mark(u, sqlite3_column_int64(stmt, 0));
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int remove_names(const struct used *u, sqlite3 *db)
{
	_sqlite3_stmt_ sqlite3_stmt *names = NULL;
	_sqlite3_stmt_ sqlite3_stmt *remove = NULL;
	int rc = sqlite3_prepare_v2(db, "SELECT id FROM main.names", -1, &names, NULL);

	if (!rc)
		rc = sqlite3_prepare_v2(db, "DELETE FROM main.names WHERE id = ?", -1, &remove,
					NULL);
	while (!rc && (rc = sqlite3_step(names)) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(names, 0);

		rc = SQLITE_OK;
		if (is_used(u, id))
			continue;
		sqlite3_bind_int64(remove, 1, id);
		rc = done(remove);
	}
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* The names of sums are those of shapes, too. */
static int remove_rest(sqlite3 *db)
{
	const struct packed_table queries = packed_table(HISTORY_QUERY);
	__cleanup(used__clear) struct used u = {};
	int rc = sqlite3_exec(db, remove_shapes, NULL, NULL, NULL);

	if (!rc)
		rc = sqlite_sums__sweep(db, &queries.format);
	if (!rc)
		rc = keep_compiles(&u, db);
	for (int id = HISTORY_QUERY; id < HISTORY_TABLES && !rc; id++)
		rc = keep_shapes(&u, db, (enum history_table_id)id);
	return rc ?: remove_names(&u, db);
}

int sqlite_prune(sqlite3 *db, const char *name, uint64_t before_ns, uint64_t *n)
{
	int rc = remove_builds(db, before_ns, n);

	if (!rc && *n)
		rc = remove_rest(db);
	return rc ? sqlite_db__error(db, rc, name) : 0;
}
