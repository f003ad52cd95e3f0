/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A SELECT that is put together with its parameters. */
#ifndef QPROF_HISTORY_SQL_H
#define QPROF_HISTORY_SQL_H

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

#endif /* QPROF_HISTORY_SQL_H */
