/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where a ClickHouse server is, and by which user it is asked.
 *
 * Credentials come from the environment, QPROF_CLICKHOUSE_USER and QPROF_CLICKHOUSE_PASSWORD, or
 * from the file $XDG_CONFIG_HOME/qprof-bpf/clickhouse, which nobody else may read: lines of
 * "user = ...", "password = ...", "ca = FILE", "timeout = SECONDS". Never from an address or an
 * option, which every process of the machine can read. Nothing prints them.
 */
#ifndef QPROF_HISTORY_ADDRESS_H
#define QPROF_HISTORY_ADDRESS_H

#include <stdbool.h>

#include "history/http.h"

#define ADDRESS_NAME_MAX 256

struct address {
	char name[ADDRESS_NAME_MAX]; /* "https://host:8443/db": what messages show */
	char base[ADDRESS_NAME_MAX]; /* "https://host:8443/" */
	char database[64];
	char directory[ADDRESS_NAME_MAX]; /* a name for files: "host-8443-db" */
};

/* Whether a store's name is meant as an address: it begins with "http://" or "https://". */
bool address__is(const char *where);

/*
 * Read "http[s]://HOST[:PORT][/PATH][/DATABASE]". Without a port it is ClickHouse's own, 8123 or
 * 8443; without a database "default". Prints an error line; -EINVAL.
 */
int address__parse(struct address *a, const char *where);

/* Prints an error line if the file cannot be used. */
int http_login__read(struct http_login *login);
void http_login__clear(struct http_login *login);
#define _http_login_ __cleanup(http_login__clear)

#endif /* QPROF_HISTORY_ADDRESS_H */
