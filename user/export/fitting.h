/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Which intervals are left out so that a file is not too large: the shortest. */
#ifndef QPROF_EXPORT_FITTING_H
#define QPROF_EXPORT_FITTING_H

#include "export/job.h"

/*
 * Read job->survey, if the trace may be too large, and set job->least_ns so that what is not
 * shorter, at `span_bytes` each, fits into job->max_bytes. Durations are told apart by an eighth.
 */
int fitting_least(struct export_job *job, uint32_t span_bytes);

#endif /* QPROF_EXPORT_FITTING_H */
