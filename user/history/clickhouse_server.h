/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Statements to a ClickHouse server, of 18.16 and later, by HTTP. Functions return what
 * http__post() returns, -EACCES if the server does not accept the user, and -ENOBUFS if the
 * statement needs more memory than it may have. They print nothing: the cause is in `why`, for the
 * caller's line.
 */
#ifndef QPROF_HISTORY_CLICKHOUSE_SERVER_H
#define QPROF_HISTORY_CLICKHOUSE_SERVER_H

#include "history/address.h"
#include "history/store.h"

struct clickhouse_server {
	struct address at;
	struct http_login login;
	struct http *http;
	char why[HTTP_WHY_MAX]; /* the cause of the last failure, and the next step */
	long code;		/* the server's own number of it; 0: none */
	bool outside;		/* of any database: ours may not be there yet */
};

/* The server's numbers of errors. */
#define CLICKHOUSE_UNKNOWN_TABLE    60
#define CLICKHOUSE_UNKNOWN_DATABASE 81

/* Nothing is asked yet. Prints an error line. */
int clickhouse_server__open(struct clickhouse_server *s, const char *where);

/* Execute a statement that has no rows, with `rows` for an INSERT ... FORMAT, or NULL. */
int clickhouse_server__run(struct clickhouse_server *s, const char *sql, const char *rows,
			   size_t len);

/* Ask. `sql` is a SELECT without FORMAT. What `row` returned, if it was not 0. */
int clickhouse_server__select(struct clickhouse_server *s, const char *sql, store_row row,
			      void *ctx);

void clickhouse_server__clear(struct clickhouse_server *s);

#endif /* QPROF_HISTORY_CLICKHOUSE_SERVER_H */
