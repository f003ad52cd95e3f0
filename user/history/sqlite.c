// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sqlite.h"

#include <errno.h>

#include "base/diag.h"

int sqlite__open(const char *path, enum store_access access, struct store **out)
{
	(void)access;
	(void)out;
	return diag_error_r(-ENOSYS, "%s: this build has no store in a file yet", path);
}
