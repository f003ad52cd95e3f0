/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The tables of a SQLite file; history/sqlite_settle.h makes them, and history/sqlite_former.h has
 * those of former versions.
 *
 *	names		texts by number; a number is never given twice
 *	builds		the columns of build, and a number n
 *	compiles	the columns of compile, with n for its build, and numbers for texts
 *	lists		what builds have of a crate in common: which queries, items, or functions
 *			and passes of LLVM (`what`); those of the sums over all crates have no crate
 *	entries		by list and place: a name, and its kind and how, as numbers of names
 *	counts		of a list, as a text, a character by place: see sqlite_count()
 *	large_counts	those that are no character
 *	parts		of a build and a list: the number of its counts, and times as texts, a
 *			character by place: SQLITE_ABSENT, or see sqlite_time()
 *
 * Views have the tables of history/columns.h, and query_sum the sums of queries over all crates.
 * They need no function but SQLite's own. 20,000 rows of a build as rows would take 410 KB; as
 * characters by place they take 60 KB, as a list and counts are mostly those of the build before.
 */
#ifndef QPROF_HISTORY_SQLITE_SCHEMA_H
#define QPROF_HISTORY_SQLITE_SCHEMA_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

#include "history/columns.h"

/* The version of a file. */
#define SQLITE_FILE_VERSION 6

/* More than any history has: one name per program item that was ever among the most expensive. */
#define SQLITE_NAMES_MAX (1 << 24)

/* The most places of a list: a view goes through a text for each. */
#define SQLITE_LIST_MOST (1u << 14)

/* The columns build and start_ns, which other tables have from their build. */
#define SQLITE_OF_BUILD 2

/* `what` of the lists of sums. */
#define SQLITE_SUMS "query_sum"

/* The character of an entry that a build does not have. */
#define SQLITE_ABSENT 1

/*
 * The character of a time: of what is not known 2, else 3 and a code. Codes grow with times, which
 * they have more exactly than times of a compiler are the same from run to run: to 1 us below 32
 * us, then 5 significant bits, and one more at 128 us and at each third doubling after it, up to
 * 10. So a time is off by at most half a microsecond or 3 %; 1.6 % from 128 us, 0.8 % from 1 ms,
 * 0.4 % from 8 ms, 0.2 % from 65 ms, 0.1 % from 0.53 s. UTF-8 has a byte for those below 0.7 ms,
 * and two for those below 1 s.
 */
uint32_t sqlite_time(uint64_t ns);
/* The time of a code of sqlite_time(), which is its character less 3. */
uint64_t sqlite_time__ns(uint32_t code);

/*
 * The character of a count: 3 more, and none from 0xd800 to 0xffff, as Unicode has none there, or
 * SQLite takes none. SQLITE_LARGE: it is not known, or too large, and in large_counts.
 */
#define SQLITE_LARGE 2
uint32_t sqlite_count(uint64_t count);
uint64_t sqlite_count__of(uint32_t character);

/* The column by which rows of a crate differ: query, item, name. */
const struct history_column *sqlite_key(const struct history_table *t);

/* The tables builds and compiles, and their views, as a version had them. */
void sqlite_schema__print_builds(FILE *f, int64_t version);
/* Whether a version had a column. */
bool sqlite_schema__has(int64_t version, const struct history_column *c);
/* The tables and views that versions before 6 had otherwise. */
void sqlite_schema__print_lists(FILE *f);

#endif /* QPROF_HISTORY_SQLITE_SCHEMA_H */
