// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/samples_asked.h"

#include "budget/costs.h"

/* Where probes see every query, no stack is walked for its sake. */
static enum wire_light light_of(const struct cli_record_options *o, struct budget_limit limit,
				const struct filter *filter)
{
	if (!o->light_period)
		return WIRE_LIGHT_NOT;
	return !limit.ppm && filter__passes_all_queries(filter) ? WIRE_LIGHT_HERE : WIRE_LIGHT_NEAR;
}

struct sampling_options samples_asked(const struct cli_record_options *o, struct budget_limit limit,
				      const struct filter *filter)
{
	uint32_t hz = (uint32_t)o->sample_hz;

	if (limit.ppm && !hz)
		hz = costs_sample_hz(limit.ppm);
	return (struct sampling_options){
		.hz = hz,
		.fault_period = (uint32_t)(o->fault_period ?: o->light_period),
		.light = light_of(o, limit, filter),
		.off_cpu = o->off_cpu_stacks,
		.on_demand = limit.only_queries && !cli_samples(o),
	};
}
