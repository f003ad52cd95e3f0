// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cmd.h"

#include <inttypes.h>
#include <time.h>

#include "base/diag.h"
#include "history/store.h"
#include "options/exit_code.h"

int cmd_history_prune(const struct cli_history_prune_options *o)
{
	_store_ struct store *s = NULL;
	struct timespec now;
	uint64_t ns, n;

	clock_gettime(CLOCK_REALTIME, &now);
	ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	if (store__open(o->store, STORE_EXISTING, &s) ||
	    store__prune(s, ns > o->keep.ns ? ns - o->keep.ns : 0, &n))
		return EXIT_CODE_FAILURE;
	diag_info("%s: %" PRIu64 " build%s removed", store__name(s), n, n == 1 ? "" : "s");
	return EXIT_CODE_OK;
}
