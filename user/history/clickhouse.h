/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A store in tables of a ClickHouse server. */
#ifndef QPROF_HISTORY_CLICKHOUSE_H
#define QPROF_HISTORY_CLICKHOUSE_H

#include "history/store.h"

/* As store__open(), for an address. */
int clickhouse__open(const char *where, enum store_access access, struct store **out);

#endif /* QPROF_HISTORY_CLICKHOUSE_H */
