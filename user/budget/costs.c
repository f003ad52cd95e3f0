// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/costs.h"

/*
 * In percent. A hit costs more in a compiler than where it is measured, as its effect on the caches
 * shows later. Measured: see docs/overhead.md.
 */
#define COMPILER_FACTOR 150
/* CPU time of a compiler per site that it installs. Measured: see docs/budget.md. */
#define SITE_NS UINT64_C(5500)
/*
 * CPU time of a compiler per site that is switched while it runs, as the kernel exchanges the page
 * of the site. Measured as the difference between a budget's compile and its hits.
 */
#define SWITCH_NS UINT64_C(20000)

void costs__set_hit(struct costs *c, uint64_t hit_ps)
{
	c->hit_ps = hit_ps * COMPILER_FACTOR / 100;
}

uint64_t costs_of_install(uint64_t sites)
{
	return sites * SITE_NS;
}

int costs__charge_switch(struct costs *c, int sites)
{
	if (sites > 0)
		c->switched_ns += (uint64_t)sites * c->n_compilers * SWITCH_NS;
	return sites < 0 ? sites : 0;
}
