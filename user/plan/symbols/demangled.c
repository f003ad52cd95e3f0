// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/demangled.h"

#include <string.h>

bool demangled__put(struct demangled *d, const char *s, size_t len)
{
	if (len > DEMANGLED_MAX - d->len)
		return false;
	if (len)
		memcpy(d->text + d->len, s, len);
	d->len += len;
	return true;
}
