// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sqlite_sums.h"

#include <stdlib.h>

#include "base/array.h"
#include "history/sqlite_db.h"
#include "history/time_code.h"

#define QUERY_BITS 32

static int64_t turned_id(int64_t last_build, int64_t query)
{
	return (int64_t)((uint64_t)last_build << QUERY_BITS | (uint64_t)query);
}

static int done(sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt);

	sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* ---- Rows as bytes --------------------------------------------------------------------------- */

/* Times as numbers: no build is like another, so none is the difference to an expected one. */
static struct pack_format as_numbers(const struct pack_format *f)
{
	return (struct pack_format){.exact = f->exact + f->times};
}

static void code_times(struct pack_row *row, const struct pack_format *f)
{
	for (unsigned int t = 0; t < f->times; t++)
		row->exact[f->exact + t] =
			row->times[t] == PACK_UNKNOWN ? PACK_UNKNOWN : time_code(row->times[t]);
}

static int decode_times(struct pack_row *row, const struct pack_format *f)
{
	for (unsigned int t = 0; t < f->times; t++) {
		uint64_t code = row->exact[f->exact + t];

		if (code != PACK_UNKNOWN && code >= TIME_CODE_END)
			return SQLITE_CORRUPT;
		row->times[t] = code == PACK_UNKNOWN ? code : time_code__ns((uint32_t)code);
	}
	return SQLITE_OK;
}

/* Rows in the column `i`; their times are only numbers yet. */
static int read_rows(sqlite3_stmt *stmt, int i, const struct pack_format *f, struct pack_rows *out)
{
	const struct pack_format numbers = as_numbers(f);

	return pack_shape__decode(sqlite3_column_blob(stmt, i),
				  (size_t)sqlite3_column_bytes(stmt, i), &numbers, out)
		       ? SQLITE_CORRUPT
		       : SQLITE_OK;
}

/* `stmt` has the parameters id and rows. */
static int write_rows(sqlite3_stmt *stmt, int64_t id, const struct pack_format *f,
		      const struct pack_rows *rows)
{
	const struct pack_format numbers = as_numbers(f);
	struct byte_buffer bytes = {};
	int rc = SQLITE_NOMEM;

	pack_shape__encode(&bytes, &numbers, rows);
	if (!bytes.failed) {
		sqlite3_bind_int64(stmt, 1, id);
		sqlite3_bind_blob64(stmt, 2, bytes.data, bytes.size, SQLITE_STATIC);
		rc = done(stmt);
	}
	byte_buffer__destroy(&bytes);
	return rc;
}

/* ---- Turning --------------------------------------------------------------------------------- */

struct sum {
	int64_t query;
	struct pack_row row; /* of a build */
};

struct sums {
	struct sum *at;
	uint32_t n;
	uint32_t capacity;
	int64_t last_build;
};

static void sums__clear(struct sums *s)
{
	free(s->at);
}

static int by_query_and_build(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (x->query != y->query)
		return x->query < y->query ? -1 : 1;
	return x->row.key < y->row.key ? -1 : x->row.key > y->row.key;
}

static int read_recent(sqlite3 *db, const struct pack_format *f, struct sums *out)
{
	_sqlite3_stmt_ sqlite3_stmt *stmt = NULL;
	_pack_rows_ struct pack_rows rows = {};
	int rc = sqlite3_prepare_v2(db, "SELECT n, rows FROM main.sums_recent ORDER BY n", -1,
				    &stmt, NULL);

	while (!rc && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		out->last_build = sqlite3_column_int64(stmt, 0);
		rc = read_rows(stmt, 1, f, &rows);
		for (uint32_t i = 0; i < rows.n && !rc; i++) {
			struct sum s = {(int64_t)rows.at[i].key, rows.at[i]};

			s.row.key = (uint64_t)out->last_build;
			if (array__add(&out->at, &out->n, &out->capacity, &s))
				rc = SQLITE_NOMEM;
		}
	}
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* The sums of each query become a row. */
static int write_turned(sqlite3 *db, const struct pack_format *f, const struct sums *s)
{
	_sqlite3_stmt_ sqlite3_stmt *insert = NULL;
	_pack_rows_ struct pack_rows of_query = {};
	int rc = sqlite3_prepare_v2(db, "INSERT INTO main.sums_turned VALUES(?, ?)", -1, &insert,
				    NULL);

	for (uint32_t i = 0; i < s->n && !rc; i++) {
		if (array__add(&of_query.at, &of_query.n, &of_query.capacity, &s->at[i].row))
			return SQLITE_NOMEM;
		if (i + 1 < s->n && s->at[i + 1].query == s->at[i].query)
			continue;
		rc = write_rows(insert, turned_id(s->last_build, s->at[i].query), f, &of_query);
		of_query.n = 0;
	}
	return rc;
}

static int turn(sqlite3 *db, const struct pack_format *f)
{
	__cleanup(sums__clear) struct sums s = {};
	int rc = read_recent(db, f, &s);

	if (rc)
		return rc;
	if (s.n)
		qsort(s.at, s.n, sizeof(*s.at), by_query_and_build);
	rc = write_turned(db, f, &s);
	return rc ?: sqlite3_exec(db, "DELETE FROM main.sums_recent", NULL, NULL, NULL);
}

static int number(sqlite3 *db, const char *sql, int64_t *out)
{
	_sqlite3_stmt_ sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

	if (rc)
		return rc;
	rc = sqlite3_step(stmt);
	*out = sqlite3_column_int64(stmt, 0);
	return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

int sqlite_sums__add(sqlite3 *db, const struct pack_format *format, int64_t build,
		     struct pack_rows *sums)
{
	_sqlite3_stmt_ sqlite3_stmt *insert = NULL;
	int64_t n = 0;
	int rc = sqlite3_prepare_v2(db, "INSERT INTO main.sums_recent VALUES(?, ?)", -1, &insert,
				    NULL);

	for (uint32_t i = 0; i < sums->n; i++)
		code_times(&sums->at[i], format);
	if (!rc && sums->n)
		rc = write_rows(insert, build, format, sums);
	if (!rc)
		rc = number(db, "SELECT count(*) FROM main.sums_recent", &n);
	return rc || n < SQLITE_SUMS_TURNED ? rc : turn(db, format);
}

int sqlite_sums__next_build(sqlite3 *db, int64_t *n)
{
	return number(db,
		      "SELECT 1 + max(coalesce((SELECT max(n) FROM main.builds), 0),"
		      " coalesce((SELECT max(id) >> 32 FROM main.sums_turned), 0))",
		      n);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static int add_sum(struct pack_rows *out, const struct pack_format *f, struct pack_row row)
{
	int rc = decode_times(&row, f);

	if (!rc && array__add(&out->at, &out->n, &out->capacity, &row))
		rc = SQLITE_NOMEM;
	return rc;
}

/*
 * Builds that were turned together have a row for each query; those of one query are far apart.
 * Behind the largest number of a build, which a file of another may have, << would begin again.
 */
static const char turned[] =
	"WITH RECURSIVE last(n) AS ("
	"SELECT min(id) >> 32 FROM main.sums_turned UNION ALL "
	"SELECT (SELECT id >> 32 FROM main.sums_turned WHERE id >= (last.n + 1) << 32 "
	"ORDER BY id LIMIT 1) FROM last WHERE last.n < 2147483647) "
	"SELECT t.rows FROM last CROSS JOIN main.sums_turned AS t ON t.id = last.n << 32 | ?";

static int read_turned(sqlite3 *db, const struct pack_format *f, int64_t query,
		       struct pack_rows *out)
{
	_sqlite3_stmt_ sqlite3_stmt *stmt = NULL;
	_pack_rows_ struct pack_rows rows = {};
	int rc = sqlite3_prepare_v2(db, turned, -1, &stmt, NULL);

	if (!rc)
		sqlite3_bind_int64(stmt, 1, query);
	while (!rc && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		rc = read_rows(stmt, 0, f, &rows);
		for (uint32_t i = 0; i < rows.n && !rc; i++)
			rc = add_sum(out, f, rows.at[i]);
	}
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int read_recent_of(sqlite3 *db, const struct pack_format *f, int64_t query,
			  struct pack_rows *out)
{
	_sqlite3_stmt_ sqlite3_stmt *stmt = NULL;
	_pack_rows_ struct pack_rows rows = {};
	int rc = sqlite3_prepare_v2(db, "SELECT n, rows FROM main.sums_recent ORDER BY n", -1,
				    &stmt, NULL);

	while (!rc && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		rc = read_rows(stmt, 1, f, &rows);
		for (uint32_t i = 0; i < rows.n && !rc; i++) {
			if (rows.at[i].key != (uint64_t)query)
				continue;
			rows.at[i].key = (uint64_t)sqlite3_column_int64(stmt, 0);
			rc = add_sum(out, f, rows.at[i]);
		}
	}
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int sqlite_sums__read(sqlite3 *db, const struct pack_format *format, int64_t query,
		      struct pack_rows *out)
{
	int rc = read_turned(db, format, query, out);

	return rc ?: read_recent_of(db, format, query, out);
}

/* ---- Removing -------------------------------------------------------------------------------- */

/* Numbers of builds, in order. */
struct builds {
	uint64_t *at;
	uint32_t n;
	uint32_t capacity;
};

static void builds__clear(struct builds *b)
{
	free(b->at);
}

static int read_builds(sqlite3 *db, struct builds *out)
{
	_sqlite3_stmt_ sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(db, "SELECT n FROM main.builds ORDER BY n", -1, &stmt, NULL);

	while (!rc && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		uint64_t n = (uint64_t)sqlite3_column_int64(stmt, 0);

		rc = array__add(&out->at, &out->n, &out->capacity, &n) ? SQLITE_NOMEM : SQLITE_OK;
	}
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void leave_existing(const struct builds *builds, struct pack_rows *rows)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < rows->n; i++)
		if (builds->n && bsearch(&rows->at[i].key, builds->at, builds->n,
					 sizeof(*builds->at), by_number))
			rows->at[n++] = rows->at[i];
	rows->n = n;
}

static int sweep_row(sqlite3 *db, const struct pack_format *f, int64_t id,
		     const struct pack_rows *rows)
{
	_sqlite3_stmt_ sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(db,
				    rows->n ? "REPLACE INTO main.sums_turned VALUES(?, ?)"
					    : "DELETE FROM main.sums_turned WHERE id = ?",
				    -1, &stmt, NULL);

	if (rc)
		return rc;
	if (rows->n)
		return write_rows(stmt, id, f, rows);
	sqlite3_bind_int64(stmt, 1, id);
	return done(stmt);
}

int sqlite_sums__sweep(sqlite3 *db, const struct pack_format *format)
{
	__cleanup(builds__clear) struct builds builds = {};
	_sqlite3_stmt_ sqlite3_stmt *next = NULL;
	_pack_rows_ struct pack_rows rows = {};
	int64_t id = 0;
	int rc = read_builds(db, &builds);

	if (!rc)
		rc = sqlite3_prepare_v2(db,
					"SELECT id, rows FROM main.sums_turned WHERE id > ? "
					"ORDER BY id LIMIT 1",
					-1, &next, NULL);
	while (!rc) {
		uint32_t n;

		sqlite3_bind_int64(next, 1, id);
		rc = sqlite3_step(next);
		if (rc != SQLITE_ROW)
			break;
		id = sqlite3_column_int64(next, 0);
		rc = read_rows(next, 1, format, &rows);
		sqlite3_reset(next);
		n = rows.n;
		leave_existing(&builds, &rows);
		if (!rc && rows.n < n)
			rc = sweep_row(db, format, id, &rows);
	}
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}
