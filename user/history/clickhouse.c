// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/clickhouse.h"

#include <errno.h>

#include "base/diag.h"

int clickhouse__open(const char *where, enum store_access access, struct store **out)
{
	(void)access;
	(void)out;
	return diag_error_r(-ENOSYS, "%s: this build has no client of ClickHouse yet", where);
}
