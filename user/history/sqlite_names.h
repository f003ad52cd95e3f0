/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The texts of a SQLite store, which rows refer to by number. A number is never given twice, so
 * that texts that were read stay true whatever other processes do. Functions return SQLite's codes.
 */
#ifndef QPROF_HISTORY_SQLITE_NAMES_H
#define QPROF_HISTORY_SQLITE_NAMES_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/cleanup.h"

#define SQLITE_NAMES_TABLE \
	"CREATE TABLE names(id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL UNIQUE)"

/* More than any history has: one name per program item that was ever among the most expensive. */
#define SQLITE_NAMES_MAX (1 << 24)

struct sqlite_names;

/* `db` outlives it. NULL: no memory. */
struct sqlite_names *sqlite_names__new(sqlite3 *db);

/*
 * The number of a text, which gets one if it has none; SQLITE_FULL if there are too many. Within
 * one transaction a pointer stands for its text.
 */
int sqlite_names__add(struct sqlite_names *n, const char *text, int64_t *id);

/* A transaction ended: numbers that it gave, or saw, may be void. */
void sqlite_names__end(struct sqlite_names *n);

/* The number of a text, or 0. */
int sqlite_names__find(struct sqlite_names *n, const char *text, int64_t *id);

/* The text of a number, valid until freed; SQLITE_CORRUPT if it has none. */
int sqlite_names__text(struct sqlite_names *n, int64_t id, const char **text);

void sqlite_names__free(struct sqlite_names *n);

#endif /* QPROF_HISTORY_SQLITE_NAMES_H */
