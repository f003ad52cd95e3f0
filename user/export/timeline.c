// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/timeline.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "export/memory_growth.h"
#include "export/nesting.h"
#include "export/parallelism.h"
#include "export/process_title.h"
#include "export/size_limit.h"
#include "export/span_merge.h"

/* Above the pids of a kernel, which has at most 2^22. */
#define FIRST_OTHER_PID 10000000u

struct timeline {
	struct export_job *job;
	const struct timeline_format *format;
	void *ctx;
	struct timeline_process *processes; /* by index */
	uint32_t n_processes;
	uint32_t processes_capacity;
	struct u64_map pids;
	struct u64_map thread_of; /* process << 32 | tid -> number of the thread */
	uint32_t n_threads;
	struct nesting nesting; /* uses these numbers */
	struct span_merge merge;
	struct parallelism parallelism[TIMELINE_COUNTERS];
	bool wait_stacks; /* waits have stacks */
	struct memory_growth growth;
	uint32_t grown;	  /* the process whose memory was passed on last; or n_processes */
	uint64_t last_ns; /* the latest end of any interval, or sample */
};

const char *timeline_counter_text(enum timeline_counter counter)
{
	static const char *const texts[] = {
		[TIMELINE_PROCESSES] = "compilers running",
		[TIMELINE_THREADS] = "threads at work",
	};

	return texts[counter];
}

const char *timeline_end_text(const struct trace_span *s)
{
	if (s->flags & TRACE_SPAN_SAMPLED)
		return "sampled";
	if (s->flags & TRACE_SPAN_UNWOUND)
		return "unwound";
	return s->flags & TRACE_SPAN_LEFT ? "left" : "open";
}

static void timeline__free(struct timeline *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->n_processes; i++)
		free(t->processes[i].title);
	free(t->processes);
	u64_map__destroy(&t->pids);
	u64_map__destroy(&t->thread_of);
	nesting__destroy(&t->nesting);
	span_merge__destroy(&t->merge);
	memory_growth__destroy(&t->growth);
	free(t);
}

DEFINE_CLEANUP(struct timeline, timeline__free)

static int add_process(struct timeline *t, const struct trace_process *p)
{
	uint32_t pid = p->pid;

	if (p->index < t->n_processes)
		return 0; /* The process was updated in place. */
	if (p->index > t->n_processes)
		return -EINVAL;
	if (!pid || u64_map__get(&t->pids, pid) != U64_MAP_NONE)
		for (pid = FIRST_OTHER_PID + p->index; u64_map__get(&t->pids, pid) != U64_MAP_NONE;
		     pid++)
			;
	if (array__reserve_one(&t->processes, t->n_processes, &t->processes_capacity,
			       sizeof(*t->processes)) ||
	    u64_map__put(&t->pids, pid, p->index))
		return -ENOMEM;
	t->processes[t->n_processes++] = (struct timeline_process){.process = p, .pid = pid};
	return 0;
}

/* Pass a process to the format, unless its title is unchanged. */
static int pass_process(struct timeline *t, struct timeline_process *p)
{
	_free_ char *title = process_title(p->process);

	if (!title)
		return -ENOMEM;
	if (p->title && !strcmp(p->title, title))
		return 0;
	free(p->title);
	p->title = take_ptr(title);
	return t->format->process(t->ctx, p);
}

static int get_thread(struct timeline *t, uint32_t process, uint32_t tid,
		      struct timeline_thread *thread)
{
	uint64_t key = (uint64_t)process << 32 | tid;
	uint32_t i = u64_map__get(&t->thread_of, key);
	struct timeline_process *p = &t->processes[process];
	int err;

	*thread = (struct timeline_thread){i, tid, p};
	if (i != U64_MAP_NONE)
		return 0;
	if (!p->title) {
		err = pass_process(t, p);
		if (err)
			return err;
	}
	if (u64_map__put(&t->thread_of, key, t->n_threads))
		return -ENOMEM;
	thread->index = t->n_threads++;
	return t->format->thread(t->ctx, thread, NULL);
}

static int take_thread(struct timeline *t, const struct trace_thread *named)
{
	struct timeline_thread thread;
	int err = get_thread(t, named->process, named->tid, &thread);

	return err ?: t->format->thread(t->ctx, &thread, named->name);
}

static bool has_room(const struct export_job *job)
{
	return !job->max_bytes || out__size(job->out) + job->reserved < job->max_bytes;
}

static bool fits(const struct export_job *job, const struct trace_span *s)
{
	return has_room(job) && (!job->max_bytes || s->end_ns - s->start_ns >= job->least_ns);
}

/* Waits are not work; other kinds are unknown. */
static bool is_work(const struct trace_span *s)
{
	return s->kind == TRACE_KIND_QUERY || s->kind == TRACE_KIND_ACTIVITY ||
	       s->kind == TRACE_KIND_LOAD || s->kind == TRACE_KIND_HASHING;
}

static int take_span(void *ctx, const struct trace_span *stored)
{
	struct trace_span fitted = *stored, *s = &fitted;
	struct timeline *t = ctx;
	struct timeline_thread thread;
	int err = get_thread(t, s->process, s->tid, &thread);

	if (err)
		return err;
	if (s->end_ns > t->last_ns)
		t->last_ns = s->end_ns;
	if (s->kind != TRACE_KIND_HIT) {
		err = nesting__fit(&t->nesting, thread.index, s->depth, &s->start_ns, &s->end_ns);
		if (err < 0)
			return err;
		t->job->adjusted += err;
		if (!s->depth && is_work(s))
			parallelism__add(&t->parallelism[TIMELINE_THREADS], s->start_ns, s->end_ns);
	}
	if (!fits(t->job, s)) {
		t->job->left_out++;
		return 0;
	}
	t->job->written++;
	t->job->sampled += (s->flags & TRACE_SPAN_SAMPLED) != 0;
	return t->format->span(t->ctx, &thread, s);
}

static int take_sample(struct timeline *t, const struct trace_sample *s)
{
	const struct memory_fault fault = {s->time_ns, s->value, s->process};
	struct timeline_thread thread;
	int err = 0;

	if (trace_sample__end_ns(s) > t->last_ns)
		t->last_ns = trace_sample__end_ns(s);
	if (t->format->memory && s->cause == TRACE_SAMPLE_FAULT)
		err = memory_growth__add(&t->growth, &fault);
	if (err || !t->format->sample || (s->cause == TRACE_SAMPLE_OFF_CPU && !t->wait_stacks))
		return err;
	if (!has_room(t->job)) {
		t->job->samples_left_out++;
		return 0;
	}
	return get_thread(t, s->process, s->tid, &thread) ?: t->format->sample(t->ctx, &thread, s);
}

static int take_item(struct timeline *t, const struct trace_item *item)
{
	int err = t->format->item ? t->format->item(t->ctx, item) : 0;

	err = err ?: span_merge__item(&t->merge, item);
	if (err)
		return err;
	switch (item->kind) {
	case TRACE_ITEM_PROCESS:
		return add_process(t, item->process);
	case TRACE_ITEM_THREAD:
		return take_thread(t, &item->thread);
	case TRACE_ITEM_SAMPLING:
		t->wait_stacks = item->sampling.off_cpu;
		return 0;
	case TRACE_ITEM_SAMPLE:
		return take_sample(t, &item->sample);
	default:
		return 0;
	}
}

static int take_next(void *ctx, const struct trace_item *item)
{
	struct timeline *t = ctx;

	return take_item(t, item) ?: out__error(t->job->out);
}

struct counting {
	struct timeline *t;
	enum timeline_counter counter;
};

static int put_counter(void *ctx, uint64_t at_ns, double mean)
{
	struct counting *c = ctx;

	return c->t->format->counter(c->t->ctx, c->counter, at_ns, mean);
}

static int put_memory(void *ctx, const struct memory_fault *sum)
{
	struct timeline *t = ctx;
	const struct timeline_process *p = &t->processes[sum->process];
	uint64_t base_ns = trace_reader__info(t->job->r)->clock_start_ns;
	uint64_t start_ns = p->process->start_ns > base_ns ? p->process->start_ns : base_ns;
	int err = 0;

	if (t->grown != sum->process && start_ns < sum->at_ns)
		err = t->format->memory(t->ctx, p, start_ns, 0);
	t->grown = sum->process;
	return err ?: t->format->memory(t->ctx, p, sum->at_ns, sum->bytes);
}

/* Pass on the last intervals, process titles that have changed since, and the counters. */
static int finish(struct timeline *t)
{
	int err = span_merge__end(&t->merge);

	if (err)
		return err;
	for (uint32_t i = 0; i < t->n_processes; i++) {
		const struct trace_process *p = t->processes[i].process;
		uint64_t end_ns = p->end_ns ?: t->last_ns;

		if (p->start_ns && end_ns > p->start_ns)
			parallelism__add(&t->parallelism[TIMELINE_PROCESSES], p->start_ns, end_ns);
		err = pass_process(t, &t->processes[i]);
		if (err)
			return err;
	}
	for (int i = 0; i < TIMELINE_COUNTERS && t->format->counter; i++) {
		struct counting counting = {t, i};

		err = parallelism__each(&t->parallelism[i], put_counter, &counting);
		if (err)
			return err;
	}
	t->grown = t->n_processes;
	return memory_growth__each(&t->growth, put_memory, t);
}

int timeline_run(struct export_job *job, const struct timeline_format *format, void *ctx)
{
	__cleanup(timeline__free_p) struct timeline *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->job = job;
	t->format = format;
	t->ctx = ctx;
	span_merge__init(&t->merge, job->r, take_span, t);
	for (int i = 0; i < TIMELINE_COUNTERS; i++)
		parallelism__init(&t->parallelism[i], trace_reader__info(job->r)->clock_start_ns);
	err = size_limit_least(job, format->span_bytes);
	return err ?: trace_reader__each(job->r, take_next, t) ?: finish(t);
}
