/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The cost that recording added to the times of compilers, as a comparison takes it out of CPU
 * times, and how wrong CPU and wall times may be for it.
 */
#ifndef QPROF_ANALYZE_COMPARE_COST_H
#define QPROF_ANALYZE_COMPARE_COST_H

#include "analyze/model.h"

/* Each is wrong in its own way, so differences of one are not made up for by another. */
enum compare_cost_part {
	COMPARE_COST_PROBES,
	COMPARE_COST_SAMPLES,
	COMPARE_COST_BREAKPOINTS,
	COMPARE_COST_NAMES,
	COMPARE_COST_WAITED, /* wall time of compilers until their library was attached to */
	COMPARE_COST_OWN,    /* CPU time of qprof-bpf, which compilers may have waited for */
	COMPARE_COST_PARTS,
};

/* Of one trace. */
struct compare_cost {
	bool known;
	uint64_t ns[COMPARE_COST_PARTS];
	unsigned int in_cpu; /* 1 << part: parts of the compilers' CPU times; wall times have all */
	uint64_t n_waited;   /* compilers that did */
};

/*
 * `recorded` is the number of processes that the trace has. If the model has fewer, the cost is a
 * part of that of the recording; and unknown with samples, as the number of samples that the
 * others had is unknown. Breakpoints are in no CPU time that begins at the first probe.
 */
struct compare_cost compare_cost_of(const struct model *m, uint64_t recorded);

/*
 * Paired builds took up to one and a half times the cost that was reported (docs/overhead.md). So
 * of two costs that are `apart_ns` apart, half of that may be left in a CPU time that they were
 * taken out of; and one and a half times as much is in a wall time, of which nothing was taken out.
 */
static inline uint64_t compare_cost_in_cpu(uint64_t apart_ns)
{
	return apart_ns / 2;
}

static inline uint64_t compare_cost_in_wall(uint64_t apart_ns)
{
	return apart_ns + apart_ns / 2;
}

#endif /* QPROF_ANALYZE_COMPARE_COST_H */
