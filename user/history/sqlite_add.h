/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Writes builds into the tables of history/sqlite_schema.h. */
#ifndef QPROF_HISTORY_SQLITE_ADD_H
#define QPROF_HISTORY_SQLITE_ADD_H

#include <sqlite3.h>

#include "history/rows.h"

/*
 * Add a build, which is not there yet, in the current transaction. Returns SQLite's code;
 * SQLITE_CONSTRAINT if it has two rows for the same thing, SQLITE_TOOBIG if a crate has too many.
 *
 * Rows whose `how` is "estimated" are left out, and the sums over crates of which one is: they are
 * of versions before 3 (history/sqlite_former.h), and comparable with no others.
 */
int sqlite_add(sqlite3 *db, const struct history_rows *rows);

/* Add its rows of queries, items and LLVM to a build that is there, by its number. */
int sqlite_add__crates(sqlite3 *db, int64_t build, const struct history_rows *rows);

#endif /* QPROF_HISTORY_SQLITE_ADD_H */
