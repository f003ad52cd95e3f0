/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The differences between the SQL of the kinds of stores. All texts are constants. */
#ifndef QPROF_HISTORY_DIALECT_H
#define QPROF_HISTORY_DIALECT_H

#include "history/store.h"

/*
 * A table as it stands behind FROM. ClickHouse keeps a row that was sent twice until it merges the
 * parts that have it; FINAL shows one of them.
 */
const char *dialect__table(enum store_kind kind, enum history_table_id table);

/* The same where rows that are there twice do no harm: that is quicker. */
const char *dialect__rows(enum history_table_id table);

/* Whether a question should first find the time of its rows, because FINAL reads all columns. */
bool dialect__wants_window(enum store_kind kind);

/*
 * The same for questions about a query in all crates: the query is given by =. Columns are named as
 * in HISTORY_QUERY.
 */
const char *dialect__query_sums(enum store_kind kind);

/* The function f(text, part) that has the place of a part in a text, from 1; 0: it is not there. */
const char *dialect__find(enum store_kind kind);

#endif /* QPROF_HISTORY_DIALECT_H */
