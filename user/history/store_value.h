/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Values of questions to a store, and of its answers (history/store.h). */
#ifndef QPROF_HISTORY_STORE_VALUE_H
#define QPROF_HISTORY_STORE_VALUE_H

#include <stddef.h>
#include <stdint.h>

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

#endif /* QPROF_HISTORY_STORE_VALUE_H */
