// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/spans_trace.h"
#include "../fixtures/spans.h"
#include "../fixtures/random.h"
#include "export/timeline.h"
#include <math.h>
#include <errno.h>
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

static const struct timeline_format format = {
	.span_bytes = 10,
	.process = put_process,
	.thread = put_thread,
	.span = put_span,
	.counter = put_counter,
};

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

static void processes_and_threads_are_reported_once_and_first(void **state)
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
	assert_int_equal(job.written, 3);
	assert_int_equal(job.adjusted, 0);
}

static void overlapping_intervals_are_cut(void **state)
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

static void a_left_out_interval_is_counted(void **state)
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

static void nested_intervals_are_left_unchanged(void **state)
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

static void anything_is_made_to_nest(void **state)
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

static void a_lost_parent_changes_nothing(void **state)
{
	__cleanup(nesting__destroy) struct nesting n = {0};

	fit(&n, 2, 1, 2, 1, 2);
	fit(&n, 2, 3, 4, 3, 4);
	/* The parent of 1..2 was lost. */
	fit(&n, 1, 3, 5, 3, 5);
	fit(&n, 0, 0, 6, 0, 6);
}

static void an_overlap_is_cut_and_an_end_moved(void **state)
{
	__cleanup(nesting__destroy) struct nesting n = {0};

	fit(&n, 1, 10, 20, 10, 20);
	fit(&n, 1, 15, 30, 20, 30);
	fit(&n, 1, 25, 26, 30, 30);
	fit(&n, 0, 0, 5, 0, 30);
}

/* A parent encloses all its children, even if they are more than the code stores separately. */
static void a_parent_of_very_many_is_left_alone(void **state)
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

static void overlaps_add_up(void **state)
{
	struct reported t = {};

	parallelism__init(&p, 1000 * MS);
	parallelism__add(&p, 1000 * MS, 1004 * MS);
	parallelism__add(&p, 1001 * MS, 1003 * MS);
	parallelism__add(&p, 1001 * MS + MS / 2, 1002 * MS);
	/* 1 | 2.5 | 2 | 1 | 0 */
	assert_int_equal(parallelism__each(&p, add_change, &t), 0);
	assert_int_equal(t.n, 5);
	assert_int_equal(t.at_ns, 1004 * MS);
	assert_true(t.value == 0);
	assert_true(fabs(t.busy_ns - 6.5 * MS) < 1);
}

static void nothing_is_nothing(void **state)
{
	struct reported t = {};

	parallelism__init(&p, 5);
	parallelism__add(&p, 1, 4);
	assert_int_equal(parallelism__each(&p, add_change, &t), 0);
	assert_int_equal(t.n, 0);
}

/* No time is lost when the buckets are widened. */
static void time_is_kept(void **state)
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

static void faults_in_any_order_add_up(void **state)
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
	assert_int_equal(s.n, 3);
	assert_int_equal(s.last.at_ns, 300);
	assert_int_equal(s.last.bytes, 80);
	assert_int_equal(s.total, 20);
	memory_growth__destroy(&g);
}

static void many_faults_share_points(void **state)
{
	const uint32_t n = 3 * MEMORY_GROWTH_POINTS + 5;
	struct memory_growth g = {};
	struct seen s = {};

	for (uint32_t i = 0; i < n; i++)
		add(&g, 0, i, 1);
	assert_int_equal(memory_growth__each(&g, see, &s), 0);
	assert_in_range(s.n, MEMORY_GROWTH_POINTS / 2, MEMORY_GROWTH_POINTS);
	assert_int_equal(s.last.at_ns, n - 1);
	assert_int_equal(s.last.bytes, n);
	memory_growth__destroy(&g);
}

static int refuse(void *ctx, const struct memory_fault *sum)
{
	return -EPIPE;
}

static void an_error_ends_it(void **state)
{
	struct memory_growth g = {};

	add(&g, 0, 1, 1);
	assert_int_equal(memory_growth__each(&g, refuse, NULL), -EPIPE);
	memory_growth__destroy(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_and_threads_are_reported_once_and_first),
		cmocka_unit_test(overlapping_intervals_are_cut),
		cmocka_unit_test(a_left_out_interval_is_counted),
		cmocka_unit_test(nested_intervals_are_left_unchanged),
		cmocka_unit_test(anything_is_made_to_nest),
		cmocka_unit_test(a_lost_parent_changes_nothing),
		cmocka_unit_test(an_overlap_is_cut_and_an_end_moved),
		cmocka_unit_test(a_parent_of_very_many_is_left_alone),
		cmocka_unit_test(overlaps_add_up),
		cmocka_unit_test(nothing_is_nothing),
		cmocka_unit_test(time_is_kept),
		cmocka_unit_test(faults_in_any_order_add_up),
		cmocka_unit_test(many_faults_share_points),
		cmocka_unit_test(an_error_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
