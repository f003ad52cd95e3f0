/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What fits into job->max_bytes: the longest intervals do, as their durations, counted, tell. */
#ifndef QPROF_EXPORT_FITTING_H
#define QPROF_EXPORT_FITTING_H

#include "export/job.h"

/* Eight to each power of two. */
#define FITTING_CLASSES (64 * 8)

struct fitting {
	uint64_t counts[FITTING_CLASSES];
	uint64_t all;
};

void fitting__add(struct fitting *f, const struct trace_span *s);

/* The duration, ns, from which on spans are at most `most`; 0: all are. */
uint64_t fitting__least(const struct fitting *f, uint64_t most);

/* Whether a job is limited, and its trace may be too large, which its survey would tell. */
bool fitting_is_due(const struct export_job *job, uint32_t span_bytes);

/*
 * Set job->least_ns such that spans of at least that duration are not too many, at `span_bytes`
 * each. Reads job->survey to its end, unless the trace is surely small; without a survey there is
 * no such rule.
 */
int fitting_least(struct export_job *job, uint32_t span_bytes);

#endif /* QPROF_EXPORT_FITTING_H */
