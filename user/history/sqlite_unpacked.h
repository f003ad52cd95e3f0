/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The packed tables as SQL sees them: virtual tables query and item with the columns of
 * history/columns.h. They read little where build, crate, or the query or item are given by =, or
 * start_ns has limits.
 */
#ifndef QPROF_HISTORY_SQLITE_UNPACKED_H
#define QPROF_HISTORY_SQLITE_UNPACKED_H

#include "history/sqlite_names.h"

/* Add them to the connection; `names` outlives it. Returns SQLite's code. */
int sqlite_unpacked__add(sqlite3 *db, struct sqlite_names *names);

#endif /* QPROF_HISTORY_SQLITE_UNPACKED_H */
