// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/perf_attached.h"

#include <errno.h>

void perf_attached__see(struct kernel *k, struct library_state *lib)
{
	uint64_t settled_ns = lib->attached_ns, last_ns = 0, begun_ns, done_ns;
	int why = 0;

	for (unsigned int i = 0; i < WIRE_MAX_LIBS && lib->planned && !lib->err; i++) {
		int err = kernel__attached(k, (uint8_t)i, &begun_ns, &done_ns);

		if (err == -ENODATA || begun_ns > settled_ns || begun_ns < last_ns)
			continue;
		last_ns = begun_ns;
		library_state__set_all(lib, done_ns);
		why = err;
	}
	if (!lib->planned || lib->err)
		return;
	lib->planned = lib->attached_ns;
	lib->err = why;
}
