/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A history keeps rows of many builds, and this header is the interface of a store of them: a
 * SQLite file, or tables of a ClickHouse server. Both have the tables of history/columns.h under
 * these names, so that one text of SQL asks either; history/sql.h has what differs.
 *
 * To find the way in this room, read in this order:
 *
 *	row.h, columns.c	the rows of a build as structs, and the same columns as data
 *	extract.c		makes the rows of one trace; crate_sums.c has those of its crates
 *	store.h			adds rows to a store and asks it
 *	sqlite_schema.h		how a file packs the rows; sqlite_add.c writes them
 *	clickhouse.c		a server; spool.c keeps the builds that wait for it
 *	questions.c, trend.c	the questions in SQL, and where a number changed its level
 *
 * The other files serve one of these: commit.c asks git, sides.c and commits.c compare builds,
 * trend_kinds.c and trend_counted.c make the points of a trend comparable.
 *
 * Functions print one line with the cause and the next step, and return a negative errno.
 */
#ifndef QPROF_HISTORY_STORE_H
#define QPROF_HISTORY_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/rows.h"

struct store;

enum store_kind {
	STORE_SQLITE,
	STORE_CLICKHOUSE,
};

/* A value of a parameter or of a result. */
struct store_value {
	enum store_type {
		STORE_NULL,
		STORE_TEXT,
		STORE_INTEGER,
		STORE_REAL,
	} type;
	const char *text; /* of results: valid until the next row */
	int64_t integer;
	double real;
};

/* Called for each row of a result. */
typedef int (*store_row)(void *ctx, const struct store_value *cells, size_t n);

enum store_access {
	STORE_READ,	/* a store that does not exist is an error */
	STORE_WRITE,	/* it is made if it does not exist */
	STORE_EXISTING, /* to be changed; not made */
};

/*
 * `where`: a file, or http://HOST:PORT/DATABASE or https://...; NULL: the user's own file,
 * $XDG_DATA_HOME/qprof-bpf/history.db. -EINVAL if it is neither.
 */
int store__open(const char *where, enum store_access access, struct store **out);

enum store_kind store__kind(const struct store *s);
/* For messages: the file, or the address without its credentials. */
const char *store__name(const struct store *s);

/*
 * Add a build, whole or not at all, also if the process or the machine stops meanwhile. 0; 1 if the
 * store has it already, and nothing changes, unless it was of a trace that was not whole and is
 * now: then all of its rows are replaced; STORE_WAITS if its server cannot take it now: it is in
 * the spool (history/spool.h), of which store__close() tells; STORE_ELSEWHERE if another process is
 * sending it from there, or has just sent it.
 */
#define STORE_WAITS	2
#define STORE_ELSEWHERE 3
int store__add(struct store *s, const struct history_rows *rows);

/* Send what waits in the spool of a server; nothing for a file. */
int store__flush(struct store *s);

/*
 * Ask. Each ? in `sql` stands for the next of the `n` parameters. `row` is called for each row of
 * the result; its first value that is not 0 ends the query and is returned.
 */
int store__select(struct store *s, const char *sql, const struct store_value *args, size_t n,
		  store_row row, void *ctx);

/* Call `take` with all rows of each build, in the order of their starts. As store__select(). */
int store__each(struct store *s, int (*take)(void *ctx, const struct history_rows *rows),
		void *ctx);

/* Remove the builds that started before then, in ns since the epoch; *n is their number. */
int store__prune(struct store *s, uint64_t before_ns, uint64_t *n);

void store__close(struct store *s);
DEFINE_CLEANUP(struct store, store__close)
#define _store_ __cleanup(store__close_p)

/* ---- For the kinds of stores alone ---- */

/* As the functions above of the same names. */
struct store_ops {
	enum store_kind kind;
	int (*add)(struct store *s, const struct history_rows *rows);
	int (*flush)(struct store *s); /* NULL: nothing ever waits */
	int (*select)(struct store *s, const char *sql, const struct store_value *args, size_t n,
		      store_row row, void *ctx);
	int (*each)(struct store *s, int (*take)(void *ctx, const struct history_rows *rows),
		    void *ctx);
	int (*prune)(struct store *s, uint64_t before_ns, uint64_t *n);
	/* Free the object; `name` is already freed. */
	void (*close)(struct store *s);
};

/* The first member of a kind's own struct, whose open function fills it in. */
struct store {
	const struct store_ops *ops;
	char *name; /* see store__name() */
};

/* As store__open(), for a file. */
int sqlite__open(const char *path, enum store_access access, struct store **out);

/*
 * As store__open(), for an address. Nothing is asked of the server until the first question. A
 * build that the server cannot take now waits in the spool (history/spool.h), of which
 * store__close() tells.
 */
int clickhouse__open(const char *where, struct store **out);

#endif /* QPROF_HISTORY_STORE_H */
