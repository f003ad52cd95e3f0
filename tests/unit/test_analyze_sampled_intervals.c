// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/sampled_intervals.h"
#include "analyze/within.h"

#include "test.h"

#define _sampled_intervals_ __cleanup(sampled_intervals__destroy)
#define _stack_intervals_   __cleanup(stack_intervals__destroy)
#define _explained_	    __cleanup(explained__clear)

/* Numbers are indices, and those of queries 100 more; 0 is no job. */
static const struct trace_job jobs[] = {
	[1] = {.query = 101, .invocation = 11}, /* analysis */
	[2] = {.query = 102, .invocation = 12, .parent = 1},
	[3] = {.query = 103, .invocation = 13, .parent = 2},
	[4] = {.query = 103, .invocation = 14, .parent = 3}, /* the same query again */
	[5] = {.query = 105, .invocation = 15, .parent = 1},
	[6] = {.query = 101, .invocation = 16}, /* of another context: around it is nothing */
	[7] = {.query = 107, .parent = 7},	/* as no writer makes them */
	[8] = {.query = 108, .parent = 9},
	[9] = {.query = 109, .parent = 99},
};

static const struct trace_job *job(const void *ctx, uint32_t id)
{
	return id && id < N_OF(jobs) ? &jobs[id] : NULL;
}

/* The intervals, as text. */
static char given[4096];

static int take(void *ctx, const struct sampled_interval *i)
{
	size_t n = strlen(given);

	assert_struct(i->span, flags, TRACE_SPAN_SAMPLED, kind, TRACE_KIND_QUERY, label,
		      jobs[i->job].query, invocation, jobs[i->job].invocation);
	assert_true(i->samples >= 2);
	snprintf(given + n, sizeof(given) - n, "%u/%u:%u@%u %u-%u x%u; ", i->span.process,
		 i->span.tid, i->job, i->span.depth, (unsigned int)i->span.start_ns,
		 (unsigned int)i->span.end_ns, (unsigned int)i->samples);
	return ctx ? -ENOSPC : 0;
}

struct row {
	uint64_t time_ns;
	uint32_t job, tid, process;
	uint64_t off_ns; /* it was off the CPU so long from then on */
};

static void run(const struct row *rows, size_t n)
{
	struct sampled_intervals s = {.job = job, .take = take};

	*given = '\0';
	for (size_t i = 0; i < n; i++) {
		const struct trace_sample sample = {.time_ns = rows[i].time_ns,
						    .value = rows[i].off_ns ?: 2,
						    .process = rows[i].process,
						    .tid = rows[i].tid,
						    .job = rows[i].job,
						    .cause = rows[i].off_ns ? TRACE_SAMPLE_OFF_CPU
									    : TRACE_SAMPLE_CPU};

		assert_int_equal(sampled_intervals__sample(&s, &sample), 0);
	}
	assert_int_equal(sampled_intervals__over(&s, TRACE_NO_PROCESS), 0);
	assert_int_equal(s.n, 0);
	sampled_intervals__destroy(&s);
}
#define AT(time, job)              \
	{                          \
		time, job, 0, 0, 0 \
	}
#define ON(time, job, tid, process)        \
	{                                  \
		time, job, tid, process, 0 \
	}
#define OFF(time, job, ns)          \
	{                           \
		time, job, 0, 0, ns \
	}
#define RUN(...) run((const struct row[]){__VA_ARGS__}, N_OF(((const struct row[]){__VA_ARGS__})))

TEST_CASE(an_execution_that_several_samples_met_is_an_interval)
{
	RUN(AT(10, 1), AT(12, 1), AT(14, 1));
	assert_string_equal(given, "0/0:1@0 10-14 x3; ");
	RUN(AT(10, 1));
	assert_string_equal(given, "");
}

TEST_CASE(samples_within_count_for_what_is_around)
{
	RUN(AT(10, 1), AT(12, 3), AT(14, 3), AT(16, 2), AT(18, 5), AT(20, 1));
	assert_string_equal(given, "0/0:3@2 12-14 x2; 0/0:2@1 12-16 x3; 0/0:1@0 10-20 x6; ");
}

TEST_CASE(the_same_query_within_itself_is_another_execution)
{
	RUN(AT(10, 4), AT(12, 3), AT(14, 4), AT(16, 3));
	assert_string_equal(given, "0/0:3@2 10-16 x4; 0/0:2@1 10-16 x4; 0/0:1@0 10-16 x4; ");
	RUN(AT(10, 4), AT(12, 4), AT(14, 3));
	assert_string_equal(
		given, "0/0:4@3 10-12 x2; 0/0:3@2 10-14 x3; 0/0:2@1 10-14 x3; 0/0:1@0 10-14 x3; ");
}

TEST_CASE(a_wait_ends_no_interval)
{
	/* Off the CPU, and sampled there or not. */
	RUN(AT(10, 1), AT(12, 2), OFF(14, 2, 5000), AT(9000, 2), AT(9002, 1));
	assert_string_equal(given, "0/0:2@1 12-9000 x3; 0/0:1@0 10-9002 x5; ");
	RUN(AT(10, 1), OFF(12, 1, 100));
	assert_string_equal(given, "0/0:1@0 10-112 x2; ");
}

TEST_CASE(a_sample_without_a_job_says_nothing)
{
	RUN(AT(10, 1), AT(12, 0), AT(14, 1), AT(16, 0), AT(18, 0));
	assert_string_equal(given, "0/0:1@0 10-14 x2; ");
}

TEST_CASE(threads_and_processes_are_apart)
{
	RUN(ON(10, 1, 5, 0), ON(10, 1, 6, 0), ON(11, 1, 5, 1), ON(12, 1, 5, 0), ON(13, 1, 6, 0),
	    ON(14, 6, 5, 0), ON(16, 6, 5, 0), ON(18, 1, 5, 1));
	assert_string_equal(given, "0/5:1@0 10-12 x2; 1/5:1@0 11-18 x2; 0/6:1@0 10-13 x2; "
				   "0/5:6@0 14-16 x2; ");
}

TEST_CASE(a_process_that_is_over_is_forgotten)
{
	_sampled_intervals_ struct sampled_intervals s = {.job = job, .take = take};
	struct trace_sample sample = {.time_ns = 10, .tid = 5, .job = 1, .cause = TRACE_SAMPLE_CPU};

	*given = '\0';
	for (uint32_t i = 0; i < 6; i++) {
		sample.process = i % 3;
		sample.time_ns++;
		assert_int_equal(sampled_intervals__sample(&s, &sample), 0);
	}
	assert_int_equal(sampled_intervals__over(&s, 0), 0);
	assert_string_equal(given, "0/5:1@0 11-14 x2; ");
	assert_int_equal(s.n, 2);
	/* A later one has its number. */
	sample.process = 0;
	assert_int_equal(sampled_intervals__sample(&s, &sample), 0);
	assert_int_equal(sampled_intervals__over(&s, TRACE_NO_PROCESS), 0);
	assert_string_equal(given, "0/5:1@0 11-14 x2; 1/5:1@0 12-15 x2; 2/5:1@0 13-16 x2; ");
}

TEST_CASE(only_samples_of_a_trace_without_probes_in_queries_count)
{
	_sampled_intervals_ struct sampled_intervals s = {.job = job, .take = take};
	struct trace_item sampling = {.kind = TRACE_ITEM_SAMPLING};
	const struct trace_item sample = {.kind = TRACE_ITEM_SAMPLE, .sample = {.job = 1}};
	const struct trace_item span = {.kind = TRACE_ITEM_SPAN};

	for (int i = 0; i < 2; i++)
		assert_int_equal(sampled_intervals__item(&s, &sample), 0);
	must(sampled_intervals__item(&s, &sampling), sampled_intervals__item(&s, &sample));
	assert_int_equal(s.n, 0);
	sampling.sampling.queries = true;
	must(sampled_intervals__item(&s, &sampling), sampled_intervals__item(&s, &span),
	     sampled_intervals__item(&s, &sample));
	assert_int_equal(s.n, 1);
}

/* Job 1 is of one, and 2 within it of another. */
TEST_CASE(a_query_whose_executions_are_recorded_has_no_intervals_by_samples)
{
	_sampled_intervals_ struct sampled_intervals s = {.job = job, .take = take, .is_on = true};
	const struct trace_item span = {.kind = TRACE_ITEM_SPAN, .span = {.label = 101}};
	struct trace_item sample = {.kind = TRACE_ITEM_SAMPLE, .sample = {.job = 2, .time_ns = 10}};

	*given = '\0';
	for (int i = 0; i < 2; i++, sample.sample.time_ns++)
		assert_int_equal(sampled_intervals__item(&s, &sample), 0);
	/* Even after the samples in it. */
	must(sampled_intervals__item(&s, &span), sampled_intervals__over(&s, TRACE_NO_PROCESS));
	assert_string_equal(given, "0/0:2@1 10-11 x2; ");
}

/* Times that go back, jobs around themselves, and such that are not known. */
TEST_CASE(a_trace_that_lies_makes_intervals_all_the_same)
{
	RUN(AT(30, 1), AT(10, 2), AT(20, 2), AT(5, 1));
	assert_string_equal(given, "0/0:2@1 30-30 x2; 0/0:1@0 30-30 x4; ");
	RUN(AT(10, 7), AT(12, 7), AT(14, 8), AT(16, 8), AT(18, 50), AT(20, 9), AT(22, 9));
	assert_string_equal(given, "0/0:7@0 10-12 x2; 0/0:8@0 14-16 x2; 0/0:9@0 20-22 x2; ");
	RUN(OFF(10, 1, UINT64_MAX), AT(12, 1));
	assert_string_equal(given, "0/0:1@0 10-12 x2; ");
}

static const struct trace_job *deep(const void *ctx, uint32_t id)
{
	static struct trace_job of;

	of = (struct trace_job){.query = id, .parent = id - 1};
	return &of;
}

static int count(void *ctx, const struct sampled_interval *i)
{
	++*(unsigned int *)ctx;
	return 0;
}

TEST_CASE(depth_is_bounded)
{
	unsigned int n = 0;
	_sampled_intervals_ struct sampled_intervals s = {
		.job = deep, .take = count, .take_ctx = &n};
	const struct trace_sample sample = {.job = 1000000, .cause = TRACE_SAMPLE_CPU};

	for (int i = 0; i < 3; i++)
		assert_int_equal(sampled_intervals__sample(&s, &sample), 0);
	assert_int_equal(sampled_intervals__over(&s, TRACE_NO_PROCESS), 0);
	assert_int_equal(n, SAMPLED_DEPTH_MAX);
}

TEST_CASE(an_error_of_the_receiver_is_returned)
{
	_sampled_intervals_ struct sampled_intervals s = {.job = job, .take = take, .take_ctx = &s};
	struct trace_sample sample = {.job = 2, .cause = TRACE_SAMPLE_CPU};

	*given = '\0';
	must(sampled_intervals__sample(&s, &sample), sampled_intervals__sample(&s, &sample));
	sample.job = 5;
	assert_int_equal(sampled_intervals__sample(&s, &sample), -ENOSPC);
}

/* ---- Stack intervals ------------------------------------------------------------------------- */

#define NONE STACK_INTERVAL_NONE

static const struct trace_stack entries[] = {
	[1] = {.kind = TRACE_STACK_LOCATION, .place = 10},
	[2] = {.parent = 1, .kind = TRACE_STACK_QUERY, .place = 7},
	[3] = {.parent = 2, .kind = TRACE_STACK_LOCATION, .place = 11},
	[4] = {.parent = 3, .kind = TRACE_STACK_UNKNOWN},
	[5] = {.parent = 4, .kind = TRACE_STACK_LOCATION, .place = 12},
	[6] = {.parent = 5, .kind = TRACE_STACK_HASHING, .place = 7},
	[7] = {.parent = 1, .kind = TRACE_STACK_UNKNOWN},
	[8] = {.parent = 2, .kind = TRACE_STACK_ACTIVITY, .place = 8},
	/* No reader returns these. */
	[9] = {.parent = 9, .kind = TRACE_STACK_QUERY, .place = 9},
	[10] = {.parent = 2, .kind = TRACE_STACK_KINDS, .place = 9},
};

static const struct trace_stack *entry(const void *ctx, uint32_t id)
{
	return id && id < N_OF(entries) ? &entries[id] : NULL;
}

static uint32_t find(struct stack_intervals *s, uint32_t stack)
{
	uint32_t interval;

	assert_int_equal(stack_intervals__find(s, stack, &interval), 0);
	return interval;
}

TEST_CASE(a_stack_has_an_innermost_interval)
{
	_stack_intervals_ struct stack_intervals s = {.source = {.entry = entry}};
	const struct stack_interval *at;

	/* In any order. */
	find(&s, 10);
	assert_int_equal(find(&s, 5), find(&s, 4));
	assert_int_equal(find(&s, 1), NONE);
	assert_int_equal(find(&s, TRACE_NO_STACK), NONE);
	at = &s.at[find(&s, 3)];
	assert_struct(*at, label, 7, kind, TRACE_KIND_QUERY, outer, NONE);
	at = &s.at[find(&s, 6)];
	assert_struct(*at, kind, TRACE_KIND_HASHING, outer, find(&s, 4));
	assert_int_equal(s.at[find(&s, 8)].kind, TRACE_KIND_ACTIVITY);
}

TEST_CASE(an_unknown_execution_belongs_to_what_is_around)
{
	_stack_intervals_ struct stack_intervals s = {.source = {.entry = entry}};

	find(&s, 10); /* `at` does not move any more */
	assert_struct(s.at[find(&s, 5)], is_unknown, true, known, find(&s, 2));
	assert_int_equal(s.at[find(&s, 7)].known, NONE);
	assert_int_equal(s.at[find(&s, 2)].known, find(&s, 2));
}

/* Hashing is a part of its query. */
TEST_CASE(the_outermost_of_a_label_is_first)
{
	_stack_intervals_ struct stack_intervals s = {.source = {.entry = entry}};
	bool hidden[8] = {}, first[8];

	find(&s, 8);
	assert_int_equal(stack_intervals__first(&s, hidden, first), 0);
	assert_true(first[find(&s, 2)]);
	assert_false(first[find(&s, 4)]);
	assert_false(first[find(&s, 6)]);
	assert_true(first[find(&s, 8)]);
	hidden[find(&s, 2)] = true;
	assert_int_equal(stack_intervals__first(&s, hidden, first), 0);
	assert_false(first[find(&s, 2)]);
	assert_true(first[find(&s, 6)]);
}

TEST_CASE(entries_that_lie_end_nothing)
{
	_stack_intervals_ struct stack_intervals s = {.source = {.entry = entry}};
	_stack_intervals_ struct stack_intervals none = {};

	assert_int_equal(find(&s, UINT32_MAX), NONE);
	assert_int_equal(s.n_of, 0);
	find(&s, 10);
	assert_int_equal(s.at[find(&s, 9)].outer, NONE);
	assert_int_equal(find(&s, 10), find(&s, 2));
	assert_int_equal(find(&none, 3), NONE);
}

/* ---- Explained ------------------------------------------------------------------------------- */

static bool explained_take(struct explained *e, uint32_t tid, uint16_t depth, uint64_t ns)
{
	const struct trace_span s = {.tid = tid, .depth = depth, .end_ns = ns};

	return explained__take(e, &s, ns, true);
}

TEST_CASE(of_many_around_each_other_the_innermost_is_named)
{
	_explained_ struct explained e = {};

	assert_true(explained_take(&e, 7, 5, 100));
	for (uint16_t depth = 5; depth--;)
		assert_false(explained_take(&e, 7, depth, 110 + 2 * (5 - depth)));
}

TEST_CASE(an_interval_with_half_of_its_time_is_named)
{
	_explained_ struct explained e = {};

	assert_true(explained_take(&e, 7, 2, 100));
	assert_true(explained_take(&e, 7, 1, 200));
	/* All of the one within is explained now. */
	assert_false(explained_take(&e, 7, 0, 399));
}

TEST_CASE(what_several_explain_together_is_explained)
{
	_explained_ struct explained e = {};

	for (int i = 0; i < 6; i++)
		assert_true(explained_take(&e, 7, 2, 100));
	assert_false(explained_take(&e, 7, 1, 1000));
	/* 600 of it are. */
	assert_true(explained_take(&e, 7, 0, 1200));
}

TEST_CASE(neighbours_and_other_threads_explain_nothing)
{
	_explained_ struct explained e = {};

	assert_true(explained_take(&e, 7, 1, 100));
	assert_true(explained_take(&e, 8, 0, 100));
	assert_true(explained_take(&e, 7, 1, 100));
	assert_false(explained_take(&e, 7, 0, 300));
	assert_true(explained_take(&e, 7, 0, 300));
}

/* Of an interval that is only long with the time of probes. */
TEST_CASE(one_that_may_not_be_named_hands_on_what_is_explained)
{
	const struct trace_span s = {.tid = 7, .depth = 1, .end_ns = 100};
	_explained_ struct explained e = {};

	assert_true(explained_take(&e, 7, 2, 100));
	assert_false(explained__take(&e, &s, 90, false));
	assert_false(explained_take(&e, 7, 0, 150));
}

TEST_MAIN(NULL, NULL)
