/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * SQLite files of versions 1 to 5: query, item and llvm were packed there, in bits that only
 * qprof-bpf could read. This is what it takes to bring such a file up to date, and nothing else.
 *
 *	<table>_parts	id = number of the build << 32 | number of the crate's name; shape, times
 *	<table>_shapes	id, crate, rows: of builds of the same source
 *	<table>_crates	of item and llvm: the crates that a key was ever found in
 *	sums_...	the sums of queries over all crates, since version 2; in version 1 they are
 *			parts of the crate 0
 *
 * A shape has a count of rows; their keys (numbers of names, strictly increasing) as differences;
 * by column of numbers 1 and their common value, or 0 and all values, each + 1 (0: unknown); by
 * column of times the codes of sqlite_time__ns() of the build that it was made for. All are varints
 * of trace/bytes.h.
 *
 * Times are bits, from the lowest of each byte on: 1 if rows may be absent, 1 if times may be
 * unknown; by column of times 3 bits, how much less than usual they differ. By row 1 if it is
 * absent; else by time 1 if it is unknown; else how its code differs from what is expected, zigzag,
 * as a Rice code: the upper bits as so many ones and a zero, then the lower ones; after 12 ones the
 * number of its bits in 5, and they.
 */
#ifndef QPROF_HISTORY_SQLITE_FORMER_H
#define QPROF_HISTORY_SQLITE_FORMER_H

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>

/* What a version had besides names, builds and compiles. */
void sqlite_former__print(FILE *f, int64_t version);

/*
 * Bring a file whose tables were checked up to date, in the current transaction. Returns SQLite's
 * code. Estimates of version 2 and before are left out, with the sums that they are in.
 */
int sqlite_former__move(sqlite3 *db, int64_t version);

#endif /* QPROF_HISTORY_SQLITE_FORMER_H */
