/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Removes builds from a SQLite file, and what only they needed, in the current transaction. */
#ifndef QPROF_HISTORY_SQLITE_PRUNE_H
#define QPROF_HISTORY_SQLITE_PRUNE_H

#include <sqlite3.h>
#include <stdint.h>

/* Remove the rows of the build of this number. Returns SQLite's code. */
int sqlite_prune__build(sqlite3 *db, int64_t n);

/*
 * Remove the builds that started before then: their rows, and shapes and names that no other
 * build has. *n is the number of builds. 0, or a negative errno after a line.
 */
int sqlite_prune(sqlite3 *db, const char *name, uint64_t before_ns, uint64_t *n);

#endif /* QPROF_HISTORY_SQLITE_PRUNE_H */
