/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The share of the compilers' time that the probes took. */
#ifndef QPROF_ANALYZE_PROBE_SHARE_H
#define QPROF_ANALYZE_PROBE_SHARE_H

#include "analyze/summary.h"

struct probe_share {
	uint64_t hits;	   /* probe hits in the compilers */
	uint64_t probe_ns; /* hits times the measured cost; 0: not measured */
	uint64_t wall_ns;  /* of the compilers, summed */
};

/* `costs` and `losses` may be NULL: not in the trace. */
struct probe_share probe_share_of(const struct summary *s, const struct trace_costs *costs,
				  const struct trace_losses *losses);

#endif /* QPROF_ANALYZE_PROBE_SHARE_H */
