// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/tick_cost.h"

#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"

/* Some 25 ticks: far more than there are of other interrupts meanwhile. */
#define PERIOD_NS  60000
#define MEASURE_NS 1500000ull
/* With fewer gaps the event has not ticked. */
#define GAPS_MIN 12
/* Reading the clock takes less than an interrupt, and another thread runs for longer. */
#define GAP_NS	 700
#define LIMIT_NS 100000

bool tick_gaps__add(struct tick_gaps *g, uint64_t ns)
{
	if (ns >= GAP_NS && ns < LIMIT_NS && g->n < TICK_GAPS_MAX)
		g->ns[g->n++] = ns;
	return g->n < TICK_GAPS_MAX;
}

uint64_t tick_gaps__median(struct tick_gaps *g)
{
	if (g->n < GAPS_MIN)
		return 0;
	qsort(g->ns, g->n, sizeof(*g->ns), array__by_u64);
	return g->ns[g->n / 2];
}

static uint64_t measure_here(int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.exclude_idle = 1,
		.exclude_hv = 1,
	};
	int event = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	struct tick_gaps gaps = {0};
	uint64_t last, end, now;

	if (event < 0)
		return 0;
	/* An interrupt is a gap between two readings of the clock. */
	now = last = clock_ns(CLOCK_MONOTONIC);
	end = last + MEASURE_NS;
	for (bool room = true; room && now < end; last = now) {
		now = clock_ns(CLOCK_MONOTONIC);
		room = tick_gaps__add(&gaps, now - last);
	}
	close(event);
	return tick_gaps__median(&gaps);
}

uint64_t tick_cost_ns(void)
{
	cpu_set_t before, here;
	int cpu = sched_getcpu();
	uint64_t ns;

	if (cpu < 0 || sched_getaffinity(0, sizeof(before), &before))
		return 0;
	CPU_ZERO(&here);
	CPU_SET((unsigned int)cpu, &here);
	if (sched_setaffinity(0, sizeof(here), &here))
		return 0;
	ns = measure_here(cpu);
	sched_setaffinity(0, sizeof(before), &before);
	return ns;
}
