/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A SELECT that is put together with its parameters. */
#ifndef QPROF_HISTORY_SQL_H
#define QPROF_HISTORY_SQL_H

#include <stdio.h>

#include "history/store.h"

#define SQL_ARGS 128

struct sql {
	char text[2048];
	size_t len;
	struct store_value args[SQL_ARGS];
	size_t n_args;
	bool has_where;
	bool overflow; /* of the text or of the parameters: the SELECT is refused with -E2BIG */
};

void sql__add(struct sql *q, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Add `text` and the parameter of the ? in it, which must stay until sql__select(). */
void sql__add_text(struct sql *q, const char *text, const char *arg);

/*
 * Add a condition that has a ? for the value, behind WHERE or AND; of a text that is NULL none.
 * The text must stay, too.
 */
void sql__where_text(struct sql *q, const char *condition, const char *text);
void sql__where_number(struct sql *q, const char *condition, uint64_t number);

/* As store__select(). */
int sql__select(struct sql *q, struct store *s, store_row row, void *ctx);

/* A cell as a number; HISTORY_UNKNOWN of null, of a negative number, and of no number. */
uint64_t sql_number(const struct store_value *cell);

/* A cell as a text; NULL of null. */
static inline const char *sql_text(const struct store_value *cell)
{
	return cell->type == STORE_TEXT ? cell->text : NULL;
}

/* ---- The differences between the SQL of the kinds of stores ---- */

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

/* ---- SQL as one text, for a server that takes no parameters ---- */

/* Write `text` as a string of ClickHouse, in quotes, whatever its bytes are. */
void sql_text__quote(FILE *out, const char *text);

/*
 * Write `sql` with the `n` values in the places of its question marks; those within quotes are no
 * places. -EINVAL if there are more or fewer places. Errors of `out` are the caller's to see.
 */
int sql_text__fill(FILE *out, const char *sql, const struct store_value *args, size_t n);

#endif /* QPROF_HISTORY_SQL_H */
