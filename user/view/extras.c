// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/extras.h"

const struct report_extra report_extras[REPORT_N_EXTRAS] = {
	[REPORT_OFF_CPU] = {"self_off_ns", "off-cpu", true},
	[REPORT_TOTAL_OFF_CPU] = {"off_ns", NULL, true},
	[REPORT_HITS] = {"hits", "hits", false},
	[REPORT_BLOCKED] = {"blocked_ns", "blocked", true},
	[REPORT_LOAD] = {"incremental_load_ns", "incr. load", true},
	[REPORT_HASHING] = {"incremental_hashing_ns", "incr. hashing", true},
	[REPORT_LOADED] = {"loaded", "loaded", false},
	[REPORT_LOADS] = {"loads", NULL, false},
	[REPORT_COUNTED] = {"counted", NULL, false},
	[REPORT_ESTIMATED] = {"estimated", NULL, false},
	[REPORT_ESTIMATED_NS] = {"estimated_ns", NULL, true},
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
	case REPORT_LOADED:
		return row->loaded;
	case REPORT_LOADS:
		return row->loads;
	case REPORT_COUNTED:
		return row->unrecorded.counted;
	case REPORT_ESTIMATED:
		return row->unrecorded.estimated;
	case REPORT_ESTIMATED_NS:
		return row->estimated_ns;
	case REPORT_N_EXTRAS:
		break;
	}
	return 0;
}
