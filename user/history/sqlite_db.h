/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* SQLite's own objects in our ways: ownership by scope, and error lines. */
#ifndef QPROF_HISTORY_SQLITE_DB_H
#define QPROF_HISTORY_SQLITE_DB_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/cleanup.h"

DEFINE_CLEANUP(sqlite3_stmt, sqlite3_finalize)
#define _sqlite3_stmt_ __cleanup(sqlite3_finalize_p)
DEFINE_CLEANUP(sqlite3, sqlite3_close)
#define _sqlite3_ __cleanup(sqlite3_close_p)

/* Print why `db`, of this name, failed with `rc`, and what to do. Returns a negative errno. */
int sqlite_db__error(sqlite3 *db, int rc, const char *name);

/* Run statements without results. 0, or a negative errno after a line. */
int sqlite_db__run(sqlite3 *db, const char *name, const char *sql);

/* As sqlite_db__run(), for the first statement of `sql`, which the caller finalizes. */
int sqlite_db__prepare(sqlite3 *db, const char *name, const char *sql, sqlite3_stmt **out);

/*
 * The number that a statement of one row of one integer gives; -1 of no row or of null. 0, or a
 * negative errno after a line.
 */
int sqlite_db__number(sqlite3 *db, const char *name, const char *sql, int64_t *out);

#endif /* QPROF_HISTORY_SQLITE_DB_H */
