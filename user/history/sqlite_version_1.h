/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A SQLite file of version 1 has the sums of queries over all crates among its packed queries, as
 * those of crate 0. Reading a query of many builds took decoding all sums of each build.
 */
#ifndef QPROF_HISTORY_SQLITE_VERSION_1_H
#define QPROF_HISTORY_SQLITE_VERSION_1_H

#include <sqlite3.h>

/* Move them to the tables of history/sqlite_sums.h. Returns SQLite's code. */
int sqlite_version_1__move_sums(sqlite3 *db);

#endif /* QPROF_HISTORY_SQLITE_VERSION_1_H */
