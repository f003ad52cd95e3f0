/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A SQLite file of version 2 may have builds with a budget. How long queries without probes took
 * was estimated there: such rows have "estimated" as their `how`, and are comparable with no other.
 */
#ifndef QPROF_HISTORY_SQLITE_VERSION_2_H
#define QPROF_HISTORY_SQLITE_VERSION_2_H

#include <sqlite3.h>

/*
 * Remove the estimates, and sums over crates of which one is an estimate: without it they would be
 * too low. Returns SQLite's code.
 */
int sqlite_version_2__remove_estimates(sqlite3 *db);

#endif /* QPROF_HISTORY_SQLITE_VERSION_2_H */
