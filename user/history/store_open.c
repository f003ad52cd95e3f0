// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "history/clickhouse.h"
#include "history/sqlite.h"
#include "history/store.h"
#include "history/store_ops.h"

static bool begins_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static int open_kind(const char *where, enum store_access access, struct store **out)
{
	if (where && !*where)
		return diag_error_r(-EINVAL, "the store has no name: give a file, or "
					     "http://HOST:PORT/DATABASE");
	if (where && (begins_with(where, "http://") || begins_with(where, "https://")))
		return clickhouse__open(where, out);
	if (where && strstr(where, "://"))
		return diag_error_r(-EINVAL,
				    "%.*s:// is no store: give a file, or http:// or https:// and "
				    "HOST:PORT/DATABASE",
				    (int)strcspn(where, ":"), where); /* a password may follow */
	return sqlite__open(where, access, out);
}

int store__open(const char *where, enum store_access access, struct store **out)
{
	unsigned int before = diag_errors();

	return store_told(where ?: "the history", before, open_kind(where, access, out));
}
