// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/store.h"

#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "history/address.h"

/*
 * Pass on `err`. An allocation that failed has no line of its own: it gets one if there was no
 * error since diag_errors() was `before`.
 */
static int store_told(const char *name, unsigned int before, int err)
{
	return err == -ENOMEM && diag_errors() == before
		       ? diag_error_r(err, "%s: %s", name, strerror(-err))
		       : err;
}

#define TOLD(s, call)                                   \
	({                                              \
		unsigned int before_ = diag_errors();   \
		store_told((s)->name, before_, (call)); \
	})

enum store_kind store__kind(const struct store *s)
{
	return s->ops->kind;
}

const char *store__name(const struct store *s)
{
	return s->name;
}

int store__add(struct store *s, const struct history_rows *rows)
{
	return TOLD(s, s->ops->add(s, rows));
}

int store__flush(struct store *s)
{
	return s->ops->flush ? TOLD(s, s->ops->flush(s)) : 0;
}

int store__select(struct store *s, const char *sql, const struct store_value *args, size_t n,
		  store_row row, void *ctx)
{
	return TOLD(s, s->ops->select(s, sql, args, n, row, ctx));
}

int store__each(struct store *s, int (*take)(void *ctx, const struct history_rows *rows), void *ctx)
{
	return TOLD(s, s->ops->each(s, take, ctx));
}

int store__prune(struct store *s, uint64_t before_ns, uint64_t *n)
{
	return TOLD(s, s->ops->prune(s, before_ns, n));
}

void store__close(struct store *s)
{
	if (!s)
		return;
	free(s->name);
	s->ops->close(s);
}

int store__open(const char *where, enum store_access access, struct store **out)
{
	unsigned int before = diag_errors();
	bool is_address = where && address__is(where);

	if (where && !*where)
		return diag_error_r(-EINVAL, "the store has no name: give a file, or "
					     "http://HOST:PORT/DATABASE");
	if (where && !is_address && strstr(where, "://"))
		return diag_error_r(-EINVAL,
				    "%.*s:// is no store: give a file, or http:// or https:// and "
				    "HOST:PORT/DATABASE",
				    (int)strcspn(where, ":"), where); /* a password may follow */
	return store_told(where ?: "the history", before,
			  is_address ? clickhouse__open(where, out)
				     : sqlite__open(where, access, out));
}
