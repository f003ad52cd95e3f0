/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What our own probes took of the compilers' time. */
#ifndef QPROF_ANALYZE_PROBE_SHARE_H
#define QPROF_ANALYZE_PROBE_SHARE_H

#include "analyze/summary.h"

struct probe_share {
	uint64_t hits;	   /* of probes in the compilers */
	uint64_t probe_ns; /* what they took, at the cost that was measured; 0: it was not */
	uint64_t wall_ns;  /* of the compilers, summed */
};

/* `costs` and `losses` may be NULL: the trace does not say. */
struct probe_share probe_share_of(const struct summary *s, const struct trace_costs *costs,
				  const struct trace_losses *losses);

#endif /* QPROF_ANALYZE_PROBE_SHARE_H */
