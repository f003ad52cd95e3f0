/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The latest jobs of a recording, whose samples arrive: what live outputs say of them. */
#ifndef QPROF_RECORD_RECENT_JOBS_H
#define QPROF_RECORD_RECENT_JOBS_H

#include <errno.h>
#include <stdlib.h>

#include "trace/trace.h"

/* One that began before them is forgotten, also if it has not ended. */
#define RECENT_JOBS (1u << 16)

struct recent_job {
	struct trace_job job;
	uint64_t key; /* of what it is about, as in struct wire_job */
	uint32_t id;
};

/* All zeroes is empty. */
struct recent_jobs {
	struct recent_job *at; /* by the lowest bits of their numbers */
};

static inline const struct recent_job *recent_jobs__find(const struct recent_jobs *r, uint32_t id)
{
	const struct recent_job *job = r->at ? &r->at[id % RECENT_JOBS] : NULL;

	return job && id != TRACE_NO_JOB && job->id == id ? job : NULL;
}

/* 0 or -ENOMEM. */
static inline int recent_jobs__add(struct recent_jobs *r, uint32_t id, const struct trace_job *job,
				   uint64_t key)
{
	if (id == TRACE_NO_JOB)
		return 0;
	r->at = r->at ?: calloc(RECENT_JOBS, sizeof(*r->at));
	if (!r->at)
		return -ENOMEM;
	r->at[id % RECENT_JOBS] = (struct recent_job){*job, key, id};
	return 0;
}

static inline void recent_jobs__clear(struct recent_jobs *r)
{
	free(r->at);
	r->at = NULL;
}

#endif /* QPROF_RECORD_RECENT_JOBS_H */
