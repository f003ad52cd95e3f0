/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What recording added to the CPU times of compilers, as a comparison takes it out of them, and how
 * wrong that may be.
 */
#ifndef QPROF_ANALYZE_COMPARE_COST_H
#define QPROF_ANALYZE_COMPARE_COST_H

#include "analyze/model.h"

/* Each is wrong in its own way, so differences of one are not made up for by another. */
enum compare_cost_part {
	COMPARE_COST_PROBES,
	COMPARE_COST_SAMPLES,
	COMPARE_COST_BREAKPOINTS,
	COMPARE_COST_PARTS,
};

/* Of one trace. */
struct compare_cost {
	bool known;
	uint64_t ns[COMPARE_COST_PARTS];
};

/*
 * `is_part`: the model has some compilers of the recording only. Breakpoints are in no CPU time
 * that begins at the first probe.
 */
struct compare_cost compare_cost_of(const struct model *m, bool is_part);

/*
 * Paired builds took up to one and a half times the cost that was told (docs/overhead.md). So of
 * two costs that are `apart_ns` apart, half of that may be left in a CPU time that they were taken
 * out of; and one and a half times as much is in a wall time, of which nothing was taken out.
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
