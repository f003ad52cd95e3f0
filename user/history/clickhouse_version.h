/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The version of the tables on a server, and the way from it to ours. */
#ifndef QPROF_HISTORY_CLICKHOUSE_VERSION_H
#define QPROF_HISTORY_CLICKHOUSE_VERSION_H

#include "history/clickhouse_server.h"

struct clickhouse_version {
	int64_t version;  /* 0: there are no tables, or not all of them */
	char cluster[64]; /* empty: one server */
};

/*
 * Ask. The cause of a failure is left in `why` of the server. -EPROTONOSUPPORT: the tables are of a
 * newer version; -ENOENT: there are none, or those of an older one.
 */
int clickhouse_version__check(struct clickhouse_server *s, struct clickhouse_version *v);

/*
 * Make the tables, or bring those that are there to our version; nothing changes if they are of it.
 * `cluster` NULL: one server; `keep_ns` 0: for ever. Prints an error line, or a line of what it
 * did.
 */
int clickhouse_version__migrate(const char *where, const char *cluster, uint64_t keep_ns);

/* The days that a time has, at least 1; 0 of 0. */
uint64_t clickhouse_version__days(uint64_t ns);

/* A name of a cluster, which may stand between backticks: letters, digits, _, - and . */
bool clickhouse_version__is_cluster(const char *text);

#endif /* QPROF_HISTORY_CLICKHOUSE_VERSION_H */
