/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How long compilers waited in ptrace stops for their probes. */
#ifndef QPROF_CAPTURE_HELD_H
#define QPROF_CAPTURE_HELD_H

#include <stdint.h>

#include "base/diag.h"

/* All zeroes: none did. */
struct held {
	uint32_t n; /* compilers */
	uint64_t sum_ns;
	uint64_t most_ns;
};

static inline void held__add(struct held *h, uint64_t ns)
{
	h->n++;
	h->sum_ns += ns;
	if (ns > h->most_ns)
		h->most_ns = ns;
}

static inline void held__print(const struct held *h)
{
	double sum = (double)h->sum_ns / 1e9, most = (double)h->most_ns / 1e9;

	if (h->n == 1)
		diag_info("1 compiler waited %.3f s for its probes", sum);
	else if (h->n)
		diag_info("%u compilers waited for their probes: %.3f s at most, %.3f s in all",
			  h->n, most, sum);
}

#endif /* QPROF_CAPTURE_HELD_H */
