// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/probe_share.h"

struct probe_share probe_share_of(const struct summary *s, const struct trace_costs *costs,
				  const struct trace_losses *losses)
{
	struct probe_share share = {.wall_ns = summary__wall_ns(s)};

	if (losses)
		share.hits = losses->count[TRACE_COUNT_HITS];
	/* The kernel half reports hits when threads end, so a cut trace may lack them. */
	if (share.hits < 2 * summary__spans(s) && costs)
		share.hits = 2 * summary__spans(s);
	if (costs)
		share.probe_ns =
			(uint64_t)((long double)share.hits * costs->ps[TRACE_COST_EMULATED] / 1000);
	return share;
}
