// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/recent_jobs.h"

#include <errno.h>

int recent_jobs__add(struct recent_jobs *r, uint32_t id, const struct trace_job *job, uint64_t key)
{
	if (id == TRACE_NO_JOB)
		return 0;
	r->at = r->at ?: calloc(RECENT_JOBS, sizeof(*r->at));
	if (!r->at)
		return -ENOMEM;
	r->at[id % RECENT_JOBS] = (struct recent_job){*job, key, id};
	return 0;
}
