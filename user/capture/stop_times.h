/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How long compilers waited in ptrace stops for their probes. */
#ifndef QPROF_CAPTURE_STOP_TIMES_H
#define QPROF_CAPTURE_STOP_TIMES_H

#include <stdint.h>

#include "base/diag.h"

/* All zeroes: none did. */
struct stop_times {
	uint32_t n; /* compilers */
	uint64_t sum_ns;
	uint64_t most_ns;
};

static inline void stop_times__add(struct stop_times *h, uint64_t ns)
{
	h->n++;
	h->sum_ns += ns;
	if (ns > h->most_ns)
		h->most_ns = ns;
}

static inline void stop_times__print(const struct stop_times *h)
{
	double sum = (double)h->sum_ns / 1e9, most = (double)h->most_ns / 1e9;

	if (h->n == 1)
		diag_info("1 compiler waited %.3f s for its probes", sum);
	else if (h->n)
		diag_info("%u compilers waited for their probes: %.3f s at most, %.3f s in all",
			  h->n, most, sum);
}

#endif /* QPROF_CAPTURE_STOP_TIMES_H */
