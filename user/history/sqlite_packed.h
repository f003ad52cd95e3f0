/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The tables query, item and llvm in a SQLite file: packed (history/pack.h), a part for each crate
 *of a build.
 *
 *	<table>_parts	id = number of the build << 32 | number of the crate's name; shape, times
 *	<table>_shapes	id, crate, rows
 *	<table>_crates	of item and llvm: the crates that a key was ever found in, to find it
 *			without a crate
 *
 * The sums of queries over all crates are in other tables (history/sqlite_sums.h).
 */
#ifndef QPROF_HISTORY_SQLITE_PACKED_H
#define QPROF_HISTORY_SQLITE_PACKED_H

#include "history/columns.h"
#include "history/pack.h"
#include "history/rows.h"
#include "history/sqlite_names.h"

#define PACKED_CRATE_BITS 32

/* Where the columns of a table are in a packed row. */
struct packed_table {
	enum history_table_id id;
	const struct history_table *table;
	const struct history_column *crate;
	const struct history_column *key;
	const struct history_column *exact[PACK_EXACT];
	const struct history_column *times[PACK_TIMES];
	struct pack_format format;
	bool sums;  /* has sums over all crates */
	bool where; /* has a table of crates by key */
};

/* A packed table: those from HISTORY_QUERY on. */
struct packed_table packed_table(enum history_table_id id);

static inline int64_t packed_id(int64_t build, int64_t crate)
{
	return (int64_t)((uint64_t)build << PACKED_CRATE_BITS | (uint64_t)crate);
}

/*
 * Write the rows of a table as parts of the build of this number, in the current transaction.
 * Returns SQLite's codes; SQLITE_CONSTRAINT if a crate has two rows of one key.
 */
int packed_table__write(const struct packed_table *p, sqlite3 *db, struct sqlite_names *names,
			int64_t build, const struct history_rows *rows);

/* Prepare a statement in which %s is the name of the table. Returns SQLite's code. */
int packed__prepare(const struct packed_table *p, sqlite3 *db, const char *format,
		    sqlite3_stmt **out);

/* Give the value of a column to SQL: a name by its number, or a number; PACK_UNKNOWN is null. */
int packed__give_name(sqlite3_context *ctx, struct sqlite_names *names, uint64_t id);
int packed__give_number(sqlite3_context *ctx, uint64_t number);

#endif /* QPROF_HISTORY_SQLITE_PACKED_H */
