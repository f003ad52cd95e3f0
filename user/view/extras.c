// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/extras.h"

/* The offset of a member that report_extra_of() can read as a uint64_t. */
#define AT(field)                                                                             \
	(offsetof(struct summary_row, field) +                                                \
	 0 * sizeof(struct {                                                                  \
		 _Static_assert(sizeof(((struct summary_row *)0)->field) == sizeof(uint64_t), \
				#field " has 8 bytes");                                       \
		 char unused;                                                                 \
	 }))

#define SAMPLED(of, cause) AT(samples.of[TRACE_SAMPLE_##cause].value)

const struct report_extra report_extras[REPORT_N_EXTRAS] = {
	[REPORT_SAMPLES] = {"samples", NULL, false, AT(samples.self[TRACE_SAMPLE_CPU].n)},
	[REPORT_SAMPLED_SELF] = {"sampled_self_ns", "sampled", true, SAMPLED(self, CPU)},
	[REPORT_SAMPLED_ERROR] = {"sampled_self_error_ns", "+-", true, AT(sampled_error_ns)},
	[REPORT_SAMPLED_TOTAL] = {"sampled_total_ns", NULL, true, SAMPLED(total, CPU)},
	[REPORT_SAMPLED_TOTAL_ERROR] = {"sampled_total_error_ns", NULL, true,
					AT(sampled_total_error_ns)},
	[REPORT_SAMPLED_MAX] = {"sampled_max_ns", NULL, true, AT(sampled_max_ns)},
	[REPORT_SAMPLED_OFF] = {"sampled_off_ns", NULL, true, SAMPLED(self, OFF_CPU)},
	[REPORT_MEMORY] = {"memory_bytes", NULL, false, SAMPLED(self, FAULT)},
	[REPORT_MEMORY_TOTAL] = {"memory_total_bytes", NULL, false, SAMPLED(total, FAULT)},
	[REPORT_OFF_CPU] = {"self_off_ns", "off-cpu", true, AT(self_off_ns)},
	[REPORT_TOTAL_OFF_CPU] = {"off_ns", NULL, true, AT(off_ns)},
	[REPORT_HITS] = {"hits", "hits", false, AT(hits)},
	[REPORT_BLOCKED] = {"blocked_ns", "blocked", true, AT(blocked_ns)},
	[REPORT_LOAD] = {"incremental_load_ns", "incr. load", true, AT(load_ns)},
	[REPORT_HASHING] = {"incremental_hashing_ns", "incr. hashing", true, AT(hashing_ns)},
	[REPORT_LOADED] = {"loaded", "loaded", false, AT(loaded)},
	[REPORT_LOADS] = {"loads", NULL, false, AT(loads)},
};

uint64_t report_extra_of(const struct summary_row *row, enum report_extra_id extra)
{
	/* What an interval waited may be another's wait, where not all have probes. */
	if (extra == REPORT_OFF_CPU && row->self_by == SUMMARY_SELF_SAMPLES)
		return 0;
	return *(const uint64_t *)((const char *)row + report_extras[extra].offset);
}
