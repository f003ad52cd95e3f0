/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* SQL as one text, for a server that takes no parameters. */
#ifndef QPROF_HISTORY_SQL_TEXT_H
#define QPROF_HISTORY_SQL_TEXT_H

#include <stdio.h>

#include "history/store.h"

/* Write `text` as a string of ClickHouse, in quotes, whatever its bytes are. */
void sql_text__quote(FILE *out, const char *text);

/*
 * Write `sql` with the `n` values in the places of its question marks; those within quotes are no
 * places. -EINVAL if there are more or fewer places. Errors of `out` are the caller's to see.
 */
int sql_text__fill(FILE *out, const char *sql, const struct store_value *args, size_t n);

#endif /* QPROF_HISTORY_SQL_TEXT_H */
