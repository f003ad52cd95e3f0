/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The sums of a query over all crates of a build, of build after build, in a SQLite file. A trend
 * reads one query of many builds, and adding writes all queries of one build; so sums are written
 * by build, and turned once there are SQLITE_SUMS_TURNED builds of them.
 *
 *	sums_recent	n: number of the build; rows: by number of the query's name
 *	sums_turned	id: number of the last build of these << 32 | number of the query's name;
 *			rows: by number of the build
 *
 * Rows are shapes of history/pack.h whose numbers are those of a packed query, and the codes of its
 * times. The number of a build in sums_turned is not given to another build, so a build that is
 * removed may stay there until sqlite_sums__sweep().
 *
 * Functions return SQLite's code. They work in the current transaction.
 */
#ifndef QPROF_HISTORY_SQLITE_SUMS_H
#define QPROF_HISTORY_SQLITE_SUMS_H

#include <sqlite3.h>

#include "history/pack.h"

#define SQLITE_SUMS_TURNED 128

#define SQLITE_SUMS_TABLES                                                     \
	"CREATE TABLE sums_recent(n INTEGER PRIMARY KEY, rows BLOB NOT NULL);" \
	"CREATE TABLE sums_turned(id INTEGER PRIMARY KEY, rows BLOB NOT NULL)"

/*
 * Add the sums of the newest build. `format` is that of packed queries, and `sums` has a row for
 * each, whose key is the number of the query's name; they are changed.
 */
int sqlite_sums__add(sqlite3 *db, const struct pack_format *format, int64_t build,
		     struct pack_rows *sums);

/* The sums of one query, by numbers of builds, of which some may be there no more. */
int sqlite_sums__read(sqlite3 *db, const struct pack_format *format, int64_t query,
		      struct pack_rows *out);

/* A number that no build has or had in these tables. */
int sqlite_sums__next_build(sqlite3 *db, int64_t *n);

/* Remove the sums of builds that are there no more from sums_turned. */
int sqlite_sums__sweep(sqlite3 *db, const struct pack_format *format);

#endif /* QPROF_HISTORY_SQLITE_SUMS_H */
