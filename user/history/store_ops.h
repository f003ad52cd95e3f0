/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* One kind of store, for history/store.c. Only kinds include this. */
#ifndef QPROF_HISTORY_STORE_OPS_H
#define QPROF_HISTORY_STORE_OPS_H

#include "history/store.h"

/* As the functions of history/store.h of the same names. */
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

#endif /* QPROF_HISTORY_STORE_OPS_H */
