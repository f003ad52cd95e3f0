// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/span_merge.h"

#include <errno.h>

#include "test.h"
#include "../fixtures/sampled_trace.h"
#include "../fixtures/temporary.h"
#include "base/array.h"

/* A trace with jobs 1 to 4, each in the one before, and 5 in the first. */
static struct trace_reader *open_jobs(void)
{
	_trace_writer_ struct trace_writer *w = sampled_trace_open(temporary);
	const struct trace_sampling sampling = {.hz = 499, .queries = true};
	struct trace_sample sample = sampled_trace_sample(1, TRACE_NO_STACK);
	struct trace_item item;
	struct trace_reader *r;

	assert_int_equal(trace_writer__sampling(w, &sampling), 0);
	for (uint32_t i = 0; i < 5; i++) {
		const struct trace_job job = {.query = i & 1,
					      .invocation = TRACE_NO_INVOCATION,
					      .parent = i == 4 ? 1 : i};
		uint32_t id;

		assert_int_equal(trace_writer__job(w, &job, &id), 0);
		assert_int_equal(id, i + 1);
		sample.job = id;
	}
	assert_int_equal(trace_writer__sample(w, &sample), 0);
	assert_int_equal(trace_writer__finish(w), 0);
	assert_int_equal(trace_reader__open(temporary, &r, NULL), 0);
	while (!trace_reader__next(r, &item) && item.kind != TRACE_ITEM_END)
		;
	unlink(temporary);
	return r;
}

/* The intervals, as text; ~ marks those by samples. */
static char given[4096];

static int take(void *ctx, const struct trace_span *s)
{
	size_t n = strlen(given);

	snprintf(given + n, sizeof(given) - n, "%s%u@%u %u-%u; ",
		 s->flags & TRACE_SPAN_SAMPLED ? "~" : "", s->tid, s->depth,
		 (unsigned int)s->start_ns, (unsigned int)s->end_ns);
	return ctx ? -ENOSPC : 0;
}

struct row {
	uint64_t from, to; /* of an activity; or: */
	uint64_t at;	   /* a sample */
	uint32_t job, tid;
	uint8_t flags;
};

#define ACTIVITY(from, to)           \
	{                            \
		from, to, 0, 0, 7, 0 \
	}
#define LEFT(from, to)                             \
	{                                          \
		from, to, 0, 0, 7, TRACE_SPAN_LEFT \
	}
#define SAMPLE(at, job)             \
	{                           \
		0, 0, at, job, 7, 0 \
	}

static int feed(struct span_merge *m, const struct row *row)
{
	struct trace_item item = {.kind = TRACE_ITEM_SAMPLE};

	if (row->job) {
		item.sample = (struct trace_sample){.time_ns = row->at,
						    .tid = row->tid,
						    .job = row->job,
						    .cause = TRACE_SAMPLE_CPU};
		return span_merge__item(m, &item);
	}
	item.kind = TRACE_ITEM_SPAN;
	item.span = (struct trace_span){.start_ns = row->from,
					.end_ns = row->to,
					.tid = row->tid,
					.depth = 3,
					.flags = row->flags,
					.kind = TRACE_KIND_ACTIVITY};
	return span_merge__item(m, &item);
}

static void run_as(bool queries, const struct row *rows, size_t n)
{
	const struct trace_item sampling = {.kind = TRACE_ITEM_SAMPLING,
					    .sampling.queries = queries};
	_trace_reader_ struct trace_reader *r = open_jobs();
	struct span_merge m;

	*given = '\0';
	span_merge__init(&m, r, take, NULL);
	assert_int_equal(span_merge__item(&m, &sampling), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(feed(&m, &rows[i]), 0);
	assert_int_equal(span_merge__end(&m), 0);
	span_merge__destroy(&m);
}

#define RUN(...) \
	run_as(true, (const struct row[]){__VA_ARGS__}, N_OF(((const struct row[]){__VA_ARGS__})))

TEST_CASE(spans_go_on_as_they_are_where_queries_have_probes)
{
	const struct row rows[] = {ACTIVITY(10, 20), SAMPLE(12, 1), SAMPLE(14, 1), ACTIVITY(5, 30)};

	run_as(false, rows, N_OF(rows));
	assert_string_equal(given, "7@3 10-20; 7@3 5-30; ");
}

TEST_CASE(intervals_nest_in_the_order_of_their_ends)
{
	/* Chunks of spans and of samples come in any order. */
	RUN(SAMPLE(10, 1), SAMPLE(20, 2), SAMPLE(24, 2), SAMPLE(40, 1), ACTIVITY(21, 23),
	    ACTIVITY(5, 50));
	assert_string_equal(given, "7@3 21-23; ~7@2 20-24; ~7@1 10-40; 7@0 5-50; ");
	RUN(ACTIVITY(5, 50), SAMPLE(10, 1), SAMPLE(40, 1), {60, 70, 0, 0, 8, 0});
	assert_string_equal(given, "~7@1 10-40; 7@0 5-50; 8@0 60-70; ");
}

TEST_CASE(an_execution_contains_an_activity_that_it_overlaps)
{
	/* It began before the activity, or ended after it. */
	RUN(ACTIVITY(10, 30), SAMPLE(20, 1), SAMPLE(40, 1));
	assert_string_equal(given, "7@1 10-30; ~7@0 10-40; ");
	RUN(ACTIVITY(30, 50), SAMPLE(20, 1), SAMPLE(40, 1));
	assert_string_equal(given, "7@1 30-50; ~7@0 20-50; ");
	/* So did those around it, by two activities at each side. */
	RUN(ACTIVITY(12, 18), ACTIVITY(10, 30), ACTIVITY(45, 60), SAMPLE(16, 2), SAMPLE(20, 3),
	    SAMPLE(50, 3), SAMPLE(70, 1));
	assert_string_equal(
		given, "7@4 12-18; 7@3 10-30; 7@3 45-60; ~7@2 10-60; ~7@1 10-60; ~7@0 10-70; ");
}

TEST_CASE(nothing_follows_from_an_end_that_may_be_late)
{
	RUN(LEFT(10, 30), SAMPLE(20, 1), SAMPLE(40, 1));
	assert_string_equal(given, "~7@1 20-40; 7@0 10-30; ");
}

TEST_CASE(an_error_of_the_receiver_is_returned)
{
	const struct row row = ACTIVITY(10, 20);
	_trace_reader_ struct trace_reader *r = open_jobs();
	struct span_merge m;

	span_merge__init(&m, r, take, &m);
	assert_int_equal(feed(&m, &row), -ENOSPC);
	m.sampled.is_on = true;
	assert_int_equal(feed(&m, &row), 0);
	assert_int_equal(span_merge__end(&m), -ENOSPC);
	span_merge__destroy(&m);
}

/* Any intervals, as no compiler makes them. */
TEST_CASE(a_trace_that_lies_ends_in_time)
{
	_trace_reader_ struct trace_reader *r = open_jobs();
	uint64_t n = 200000;
	struct span_merge m;

	*given = '\0';
	span_merge__init(&m, r, take, NULL);
	m.sampled.is_on = true;
	for (uint64_t i = 0; i < n; i++) {
		const struct row activity = {i, i + n, 0, 0, 7, 0};
		const struct row sample = {0, 0, i, 1 + i / 2 % 5, 7, 0};

		assert_int_equal(feed(&m, &activity), 0);
		assert_int_equal(feed(&m, &sample), 0);
	}
	assert_int_equal(span_merge__end(&m), 0);
	span_merge__destroy(&m);
}

TEST_MAIN(temporary_make, NULL)
