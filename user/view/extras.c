// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/extras.h"

const struct report_extra report_extras[REPORT_N_EXTRAS] = {
	[REPORT_OFF_CPU] = {"self_off_ns", "off-cpu", true},
	[REPORT_TOTAL_OFF_CPU] = {"off_ns", NULL, true},
	[REPORT_HITS] = {"hits", "hits", false},
	[REPORT_BLOCKED] = {"blocked_ns", "blocked", true},
	[REPORT_LOAD] = {"incremental_load_ns", "incr. load", true},
	[REPORT_HASHING] = {"incremental_hashing_ns", "incr. hashing", true},
};

uint64_t report_extra_of(const struct summary_row *row, enum report_extra_id extra)
{
	switch (extra) {
	case REPORT_OFF_CPU:
		return row->self_off_ns;
	case REPORT_TOTAL_OFF_CPU:
		return row->off_ns;
	case REPORT_HITS:
		return row->hits;
	case REPORT_BLOCKED:
		return row->blocked_ns;
	case REPORT_LOAD:
		return row->load_ns;
	case REPORT_HASHING:
		return row->hashing_ns;
	default:
		return 0;
	}
}
