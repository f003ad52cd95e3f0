/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Rows of builds to a ClickHouse server, and back. Causes of failures are in the server's `why`. */
#ifndef QPROF_HISTORY_CLICKHOUSE_ROWS_H
#define QPROF_HISTORY_CLICKHOUSE_ROWS_H

#include "history/clickhouse_server.h"
#include "history/rows.h"

/*
 * Insert `n` builds that are not known. The rows of builds come last: a build without one is not
 * there yet for any question. Rows that are sent again replace themselves.
 */
int clickhouse_rows__insert(struct clickhouse_server *s, const struct history_rows *const *builds,
			    size_t n);

/*
 * For each of `n` builds, whether it is there: known[i]. One whose trace was not whole counts for
 * no whole one, which replaces it.
 */
int clickhouse_rows__known(struct clickhouse_server *s, const struct history_rows *builds, size_t n,
			   bool *known);

/* Call `take` with each build, the oldest first. What it returned, if that was not 0. */
int clickhouse_rows__each(struct clickhouse_server *s,
			  int (*take)(void *ctx, const struct history_rows *rows), void *ctx);

#endif /* QPROF_HISTORY_CLICKHOUSE_ROWS_H */
