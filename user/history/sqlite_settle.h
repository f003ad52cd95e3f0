/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The version of a SQLite file (PRAGMA user_version), and whether its tables are ours. */
#ifndef QPROF_HISTORY_SQLITE_SETTLE_H
#define QPROF_HISTORY_SQLITE_SETTLE_H

#include <sqlite3.h>
#include <stdbool.h>

/*
 * Make sure that the file has our tables in our version and nothing else: another user may have
 * made it. With `write` they are made in an empty file, and those of a former version are changed.
 * 0, or a negative errno after a line.
 */
int sqlite_settle(sqlite3 *db, const char *name, bool write);

#endif /* QPROF_HISTORY_SQLITE_SETTLE_H */
