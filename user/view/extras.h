/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Values of a query that a report shows only if the trace has any of them. */
#ifndef QPROF_VIEW_EXTRAS_H
#define QPROF_VIEW_EXTRAS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/summary.h"

enum report_extra_id {
	REPORT_SAMPLES,
	REPORT_SAMPLED_SELF,
	REPORT_SAMPLED_ERROR,
	REPORT_SAMPLED_TOTAL,
	REPORT_SAMPLED_TOTAL_ERROR,
	REPORT_SAMPLED_MAX,
	REPORT_SAMPLED_OFF,
	REPORT_MEMORY,
	REPORT_MEMORY_TOTAL,
	REPORT_OFF_CPU,
	REPORT_TOTAL_OFF_CPU,
	REPORT_HITS,
	REPORT_BLOCKED,
	REPORT_LOAD,
	REPORT_HASHING,
	REPORT_LOADED,
	REPORT_LOADS,
	REPORT_N_EXTRAS,
};

struct report_extra {
	const char *key;   /* JSON member */
	const char *title; /* table title; NULL: not in the table */
	bool is_time;	   /* in ns; otherwise a count */
	size_t offset;	   /* of the value in struct summary_row */
};

extern const struct report_extra report_extras[REPORT_N_EXTRAS];

/* Nanoseconds or a count: report_extras[extra].is_time. `extra` is below REPORT_N_EXTRAS. */
uint64_t report_extra_of(const struct summary_row *row, enum report_extra_id extra);

#endif /* QPROF_VIEW_EXTRAS_H */
