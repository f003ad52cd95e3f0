// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/slow_sampled.h"

#include <stdlib.h>

#include "base/array.h"

static const struct trace_job *job_of(const void *jobs, uint32_t id)
{
	const struct recent_job *found = recent_jobs__find(jobs, id);

	return found ? &found->job : NULL;
}

static int take(void *ctx, const struct sampled_interval *interval)
{
	static const struct trace_times unknown;
	const struct slow_sampled *s = ctx;
	const struct recent_job *job = recent_jobs__find(s->jobs, interval->job);

	s->lines->key = job ? job->key : 0;
	s->lines->forgot_key = !job;
	slow_lines__see(s->lines, &interval->span, &unknown,
			s->names->text(s->names->ctx, interval->span.label));
	return 0;
}

void slow_sampled__open(struct slow_sampled *s, struct slow_lines *lines,
			const struct recent_jobs *jobs, const struct trace_texts *names)
{
	*s = (struct slow_sampled){
		.lines = lines,
		.names = names,
		.intervals = {.job = job_of, .job_ctx = jobs, .take = take, .take_ctx = s},
		.jobs = jobs,
	};
	lines->by_samples = true;
}

int slow_sampled__span(struct slow_sampled *s, const struct trace_span *span)
{
	if (!s->jobs || span->kind != TRACE_KIND_QUERY)
		return 0;
	return sampled_intervals__probed(&s->intervals, span->label);
}

int slow_sampled__sample(struct slow_sampled *s, const struct trace_sample *sample)
{
	return s->jobs ? sampled_intervals__sample(&s->intervals, sample) : 0;
}

int slow_sampled__process(struct slow_sampled *s, const struct trace_process *p)
{
	if (!s->jobs || !p->end_ns)
		return 0;
	return array__add(&s->over, &s->n_over, &s->capacity, &p->index);
}

int slow_sampled__over(struct slow_sampled *s, uint32_t process)
{
	return sampled_intervals__over(&s->intervals, process);
}

int slow_sampled__tick(struct slow_sampled *s)
{
	int err = 0;

	while (s->n_over && !err) {
		uint32_t process = s->over[--s->n_over];

		err = slow_sampled__over(s, process);
		slow_lines__over(s->lines, process);
	}
	return err;
}

void slow_sampled__clear(struct slow_sampled *s)
{
	sampled_intervals__destroy(&s->intervals);
	free(s->over);
}
