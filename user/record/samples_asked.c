// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/samples_asked.h"

/* Samples a second of CPU time: docs/samples.md, "Why 251". */
#define DEFAULT_HZ 251

static uint64_t hz_of(const struct cli_record_options *o)
{
	return o->sample_hz ?: DEFAULT_HZ;
}

bool samples_show_slow(const struct cli_record_options *o)
{
	return !o->no_sample && o->slow_ns >= 2 * UINT64_C(1000000000) / hz_of(o);
}

/* Where probes see every query, no stack is walked for its sake. */
static enum wire_light light_of(const struct cli_record_options *o, const struct filter *filter)
{
	if (!o->light_period)
		return WIRE_LIGHT_NOT;
	return filter__passes_all_queries(filter) ? WIRE_LIGHT_HERE : WIRE_LIGHT_NEAR;
}

struct sampling_options samples_asked(const struct cli_record_options *o,
				      const struct filter *filter)
{
	/* What runs within queries, and LLVM, only samples show. */
	bool listed = filter__passes_all_queries(filter) && !o->exact;
	/* With -e none, waits or page faults may be wanted alone. */
	bool chosen = cli_samples(o) && filter__is_empty(filter);
	uint64_t by_default = listed || chosen || o->no_sample ? 0 : DEFAULT_HZ;

	return (struct sampling_options){
		.hz = (uint32_t)(o->sample_hz ?: by_default),
		.fault_period = (uint32_t)(o->fault_period ?: o->light_period),
		.light = light_of(o, filter),
		.off_cpu = o->off_cpu_stacks,
		.implied = by_default && !cli_samples(o) && !filter__is_empty(filter),
	};
}
