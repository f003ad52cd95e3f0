/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Removes builds from a SQLite file, in the current transaction. Functions return SQLite's code. */
#ifndef QPROF_HISTORY_SQLITE_PRUNE_H
#define QPROF_HISTORY_SQLITE_PRUNE_H

#include <sqlite3.h>
#include <stdint.h>

/* Remove the rows of the build of this number; what only it needed stays. */
int sqlite_prune__build(sqlite3 *db, int64_t n);

/* Remove the builds that started before then, and what only they needed. *n is their number. */
int sqlite_prune__before(sqlite3 *db, uint64_t before_ns, uint64_t *n);

/* Remove lists, entries, counts and names that no build needs. */
int sqlite_prune__unused(sqlite3 *db);

#endif /* QPROF_HISTORY_SQLITE_PRUNE_H */
