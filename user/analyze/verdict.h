/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Whether a recording can be used, or was mostly lost. The one place that defines "most". */
#ifndef QPROF_ANALYZE_VERDICT_H
#define QPROF_ANALYZE_VERDICT_H

#include "analyze/summary.h"

enum verdict_state {
	VERDICT_SOUND,
	VERDICT_LOST_HITS,	/* more than half of the probe hits */
	VERDICT_LOST_INTERVALS, /* more than half of the intervals */
	VERDICT_LOST_COMPILERS, /* more than half of the compilers */
	/*
	 * No compiler was recorded and mappings were lost. Each lost mapping may be a compiler's,
	 * so the number of compilers is unknown and may be zero.
	 */
	VERDICT_LOST_MAPPINGS,
	/*
	 * Crates were compiled, and no interval was recorded or counted, nor sampled. This is no
	 * loss if the requested intervals need not occur; the caller knows that.
	 */
	VERDICT_NOTHING,
};

struct verdict {
	enum verdict_state state;
	enum trace_loss cause; /* for VERDICT_LOST_*: the cause with the largest count */
	uint64_t lost;	       /* hits, intervals, mappings; or, also with NOTHING, compilers */
	uint64_t of;	       /* total, including the lost ones; 0: unknown */
	uint32_t compilers;    /* compilers that compiled a crate, or tried to */
	uint32_t compiles;     /* compilations that succeeded */
	uint32_t late;	       /* compiles that began before their probes were attached */
	uint64_t hits;	       /* probe hits in followed processes */
};

/* `losses` may be NULL: not in the trace. */
struct verdict verdict_of(const struct summary *s, const struct trace_losses *losses);

/* True if `lost` is more than half of `of`. */
bool verdict_is_most(uint64_t lost, uint64_t of);

#endif /* QPROF_ANALYZE_VERDICT_H */
