// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/overhead.h"

#include <sys/resource.h>

#include "base/clock.h"

/* In percent. A hit costs more in a compiler than where it is measured: docs/overhead.md. */
#define COMPILER_FACTOR 125
/* Of a hit, where no query has a probe: then it is not measured (docs/time.md). */
#define HIT_PS UINT64_C(1500000)
/* CPU time of a compiler per breakpoint that it installs, where that is not measured yet. */
#define BREAKPOINT_NS UINT64_C(5500)
/* Of the clock's interrupt for a sample, likewise: in a virtual machine. */
#define TICK_NS UINT64_C(20000)

struct trace_costs overhead_costs(const struct probe_costs *costs)
{
	return (struct trace_costs){
		.ps[TRACE_COST_EMULATED] = costs->emulated.hit_ps,
		.ps[TRACE_COST_EMULATED_INSIDE] = costs->emulated.inside_ps,
		.ps[TRACE_COST_STEPPED] = costs->stepped.hit_ps,
		.ps[TRACE_COST_STEPPED_INSIDE] = costs->stepped.inside_ps,
	};
}

uint64_t breakpoints__count(struct breakpoints *b, uint32_t compilers, uint32_t each)
{
	b->n += (uint64_t)(compilers - b->compilers) * each;
	b->compilers = compilers;
	return b->n;
}

struct trace_overhead overhead_of(const struct overhead_input *in)
{
	const struct session_cost *s = &in->session;
	uint64_t hits = in->counters[WIRE_COUNT_HITS];

	return (struct trace_overhead){
		.of = {
			[TRACE_OVERHEAD_PROBES] =
				(uint64_t)((long double)hits *
					   (in->costs->emulated.hit_ps ?: HIT_PS) *
					   COMPILER_FACTOR / 100 / 1000),
			[TRACE_OVERHEAD_BREAKPOINTS] =
				in->breakpoints * (s->breakpoint_ns ?: BREAKPOINT_NS),
			[TRACE_OVERHEAD_SAMPLES] =
				in->counters[WIRE_COUNT_SAMPLES_NS] +
				in->counters[WIRE_COUNT_TICKS] * (s->tick_ns ?: TICK_NS),
			[TRACE_OVERHEAD_NAMES] = in->counters[WIRE_COUNT_NAMES_NS],
			[TRACE_OVERHEAD_OWN] = in->own_ns + s->helpers_ns,
			[TRACE_OVERHEAD_WAITED] = s->waited_ns,
			[TRACE_OVERHEAD_N_WAITED] = s->n_waited,
			[TRACE_OVERHEAD_N_BREAKPOINTS] = in->breakpoints,
			[TRACE_OVERHEAD_SET_UP] = in->set_up_ns,
			[TRACE_OVERHEAD_READ] = in->read_ns,
			[TRACE_OVERHEAD_N_BESIDE] = in->beside,
			[TRACE_OVERHEAD_UNSEEN] = s->seen_ns && in->command_ns > s->seen_ns
							  ? in->command_ns - s->seen_ns
							  : 0,
		}};
}

uint64_t overhead_own_ns(uint64_t others_ns)
{
	struct rusage own, children;
	uint64_t ns;

	if (getrusage(RUSAGE_SELF, &own) || getrusage(RUSAGE_CHILDREN, &children))
		return 0;
	ns = clock_of_usage(&own) + clock_of_usage(&children);
	return ns > others_ns ? ns - others_ns : 0;
}
