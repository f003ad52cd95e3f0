// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/costs.h"

/*
 * In percent. A hit costs more in a compiler than where it is measured, as its effect on the caches
 * shows later. Measured: see docs/overhead.md.
 */
#define COMPILER_FACTOR 150
/* The same where the cost is reported and not planned with. Measured: see docs/overhead.md. */
#define LIKELY_FACTOR 125
/* CPU time of a compiler per site that it installs. Measured: see docs/budget.md. */
#define SITE_NS UINT64_C(5500)
/* Of the clock's interrupt, where that is not measured yet: in a virtual machine. */
#define TICK_NS UINT64_C(20000)
/*
 * CPU time of a sample: the interrupt and our program. Measured: see docs/samples.md. The choice is
 * made before ticks are measured.
 */
#define SAMPLE_NS (TICK_NS + UINT64_C(18000))
/* The usual rate of samples, and what they may take of a small budget. */
#define SAMPLE_HZ    499
#define SAMPLE_SHARE 4 /* a fourth */

void costs__set_hit(struct costs *c, uint64_t hit_ps)
{
	c->hit_ps = hit_ps * COMPILER_FACTOR / 100;
}

uint64_t costs_of_hits(uint64_t hits, uint64_t hit_ps)
{
	return (uint64_t)((long double)hits * hit_ps * LIKELY_FACTOR / 100 / 1000);
}

uint64_t costs_of_ticks(uint64_t n, uint64_t tick_ns)
{
	return n * (tick_ns ?: TICK_NS);
}

uint64_t costs_of_install(uint64_t sites)
{
	return sites * SITE_NS;
}

uint32_t costs_sample_hz(uint64_t budget_ppm)
{
	uint64_t hz = budget_ppm * 1000 / SAMPLE_SHARE / SAMPLE_NS;

	return hz < 1 ? 1 : hz > SAMPLE_HZ ? SAMPLE_HZ : (uint32_t)hz;
}

uint64_t costs_of_samples_ppm(uint32_t hz)
{
	return hz * SAMPLE_NS / 1000;
}
