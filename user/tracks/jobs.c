// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/jobs.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* A chain of jobs beyond is cut: no stack of rustc's is so deep. */
#define CHAIN_MAX 4096

int jobs__note(struct jobs *j, const struct wire_job *r)
{
	const struct job new = {
		.parent = r->parent, .key = r->key, .query = r->query, .lib = r->lib};

	if (!r->job || j->n == JOBS_MAX || u64_map__get(&j->known, r->job) != U64_MAP_NONE)
		return 0;
	if (array__reserve_one(&j->items, j->n, &j->capacity, sizeof(*j->items)))
		return -ENOMEM;
	j->items[j->n] = new;
	return u64_map__put(&j->known, r->job, j->n++);
}

static struct job *find(const struct jobs *j, uint64_t number)
{
	uint32_t at = number ? u64_map__get(&j->known, number) : U64_MAP_NONE;

	return at == U64_MAP_NONE ? NULL : &j->items[at];
}

static int put(const struct jobs_context *c, struct job *job, uint32_t parent)
{
	struct trace_job out = {
		.process = c->process,
		.invocation = TRACE_NO_INVOCATION,
		.parent = parent,
	};
	int err;

	if (job->refused || job->lib != c->lib || job->query >= c->library->n_labels ||
	    c->library->labels[job->query] == TRACKS_NO_LABEL)
		return 0;
	out.query = c->library->labels[job->query];
	err = c->library->keys ? keys__note(c->keys, job->key, &out.invocation) : 0;
	err = err ?: c->sink->job(c->sink->ctx, &out, &job->id);
	job->refused = !job->id;
	return err;
}

int jobs__in_trace(struct jobs *j, const struct jobs_context *c, uint64_t number, uint32_t *id)
{
	struct job *chain[CHAIN_MAX];
	struct job *job = c->sink->job ? find(j, number) : NULL;
	uint32_t n = 0, parent;
	int err = 0;

	*id = TRACE_NO_JOB;
	for (; job && !job->id && n < CHAIN_MAX; job = find(j, job->parent))
		chain[n++] = job;
	/* What is in a circle, which no compiler makes, is around nothing. */
	parent = job ? job->id : TRACE_NO_JOB;
	while (n-- && !err) {
		if (!chain[n]->id)
			err = put(c, chain[n], parent);
		parent = chain[n]->id;
	}
	job = find(j, number);
	*id = job ? job->id : TRACE_NO_JOB;
	return err;
}

void jobs__clear(struct jobs *j)
{
	u64_map__destroy(&j->known);
	free(j->items);
	*j = (struct jobs){0};
}
