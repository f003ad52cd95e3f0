// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/sampled_intervals.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/tree_first.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/map.h"

/* A job that the thread is in. The samples and the last time of those within are added later. */
struct open_job {
	uint64_t first_ns, last_ns;
	uint64_t samples;
	uint32_t job, query, invocation;
};

struct sampled_thread {
	uint32_t process, tid;
	uint64_t now_ns;       /* the latest time of its samples */
	struct open_job *open; /* the outermost first, which have smaller numbers */
	uint32_t n, capacity;
};

/* End the jobs that are not around `job` or it: a job around has a smaller number. */
static int end_others(struct sampled_intervals *s, struct sampled_thread *t, uint32_t job)
{
	int err = 0;

	while (!err && t->n && t->open[t->n - 1].job > job) {
		const struct open_job ended = t->open[--t->n];
		struct sampled_interval out = {.job = ended.job, .samples = ended.samples};

		if (t->n) {
			t->open[t->n - 1].samples += ended.samples;
			t->open[t->n - 1].last_ns = ended.last_ns;
		}
		if (ended.samples < 2 || u64_map__get(&s->probed, ended.query) != U64_MAP_NONE)
			continue;
		out.span = (struct trace_span){
			.start_ns = ended.first_ns,
			.end_ns = ended.last_ns,
			.process = t->process,
			.tid = t->tid,
			.label = ended.query,
			.invocation = ended.invocation,
			.caller = TRACE_NO_LOCATION,
			.depth = (uint16_t)t->n,
			.flags = TRACE_SPAN_SAMPLED,
			.kind = TRACE_KIND_QUERY,
		};
		err = s->take(s->take_ctx, &out);
	}
	return err;
}

/*
 * Leave open only what is around the job, or it, and set *n to the number of jobs within these,
 * which are new: the innermost first. None is new if the job is not known.
 */
static int find_new(struct sampled_intervals *s, struct sampled_thread *t, uint32_t number,
		    struct open_job new[SAMPLED_DEPTH_MAX], uint32_t *n)
{
	const struct trace_job *job;
	int err = 0;

	for (*n = 0; number && *n < SAMPLED_DEPTH_MAX; number = job->parent) {
		if (*n && number >= new[*n - 1].job)
			break;
		err = end_others(s, t, number);
		if (err || (t->n && t->open[t->n - 1].job == number))
			return err;
		job = s->job(s->job_ctx, number);
		if (!job)
			break;
		new[(*n)++] = (struct open_job){
			.job = number, .query = job->query, .invocation = job->invocation};
	}
	return end_others(s, t, 0);
}

static struct sampled_thread *thread_of(struct sampled_intervals *s,
					const struct trace_sample *sample)
{
	const struct sampled_thread new = {.process = sample->process, .tid = sample->tid};
	uint64_t key = (uint64_t)sample->process << 32 | sample->tid;
	uint32_t i = u64_map__get(&s->thread_of, key);

	if (i != U64_MAP_NONE)
		return &s->threads[i];
	if (array__reserve_one(&s->threads, s->n, &s->capacity, sizeof(*s->threads)) ||
	    u64_map__put(&s->thread_of, key, s->n))
		return NULL;
	s->threads[s->n] = new;
	return &s->threads[s->n++];
}

int sampled_intervals__sample(struct sampled_intervals *s, const struct trace_sample *sample)
{
	uint64_t end_ns = trace_sample__end_ns(sample);
	struct open_job new[SAMPLED_DEPTH_MAX];
	struct sampled_thread *t;
	uint32_t n;
	int err;

	if (sample->job == TRACE_NO_JOB)
		return 0;
	t = thread_of(s, sample);
	if (!t)
		return -ENOMEM;
	err = find_new(s, t, sample->job, new, &n);
	if (err)
		return err;
	/* Jobs begin and end as the samples say: times of a thread never go back. */
	if (t->now_ns < sample->time_ns)
		t->now_ns = sample->time_ns;
	while (n--) {
		new[n].first_ns = new[n].last_ns = t->now_ns;
		if (array__add(&t->open, &t->n, &t->capacity, &new[n]))
			return -ENOMEM;
	}
	if (t->now_ns < end_ns)
		t->now_ns = end_ns;
	if (t->n) {
		t->open[t->n - 1].last_ns = t->now_ns;
		t->open[t->n - 1].samples++;
	}
	return 0;
}

int sampled_intervals__probed(struct sampled_intervals *s, uint32_t label)
{
	return u64_map__put(&s->probed, label, 0);
}

int sampled_intervals__item(struct sampled_intervals *s, const struct trace_item *item)
{
	if (item->kind == TRACE_ITEM_SAMPLING)
		s->is_on = item->sampling.queries;
	if (item->kind == TRACE_ITEM_SPAN && item->span.kind == TRACE_KIND_QUERY && s->is_on)
		return sampled_intervals__probed(s, item->span.label);
	if (item->kind != TRACE_ITEM_SAMPLE || !s->is_on)
		return 0;
	return sampled_intervals__sample(s, &item->sample);
}

/* The last one takes its place. */
static int forget_thread(struct sampled_intervals *s, uint32_t i)
{
	const struct sampled_thread over = s->threads[i], last = s->threads[--s->n];

	free(over.open);
	u64_map__remove(&s->thread_of, (uint64_t)over.process << 32 | over.tid);
	if (i == s->n)
		return 0;
	s->threads[i] = last;
	return u64_map__put(&s->thread_of, (uint64_t)last.process << 32 | last.tid, i);
}

int sampled_intervals__over(struct sampled_intervals *s, uint32_t process)
{
	int err = 0;

	for (uint32_t i = s->n; i-- && !err;)
		if (process == TRACE_NO_PROCESS || s->threads[i].process == process)
			err = end_others(s, &s->threads[i], 0) ?: forget_thread(s, i);
	return err;
}

void sampled_intervals__destroy(struct sampled_intervals *s)
{
	while (s->n)
		free(s->threads[--s->n].open);
	free(s->threads);
	u64_map__destroy(&s->thread_of);
	u64_map__destroy(&s->probed);
}

/* ---- Intervals of a stack -------------------------------------------------------------------- */

/* The intervals of entries with smaller numbers are known, and so that of the parent. */
static int add_entry(struct stack_intervals *s, uint32_t id)
{
	uint32_t innermost = STACK_INTERVAL_NONE;
	struct trace_stack entry;

	if (stack_source__entry(&s->source, id, &entry)) {
		innermost = s->n_of ? s->of[entry.parent] : STACK_INTERVAL_NONE;
		if (entry.kind != TRACE_STACK_LOCATION && entry.kind < TRACE_STACK_KINDS) {
			const struct stack_interval *outer =
				innermost == STACK_INTERVAL_NONE ? NULL : &s->at[innermost];
			bool is_unknown = entry.kind == TRACE_STACK_UNKNOWN;
			struct stack_interval added = {
				.outer = innermost,
				.label = entry.place,
				.kind = is_unknown ? TRACE_KIND_QUERY
						   : entry.kind - TRACE_STACK_QUERY,
				.is_unknown = is_unknown,
				.known = !is_unknown ? s->n
					 : outer     ? outer->known
						     : STACK_INTERVAL_NONE,
			};

			added.query = added.kind == TRACE_KIND_QUERY ? s->n
				      : outer			     ? outer->query
								     : STACK_INTERVAL_NONE;
			innermost = s->n;
			if (array__add(&s->at, &s->n, &s->capacity, &added))
				return -ENOMEM;
		}
	}
	return array__add(&s->of, &s->n_of, &s->of_capacity, &innermost);
}

int stack_intervals__find(struct stack_intervals *s, uint32_t stack, uint32_t *interval)
{
	struct trace_stack entry;

	*interval = STACK_INTERVAL_NONE;
	/* Else a number that nobody gave out could ask for much memory. */
	if (stack >= s->n_of && !stack_source__entry(&s->source, stack, &entry))
		return 0;
	while (s->n_of <= stack)
		if (add_entry(s, s->n_of))
			return -ENOMEM;
	*interval = s->of[stack];
	return 0;
}

int stack_intervals__first(const struct stack_intervals *s, const bool *is_hidden, bool *is_first)
{
	_free_ struct tree_node *nodes = calloc(s->n + 1UL, sizeof(*nodes));
	__cleanup(u64_map__destroy) struct u64_map numbers = {};
	uint32_t n = 0;

	_Static_assert(STACK_INTERVAL_NONE == TREE_NONE, "STACK_INTERVAL_NONE");
	if (!nodes)
		return -ENOMEM;
	/*
	 * Labels get small numbers, for a query and an activity each; a hidden interval has one
	 * that no other has.
	 */
	for (uint32_t i = 0; i < s->n; i++) {
		bool is_activity = s->at[i].kind == TRACE_KIND_ACTIVITY;
		bool is_apart = s->at[i].is_unknown || is_hidden[i];
		uint64_t key = (uint64_t)is_activity << 32 | s->at[i].label;
		uint32_t number = u64_map__get(&numbers, key);

		if (!is_apart && number == U64_MAP_NONE && u64_map__put(&numbers, key, n))
			return -ENOMEM;
		if (is_apart || number == U64_MAP_NONE)
			number = n++;
		nodes[i] = (struct tree_node){.parent = s->at[i].outer, .key = number};
	}
	if (tree_first(nodes, s->n, n))
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n; i++)
		is_first[i] = nodes[i].is_first && !s->at[i].is_unknown && !is_hidden[i];
	return 0;
}

void stack_intervals__destroy(struct stack_intervals *s)
{
	free(s->of);
	free(s->at);
	*s = (struct stack_intervals){};
}
