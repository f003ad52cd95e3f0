// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/samples_asked.h"

/* Samples a second of CPU time: docs/samples.md, "Why 251". */
#define DEFAULT_HZ 251

bool samples_show_slow(const struct cli_record_options *o)
{
	uint64_t hz = o->sample_hz ?: DEFAULT_HZ;

	return !o->no_sample && o->slow_ns >= 2 * UINT64_C(1000000000) / hz;
}

struct sampling_options samples_asked(const struct cli_record_options *o,
				      const struct filter *filter)
{
	bool all_queries = filter__passes_all_queries(filter);
	/* Where probes see every query, no stack is walked for the sake of one. */
	enum wire_light light = all_queries ? WIRE_LIGHT_HERE : WIRE_LIGHT_NEAR;
	/* What runs within queries, and LLVM, only samples show. */
	bool listed = all_queries && !o->exact;
	/* With -e none, waits or page faults may be wanted alone. */
	bool chosen = cli_samples(o) && filter__is_empty(filter);
	uint64_t by_default = listed || chosen || o->no_sample ? 0 : DEFAULT_HZ;

	return (struct sampling_options){
		.hz = (uint32_t)(o->sample_hz ?: by_default),
		.fault_period = (uint32_t)(o->fault_period ?: o->light_period),
		.light = o->light_period ? light : WIRE_LIGHT_NOT,
		.off_cpu = o->off_cpu_stacks,
		.implied = by_default && !cli_samples(o) && !filter__is_empty(filter),
	};
}
