/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A store in tables of a ClickHouse server. */
#ifndef QPROF_HISTORY_CLICKHOUSE_H
#define QPROF_HISTORY_CLICKHOUSE_H

#include "history/store.h"

/*
 * As store__open(), for an address. Nothing is asked of the server until the first question. A
 * build that the server cannot take now waits in the spool (history/spool.h), of which
 * store__close() tells.
 */
int clickhouse__open(const char *where, struct store **out);

#endif /* QPROF_HISTORY_CLICKHOUSE_H */
