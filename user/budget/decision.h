/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A decision of a budget: a query, or intervals of another kind, are not probed. */
#ifndef QPROF_BUDGET_DECISION_H
#define QPROF_BUDGET_DECISION_H

#include <stdint.h>

/* In place of a guard: all intervals of a kind. */
#define SESSION_ALL UINT32_MAX

struct session_decision {
	uint64_t time_ns;
	uint64_t cost_ppm; /* the share of the compilers' CPU time that is expected to be taken */
	uint64_t budget_ppm;
	/*
	 * WIRE_KIND_QUERY: the decision is on this query of the plan of `lib`. WIRE_KIND_ACTIVITY:
	 * on all activities that have the label of this guard of the plan. Others: SESSION_ALL.
	 */
	uint32_t query;
	uint8_t kind; /* enum wire_kind */
	uint8_t lib;
};

#endif /* QPROF_BUDGET_DECISION_H */
