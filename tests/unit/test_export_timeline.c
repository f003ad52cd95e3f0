// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/spans_trace.h"
#include "export/timeline.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_and_threads_are_reported_once_and_first),
		cmocka_unit_test(overlapping_intervals_are_cut),
		cmocka_unit_test(a_left_out_interval_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
