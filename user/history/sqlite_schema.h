/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The tables of a SQLite file, its version (PRAGMA user_version), and the way from a former one.
 *
 *	names		texts by number (history/sqlite_names.h)
 *	builds		the columns of build, and a number n
 *	compiles	the columns of compile, with n for its build, and numbers for texts
 *	build, compile	views: the same as history/columns.h has it
 *	..._parts, ..._shapes, item_crates	see history/sqlite_packed.h
 *	sums_recent, sums_turned	see history/sqlite_sums.h
 *
 * Functions return 0, or a negative errno after a line.
 */
#ifndef QPROF_HISTORY_SQLITE_SCHEMA_H
#define QPROF_HISTORY_SQLITE_SCHEMA_H

#include <sqlite3.h>
#include <stdbool.h>

/* The version of a file. */
#define SQLITE_FILE_VERSION 5

/* A step from one version to the next: statements, and then a function. */
struct sqlite_step {
	const char *sql;
	int (*run)(sqlite3 *db); /* returns SQLite's code; or NULL */
};

/*
 * Make sure that the file has our tables in our version and nothing else: another user may have
 * made it. With `write` they are made in an empty file, and those of a former version are changed.
 */
int sqlite_schema__settle(sqlite3 *db, const char *name, bool write);

#endif /* QPROF_HISTORY_SQLITE_SCHEMA_H */
