// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/timeline.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "export/notes.h"
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

static bool has_room(const struct export_job *job)
{
	return !job->max_bytes || out__size(job->out) + job->reserved < job->max_bytes;
}

static int take_span(void *ctx, const struct trace_span *stored)
{
	struct trace_span fitted = *stored, *s = &fitted;
	struct timeline *t = ctx;
	struct timeline_thread thread;
	/* Waits are not work; other kinds are unknown. */
	bool is_work = s->kind == TRACE_KIND_QUERY || s->kind == TRACE_KIND_ACTIVITY ||
		       s->kind == TRACE_KIND_LOAD || s->kind == TRACE_KIND_HASHING;
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
		if (!s->depth && is_work)
			parallelism__add(&t->parallelism[TIMELINE_THREADS], s->start_ns, s->end_ns);
	}
	if (!has_room(t->job) ||
	    (t->job->max_bytes && s->end_ns - s->start_ns < t->job->least_ns)) {
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

static int take_next(void *ctx, const struct trace_item *item)
{
	struct timeline *t = ctx;
	struct timeline_thread thread;
	int err = t->format->item ? t->format->item(t->ctx, item) : 0;

	err = err ?: span_merge__item(&t->merge, item);
	if (err)
		return err;
	switch (item->kind) {
	case TRACE_ITEM_PROCESS:
		err = add_process(t, item->process);
		break;
	case TRACE_ITEM_THREAD:
		err = get_thread(t, item->thread.process, item->thread.tid, &thread)
			      ?: t->format->thread(t->ctx, &thread, item->thread.name);
		break;
	case TRACE_ITEM_SAMPLING:
		t->wait_stacks = item->sampling.off_cpu;
		break;
	case TRACE_ITEM_SAMPLE:
		err = take_sample(t, &item->sample);
		break;
	default:
		break;
	}
	return err ?: out__error(t->job->out);
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

/* ---- Intervals in each other ----------------------------------------------------------------- */

/* 1.5 MiB per thread; reached by a query with as many children, or by as many lost parents. */
#define OPEN_MAX_INTERVALS 65536u

/* An interval that no interval encloses yet, or several merged with the gaps between them. */
struct open_interval {
	uint64_t start;
	uint64_t end;
	bool outermost; /* no interval will enclose it */
};

struct nesting_thread {
	struct open_interval *open; /* ascending, without overlaps */
	uint32_t n;
	uint32_t capacity;
	uint64_t last_end;
};

static int push(struct nesting_thread *t, uint64_t start, uint64_t end, bool outermost)
{
	struct open_interval *last = t->n ? &t->open[t->n - 1] : NULL;

	if (outermost && last && last->outermost) {
		last->end = end;
		return 0;
	}
	/* Merge pairs of neighbours and the gaps between them. */
	if (t->n == OPEN_MAX_INTERVALS) {
		for (uint32_t i = 0; i < t->n / 2; i++)
			t->open[i] =
				(struct open_interval){t->open[2 * i].start, t->open[2 * i + 1].end,
						       t->open[2 * i].outermost};
		t->n /= 2;
	}
	if (array__reserve_one(&t->open, t->n, &t->capacity, sizeof(*t->open)))
		return -ENOMEM;
	t->open[t->n++] = (struct open_interval){start, end, outermost};
	return 0;
}

int nesting__fit(struct nesting *n, uint32_t tid, uint16_t depth, uint64_t *start, uint64_t *end)
{
	struct nesting_thread *t = table__get(&n->threads, tid);
	bool changed = false;

	if (!t)
		return -ENOMEM;
	if (*end < t->last_end) {
		*end = t->last_end;
		changed = true;
	}
	while (t->n && t->open[t->n - 1].start >= *start)
		t->n--;
	if (t->n && t->open[t->n - 1].end > *start) {
		*start = t->open[t->n - 1].end;
		changed = true;
	}
	t->last_end = *end;
	return push(t, *start, *end, !depth) ? -ENOMEM : changed;
}

void nesting__destroy(struct nesting *n)
{
	for (uint32_t i = 0; i < n->threads.n; i++)
		free(n->threads.at[i].open);
	table__destroy(&n->threads);
	*n = (struct nesting){0};
}

/* ---- Starts that wait for the start of what is around them ----------------------------------- */

/*
 * The kept intervals form groups that start at the same time. A group holds the innermost interval
 * first; the outermost is last and leads the group. The depths of leaders ascend, and each leader
 * is the first of its siblings.
 */
struct begin {
	struct trace_span span;
	uint32_t followers; /* of a leader: its followers stand before it in the array */
};

/* Write the last `n` kept starts, the outermost first. */
static int write_last(struct begins *b, uint32_t n, begins_fn write, void *ctx)
{
	for (; n; n--) {
		int err = write(ctx, &b->kept[--b->n].span);

		if (err)
			return err;
	}
	return 0;
}

/* The leader before the last `n` kept intervals, or NULL. */
static const struct begin *leader_before(const struct begins *b, uint32_t n)
{
	return b->n > n ? &b->kept[b->n - n - 1] : NULL;
}

/*
 * Write the intervals that `span` encloses, except those with the same start, which become its
 * followers. Their number goes to *followers.
 */
static int take_enclosed(struct begins *b, const struct trace_span *span, uint32_t *followers,
			 begins_fn write, void *ctx)
{
	const struct begin *leader;

	*followers = 0;
	while ((leader = leader_before(b, 0)) && leader->span.depth > span->depth) {
		uint32_t n = leader->followers + 1;
		const struct begin *next = leader_before(b, n);
		int err;

		if (leader->span.start_ns == span->start_ns &&
		    (!next || next->span.depth <= span->depth)) {
			*followers = n;
			return 0;
		}
		err = write_last(b, n, write, ctx);
		if (err)
			return err;
	}
	return 0;
}

int begins__span(struct begins *b, const struct trace_span *span, begins_fn write, void *ctx)
{
	const struct begin *sibling;
	uint32_t followers;
	int err = take_enclosed(b, span, &followers, write, ctx);

	if (err)
		return err;
	sibling = leader_before(b, followers);
	/* No later interval can start at the same time. */
	if (!span->depth || (sibling && sibling->span.depth == span->depth))
		return write(ctx, span) ?: write_last(b, followers, write, ctx);
	if (array__reserve_one(&b->kept, b->n, &b->capacity, sizeof(*b->kept)))
		return -ENOMEM;
	b->kept[b->n++] = (struct begin){*span, followers};
	return 0;
}

int begins__finish(struct begins *b, begins_fn write, void *ctx)
{
	return write_last(b, b->n, write, ctx);
}

void begins__destroy(struct begins *b)
{
	free(b->kept);
	*b = (struct begins){0};
}

/* ---- How much went on ------------------------------------------------------------------------ */

#define LEAST_WIDTH_NS 1000000u

void parallelism__init(struct parallelism *p, uint64_t base_ns)
{
	memset(p, 0, sizeof(*p));
	p->base_ns = base_ns;
	p->width_ns = LEAST_WIDTH_NS;
}

/* Merge each two neighbouring buckets into one. */
static void widen(struct parallelism *p)
{
	int64_t whole = 0;

	for (uint32_t i = 0; i < p->used; i++) {
		whole += p->whole[i];
		p->busy_ns[i] += (uint64_t)whole * p->width_ns;
		p->whole[i] = 0;
	}
	p->whole[p->used] = 0;
	for (uint32_t i = 0; i < PARALLELISM_BUCKETS / 2; i++)
		p->busy_ns[i] = p->busy_ns[2 * i] + p->busy_ns[2 * i + 1];
	memset(p->busy_ns + PARALLELISM_BUCKETS / 2, 0, sizeof(p->busy_ns) / 2);
	p->used = (p->used + 1) / 2;
	p->width_ns *= 2;
}

void parallelism__add(struct parallelism *p, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t from = start_ns > p->base_ns ? start_ns - p->base_ns : 0;
	uint64_t to = end_ns > p->base_ns ? end_ns - p->base_ns : 0;
	uint32_t first, last;

	while (to / p->width_ns >= PARALLELISM_BUCKETS)
		widen(p);
	first = (uint32_t)(from / p->width_ns);
	last = (uint32_t)(to / p->width_ns);
	if (last >= p->used)
		p->used = last + 1;
	if (first == last) {
		p->busy_ns[first] += to - from;
		return;
	}
	p->busy_ns[first] += p->width_ns - from % p->width_ns;
	p->busy_ns[last] += to % p->width_ns;
	p->whole[first + 1]++;
	p->whole[last]--;
}

int parallelism__each(const struct parallelism *p, parallelism_fn put, void *ctx)
{
	double before = 0;
	int64_t whole = 0;

	for (uint32_t i = 0; i < p->used; i++) {
		double mean;
		int err;

		whole += p->whole[i];
		mean = (double)whole + (double)p->busy_ns[i] / (double)p->width_ns;
		err = mean == before ? 0 : put(ctx, p->base_ns + i * p->width_ns, mean);
		if (err)
			return err;
		before = mean;
	}
	return before != 0 ? put(ctx, p->base_ns + p->used * p->width_ns, 0) : 0;
}

/* ---- Memory touched -------------------------------------------------------------------------- */

int memory_growth__add(struct memory_growth *g, const struct memory_fault *fault)
{
	return array__add(&g->at, &g->n, &g->capacity, fault) ? -ENOMEM : 0;
}

static int compare(const void *a, const void *b)
{
	const struct memory_fault *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

int memory_growth__each(struct memory_growth *g, memory_growth_fn put, void *ctx)
{
	uint32_t n;

	if (g->n)
		qsort(g->at, g->n, sizeof(*g->at), compare);
	for (uint32_t i = 0; i < g->n; i += n) {
		const struct memory_fault *f = &g->at[i];
		struct memory_fault sum = {.process = f->process};
		uint32_t step;

		/* The samples of one process are `n` from `f` on. */
		for (n = 1; i + n < g->n && f[n].process == f->process; n++)
			;
		step = n / MEMORY_GROWTH_POINTS + 1;
		for (uint32_t k = 0; k < n; k++) {
			int err;

			sum.bytes += f[k].bytes;
			sum.at_ns = f[k].at_ns;
			if (k + 1 < n && ((k + 1) % step || f[k + 1].at_ns == sum.at_ns))
				continue;
			err = put(ctx, &sum);
			if (err)
				return err;
		}
	}
	return 0;
}

void memory_growth__destroy(struct memory_growth *g)
{
	free(g->at);
	*g = (struct memory_growth){};
}
