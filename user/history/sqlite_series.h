/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The sums of history/sqlite_sums.h as SQL sees them: the virtual table query_series, with n for
 * the number of a build, and the columns of a query without those that its build has, and without
 * crate. It has rows only where `query` is given by =.
 */
#ifndef QPROF_HISTORY_SQLITE_SERIES_H
#define QPROF_HISTORY_SQLITE_SERIES_H

#include "history/sqlite_names.h"

/* Add it to the connection; `names` outlives it. Returns SQLite's code. */
int sqlite_series__add(sqlite3 *db, struct sqlite_names *names);

#endif /* QPROF_HISTORY_SQLITE_SERIES_H */
