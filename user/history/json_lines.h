/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Rows as JSON lines: one object a row, and its first key is "table". The row of a build is the
 * first of its rows, and says how many of each other table follow. docs/history.md has an example.
 */
#ifndef QPROF_HISTORY_JSON_LINES_H
#define QPROF_HISTORY_JSON_LINES_H

#include <stdint.h>
#include <stdio.h>

#include "history/rows.h"

/* The "schema" of the rows of a build. */
#define JSON_LINES_SCHEMA "qprof-rows"

/*
 * Print one row as an object on a line of its own, with the table's columns alone, in their order.
 * Errors are those of the stream.
 */
void json_lines__row(FILE *out, enum history_table_id table, const void *row);

/* Print all rows of a build. 0, or -EIO after an error of the stream. */
int json_lines__write(FILE *out, const struct history_rows *rows);

/*
 * A reader of such lines, which trusts none of them: every row must have the columns of its table
 * and no others, with values of their types, and a build must be whole. Of lines of version 1 it
 * leaves out the estimates.
 */
struct json_lines;

/* `in` stays the caller's. 0 or -ENOMEM. */
int json_lines__new(FILE *in, struct json_lines **out);

/*
 * Read the next build into `rows`, which were initialized or cleared. 1; 0 at the end. -EBADMSG if
 * a line is wrong or the file ends within a build, -EPROTONOSUPPORT if a newer version wrote it:
 * json_lines__problem() then says what is wrong. -EIO or -ENOMEM. After an error, nothing more can
 * be read.
 */
int json_lines__next(struct json_lines *l, struct history_rows *rows);

/* "line 3: ...", for a message, or NULL. Valid until freed. */
const char *json_lines__problem(const struct json_lines *l);

void json_lines__free(struct json_lines *l);
DEFINE_CLEANUP(struct json_lines, json_lines__free)
#define _json_lines_ __cleanup(json_lines__free_p)

#endif /* QPROF_HISTORY_JSON_LINES_H */
