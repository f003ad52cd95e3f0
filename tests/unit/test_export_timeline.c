// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/spans_trace.h"
#include "../fixtures/spans.h"
#include "../fixtures/random.h"
#include "export/timeline.h"
#include "export/span_merge.h"
#include <math.h>
/* The calls of the format, as text. */
static char calls[4096];

static void put(const char *format, ...)
{
	size_t n = strlen(calls);
	va_list args;

	va_start(args, format);
	vsnprintf(calls + n, sizeof(calls) - n, format, args);
	va_end(args);
}

static int put_process(void *ctx, const struct timeline_process *p)
{
	put("p%u %s; ", p->pid, p->title);
	return 0;
}

static int put_thread(void *ctx, const struct timeline_thread *t, const char *name)
{
	put("t%u/%u/%u%s; ", t->process->pid, t->tid, t->index, name ?: "");
	return 0;
}

static int put_span(void *ctx, const struct timeline_thread *t, const struct trace_span *s)
{
	put("s%u %u-%u; ", t->index, (unsigned int)s->start_ns, (unsigned int)s->end_ns);
	return 0;
}

static int put_counter(void *ctx, enum timeline_counter counter, uint64_t at_ns, double value)
{
	put("%s; ", timeline_counter_text(counter));
	return 0;
}

static const struct timeline_format format = {.span_bytes = 10,
					      .process = put_process,
					      .thread = put_thread,
					      .span = put_span,
					      .counter = put_counter};

static void run(struct export_job *job, const struct trace_span *spans, size_t n)
{
	struct trace_reader *readers[2];
	_out_ struct out *out = NULL;

	*calls = '\0';
	spans_trace(spans, n, 2, 1, NULL, readers, 2);
	assert_int_equal(out__new(-1, &out), 0);
	job->r = readers[0];
	job->survey = readers[1];
	job->out = out;
	assert_int_equal(timeline_run(job, &format, NULL), 0);
	trace_reader__free(readers[0]);
	trace_reader__free(readers[1]);
}

TEST_CASE(processes_and_threads_are_reported_once_and_first)
{
	const struct trace_span spans[] = {
		{.start_ns = 10, .end_ns = 20, .tid = 5, .depth = 1},
		{.start_ns = 30, .end_ns = 40, .tid = 5, .process = 1, .depth = 1},
		{.start_ns = 50, .end_ns = 60, .tid = 5, .depth = 1},
	};
	struct export_job job = {};

	run(&job, spans, 3);
	assert_string_equal(calls, "p100 unknown (100); t100/5/0; s0 10-20; s0 50-60; "
				   "p101 unknown (101); t101/5/1; s1 30-40; ");
	assert_struct(job, written, 3, adjusted, 0);
}

TEST_CASE(overlapping_intervals_are_cut)
{
	const struct trace_span spans[] = {
		{.start_ns = 10, .end_ns = 20},
		{.start_ns = 15, .end_ns = 30},
		{.start_ns = 5, .end_ns = 5, .kind = TRACE_KIND_HIT},
		/* A wait is no work: the counter does not change. */
		{.start_ns = 30, .end_ns = 90000000, .kind = TRACE_KIND_BLOCKED},
	};
	struct export_job job = {};

	run(&job, spans, 4);
	assert_string_equal(
		calls, "p100 unknown (100); t100/0/0; s0 10-20; s0 20-30; s0 5-5; s0 30-90000000; "
		       "p101 unknown (101); threads at work; threads at work; ");
	assert_int_equal(job.adjusted, 1);
}

TEST_CASE(a_left_out_interval_is_counted)
{
	const struct trace_span spans[] = {
		{.start_ns = 10, .end_ns = 12, .depth = 1},
		{.start_ns = 20, .end_ns = 30, .depth = 1},
	};
	struct export_job job = {.max_bytes = 19};

	run(&job, spans, 2);
	assert_contains(calls, "t100/0/0; s0 20-30; p101");
	assert_int_equal(job.left_out, 1);
}

/* ---- Nesting --------------------------------------------------------------------------------- */

struct interval {
	uint64_t start;
	uint64_t end;
};

/* The rule of measureme, which reads backwards: an interval lies inside its parent or beside it. */
static void assert_nested(const struct interval *v, uint32_t n)
{
	struct interval *stack = calloc(n + 1, sizeof(*stack));
	uint32_t depth = 0;

	for (uint32_t i = n; i--;) {
		assert_true(v[i].start <= v[i].end);
		assert_true(i + 1 == n || v[i].end <= v[i + 1].end);
		for (; depth; depth--) {
			const struct interval *top = &stack[depth - 1];

			if (top->start <= v[i].start && v[i].end <= top->end)
				break;
			assert_true(v[i].end <= top->start);
		}
		stack[depth++] = v[i];
	}
	free(stack);
}

TEST_CASE(nested_intervals_are_left_unchanged)
{
	struct rng rng = rng_new();
	struct spans *s = spans_new(&rng, 15000, 1, 10);
	__cleanup(nesting__destroy) struct nesting n = {0};

	for (uint32_t i = 0; i < s->n; i++) {
		uint64_t start = s->at[i].start_ns, end = s->at[i].end_ns;

		assert_int_equal(nesting__fit(&n, s->at[i].tid, s->at[i].depth, &start, &end), 0);
		assert_true(start == s->at[i].start_ns && end == s->at[i].end_ns);
	}
	free(s);
}

TEST_CASE(anything_is_made_to_nest)
{
	struct rng rng = rng_new();
	static struct interval out[3][4000];
	uint32_t used[3] = {0}, changed = 0;
	__cleanup(nesting__destroy) struct nesting n = {0};

	for (int i = 0; i < 10000; i++) {
		uint32_t thread = rng_below(&rng, 3);
		struct interval *v = &out[thread][used[thread]];
		int adjusted;

		if (used[thread] == 4000)
			continue;
		v->end = i * 10 + rng_below(&rng, 300);
		v->start = v->end - rng_below(&rng, v->end + 1) % 500;
		adjusted = nesting__fit(&n, 7 + thread, rng_below(&rng, 3), &v->start, &v->end);
		assert_true(adjusted >= 0);
		changed += adjusted;
		used[thread]++;
	}
	assert_true(changed > 0);
	for (int i = 0; i < 3; i++)
		assert_nested(out[i], used[i]);
}

static void fit(struct nesting *n, uint16_t depth, uint64_t start, uint64_t end,
		uint64_t want_start, uint64_t want_end)
{
	bool adjusted = start != want_start || end != want_end;

	assert_int_equal(nesting__fit(n, 1, depth, &start, &end), adjusted);
	assert_int_equal(start, want_start);
	assert_int_equal(end, want_end);
}

TEST_CASE(a_lost_parent_changes_nothing)
{
	__cleanup(nesting__destroy) struct nesting n = {0};

	fit(&n, 2, 1, 2, 1, 2);
	fit(&n, 2, 3, 4, 3, 4);
	/* The parent of 1..2 was lost. */
	fit(&n, 1, 3, 5, 3, 5);
	fit(&n, 0, 0, 6, 0, 6);
}

TEST_CASE(an_overlap_is_cut_and_an_end_moved)
{
	__cleanup(nesting__destroy) struct nesting n = {0};

	fit(&n, 1, 10, 20, 10, 20);
	fit(&n, 1, 15, 30, 20, 30);
	fit(&n, 1, 25, 26, 30, 30);
	fit(&n, 0, 0, 5, 0, 30);
}

/* A parent encloses all its children, even if they are more than the code stores separately. */
TEST_CASE(a_parent_of_very_many_is_left_alone)
{
	__cleanup(nesting__destroy) struct nesting n = {0};
	uint64_t at = 100;

	for (int i = 0; i < 300000; i++, at += 10)
		fit(&n, 1, at, at + 5, at, at + 5);
	fit(&n, 0, 50, at, 50, at);
	fit(&n, 0, at, at + 1, at, at + 1);
}

/* ---- Parallelism ----------------------------------------------------------------------------- */

#define MS 1000000u

/* The integral over all reported changes, and the last one. */
struct reported {
	uint64_t at_ns;
	double value;
	double busy_ns;
	unsigned int n;
};

static int add_change(void *ctx, uint64_t at_ns, double mean)
{
	struct reported *t = ctx;

	assert_true(!t->n || at_ns > t->at_ns);
	t->busy_ns += t->value * (double)(at_ns - t->at_ns);
	*t = (struct reported){at_ns, mean, t->busy_ns, t->n + 1};
	return 0;
}

static struct parallelism p;

TEST_CASE(overlaps_add_up)
{
	struct reported t = {};

	parallelism__init(&p, 1000 * MS);
	parallelism__add(&p, 1000 * MS, 1004 * MS);
	parallelism__add(&p, 1001 * MS, 1003 * MS);
	parallelism__add(&p, 1001 * MS + MS / 2, 1002 * MS);
	/* 1 | 2.5 | 2 | 1 | 0 */
	assert_int_equal(parallelism__each(&p, add_change, &t), 0);
	assert_struct(t, n, 5, at_ns, 1004 * MS);
	assert_true(t.value == 0);
	assert_true(fabs(t.busy_ns - 6.5 * MS) < 1);
}

TEST_CASE(nothing_is_nothing)
{
	struct reported t = {};

	parallelism__init(&p, 5);
	parallelism__add(&p, 1, 4);
	assert_int_equal(parallelism__each(&p, add_change, &t), 0);
	assert_int_equal(t.n, 0);
}

/* No time is lost when the buckets are widened. */
TEST_CASE(time_is_kept)
{
	struct rng rng = rng_new();
	struct reported t = {};
	double busy = 0;

	parallelism__init(&p, 0);
	for (int i = 0; i < 100000; i++) {
		uint64_t start = rng_below(&rng, 1 + (uint64_t)i * MS),
			 length = rng_any_size(&rng) >> 20;

		parallelism__add(&p, start, start + length);
		busy += (double)length;
	}
	assert_int_equal(parallelism__each(&p, add_change, &t), 0);
	assert_true(t.n <= PARALLELISM_BUCKETS + 1);
	assert_true(fabs(t.busy_ns / busy - 1) < 1e-6);
	parallelism__add(&p, 0, UINT64_MAX);
}

/* ---- Memory growth --------------------------------------------------------------------------- */

struct seen {
	struct memory_fault last;
	uint32_t n;
	uint64_t total;
};

static int see(void *ctx, const struct memory_fault *sum)
{
	struct seen *s = ctx;

	if (s->n && s->last.process == sum->process) {
		assert_true(sum->at_ns > s->last.at_ns);
		assert_true(sum->bytes > s->last.bytes);
	} else {
		assert_true(!s->n || sum->process > s->last.process);
		s->total += s->last.bytes;
	}
	s->last = *sum;
	s->n++;
	return 0;
}

static void add(struct memory_growth *g, uint32_t process, uint64_t at_ns, uint64_t bytes)
{
	assert_int_equal(memory_growth__add(g, &(struct memory_fault){at_ns, bytes, process}), 0);
}

TEST_CASE(faults_in_any_order_add_up)
{
	struct memory_growth g = {};
	struct seen s = {};

	assert_int_equal(memory_growth__each(&g, see, &s), 0);
	assert_int_equal(s.n, 0);
	add(&g, 7, 300, 10);
	add(&g, 2, 900, 20);
	add(&g, 7, 100, 30);
	add(&g, 7, 100, 40); /* at one time: one point */
	assert_int_equal(memory_growth__each(&g, see, &s), 0);
	assert_struct(s, n, 3, last.at_ns, 300, last.bytes, 80, total, 20);
	memory_growth__destroy(&g);
}

TEST_CASE(many_faults_share_points)
{
	const uint32_t n = 3 * MEMORY_GROWTH_POINTS + 5;
	struct memory_growth g = {};
	struct seen s = {};

	for (uint32_t i = 0; i < n; i++)
		add(&g, 0, i, 1);
	assert_int_equal(memory_growth__each(&g, see, &s), 0);
	assert_in_range(s.n, MEMORY_GROWTH_POINTS / 2, MEMORY_GROWTH_POINTS);
	assert_struct(s.last, at_ns, n - 1, bytes, n);
	memory_growth__destroy(&g);
}

static int refuse(void *ctx, const struct memory_fault *sum)
{
	return -EPIPE;
}

TEST_CASE(an_error_ends_it)
{
	struct memory_growth g = {};

	add(&g, 0, 1, 1);
	assert_int_equal(memory_growth__each(&g, refuse, NULL), -EPIPE);
	memory_growth__destroy(&g);
}

/* ---- Size limit ------------------------------------------------------------------------------ */

/* For intervals of 1 to 1000 ns. */
static uint64_t least_for(uint64_t max_bytes)
{
	static struct trace_span spans[1000];
	struct trace_reader *readers[2];
	struct export_job job = {.max_bytes = max_bytes};

	for (uint32_t i = 0; i < 1000; i++)
		spans[i] = (struct trace_span){.start_ns = 10000 * i,
					       .end_ns = 10000 * i + i + 1,
					       .invocation = TRACE_NO_INVOCATION};
	spans_trace(spans, 1000, 1, 1, NULL, readers, 2);
	job.r = readers[0];
	job.survey = readers[1];
	assert_int_equal(size_limit_least(&job, 10), 0);
	trace_reader__free(readers[0]);
	trace_reader__free(readers[1]);
	return job.least_ns;
}

TEST_CASE(the_longest_fit)
{
	assert_int_equal(least_for(0), 0);
	assert_int_equal(least_for(10000), 0);
	assert_int_equal(least_for(1000000000), 0);
	/* 999 fit: all but the shortest. */
	assert_int_equal(least_for(9990), 2);
	/* The 105 intervals of at least 896 ns fit into 105 places, but not into 104. */
	assert_int_equal(least_for(1050), 896);
	assert_int_equal(least_for(1040), 960);
	assert_int_equal(least_for(9), UINT64_MAX);
}

/* ---- Begins ---------------------------------------------------------------------------------- */

#define MAX_EVENTS 40000

/* A start or an end, with its position in the file. */
struct event {
	uint64_t at_ns;
	uint32_t order;
	const struct trace_span *span;
	bool begin;
};

struct file {
	struct event events[MAX_EVENTS];
	uint32_t n;
	struct trace_span copies[MAX_EVENTS];
};

static struct file file;

static int begins_put(struct file *f, const struct trace_span *s, bool begin)
{
	f->copies[f->n] = *s;
	f->events[f->n] =
		(struct event){begin ? s->start_ns : s->end_ns, f->n, &f->copies[f->n], begin};
	f->n++;
	return 0;
}

static int put_begin(void *ctx, const struct trace_span *s)
{
	return begins_put(ctx, s, true);
}

static int compare(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
	return (x->order > y->order) - (x->order < y->order);
}

/* Each end belongs to the last open start; the invocation identifies the span. */
static void assert_nests(struct file *f)
{
	static const struct trace_span *open[MAX_EVENTS];
	uint32_t depth = 0;

	qsort(f->events, f->n, sizeof(*f->events), compare);
	for (uint32_t i = 0; i < f->n; i++) {
		if (f->events[i].begin) {
			assert_int_equal(f->events[i].span->depth, depth);
			open[depth++] = f->events[i].span;
			continue;
		}
		assert_true(depth > 0);
		assert_int_equal(open[--depth]->invocation, f->events[i].span->invocation);
	}
	assert_int_equal(depth, 0);
}

static void write_all(struct file *f, const struct trace_span *spans, uint32_t n)
{
	__cleanup(begins__destroy) struct begins b = {0};

	f->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(begins__span(&b, &spans[i], put_begin, f), 0);
		begins_put(f, &spans[i], false);
	}
	assert_int_equal(begins__finish(&b, put_begin, f), 0);
}

struct generator {
	struct rng rng;
	struct trace_span spans[MAX_EVENTS / 2];
	uint32_t n;
	uint64_t now;
};

static struct generator gen;

/* The clock advances seldom, so that most starts and ends coincide. */
static void pass(struct generator *g)
{
	g->now += rng_below(&g->rng, 4) ? 0 : 1 + rng_below(&g->rng, 3);
}

static void nest(struct generator *g, uint16_t depth, uint32_t most)
{
	uint64_t start = g->now;

	while (g->n + depth + 1 < most && depth < 60 && rng_below(&g->rng, 5) < 3) {
		pass(g);
		nest(g, depth + 1, most);
	}
	pass(g);
	g->now += g->now == start;
	g->spans[g->n] = (struct trace_span){
		.start_ns = start, .end_ns = g->now, .depth = depth, .invocation = g->n};
	g->n++;
}

TEST_CASE(any_nesting_is_kept)
{
	gen.rng = rng_new();
	while (gen.n < 15000) {
		pass(&gen);
		nest(&gen, 0, gen.n + 200);
	}
	write_all(&file, gen.spans, gen.n);
	assert_int_equal(file.n, 2 * gen.n);
	assert_nests(&file);
}

/* The number of kept starts depends on the nesting depth, not on the number of spans. */
TEST_CASE(few_are_kept)
{
	struct trace_span s = {.depth = 3};
	__cleanup(begins__destroy) struct begins b = {0};

	file.n = 0;
	for (uint32_t i = 0; i < 10000; i++) {
		s.start_ns = 10 * i;
		s.end_ns = s.start_ns + 5;
		assert_int_equal(begins__span(&b, &s, put_begin, &file), 0);
		assert_int_equal(b.n, 1);
	}
	s = (struct trace_span){.depth = 2, .start_ns = 0, .end_ns = 200000};
	assert_int_equal(begins__span(&b, &s, put_begin, &file), 0);
	assert_int_equal(b.n, 2);
	s = (struct trace_span){.depth = 0, .start_ns = 0, .end_ns = 200000};
	assert_int_equal(begins__span(&b, &s, put_begin, &file), 0);
	assert_int_equal(b.n, 0);
	assert_int_equal(file.n, 10002);
}

TEST_MAIN(NULL, NULL)
