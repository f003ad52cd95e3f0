/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Self time on the CPU. Rows are ranked by it everywhere, because waiting is no work: a thread that
 * waits has self time too.
 */
#ifndef QPROF_ANALYZE_ON_CPU_H
#define QPROF_ANALYZE_ON_CPU_H

#include <stdint.h>

/*
 * The part of a self time, or of a sum of them, in which the thread was on a CPU; `off_ns` is the
 * other part. All of it where off-CPU times were not recorded: `off_ns` is 0 then.
 */
static inline uint64_t on_cpu_ns(uint64_t self_ns, uint64_t off_ns)
{
	return self_ns > off_ns ? self_ns - off_ns : 0;
}

#endif /* QPROF_ANALYZE_ON_CPU_H */
