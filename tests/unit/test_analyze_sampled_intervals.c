// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/sampled_intervals.h"

#include <errno.h>

#include "test.h"
#include "base/array.h"

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

	assert_int_equal(i->span.flags, TRACE_SPAN_SAMPLED);
	assert_int_equal(i->span.kind, TRACE_KIND_QUERY);
	assert_int_equal(i->span.label, jobs[i->job].query);
	assert_int_equal(i->span.invocation, jobs[i->job].invocation);
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
		const struct trace_sample sample = {
			.time_ns = rows[i].time_ns,
			.value = rows[i].off_ns ?: 2,
			.process = rows[i].process,
			.tid = rows[i].tid,
			.job = rows[i].job,
			.cause = rows[i].off_ns ? TRACE_SAMPLE_OFF_CPU : TRACE_SAMPLE_CPU,
		};

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

static void an_execution_that_several_samples_met_is_an_interval(void **state)
{
	RUN(AT(10, 1), AT(12, 1), AT(14, 1));
	assert_string_equal(given, "0/0:1@0 10-14 x3; ");
	RUN(AT(10, 1));
	assert_string_equal(given, "");
}

static void samples_within_count_for_what_is_around(void **state)
{
	RUN(AT(10, 1), AT(12, 3), AT(14, 3), AT(16, 2), AT(18, 5), AT(20, 1));
	assert_string_equal(given, "0/0:3@2 12-14 x2; 0/0:2@1 12-16 x3; 0/0:1@0 10-20 x6; ");
}

static void the_same_query_within_itself_is_another_execution(void **state)
{
	RUN(AT(10, 4), AT(12, 3), AT(14, 4), AT(16, 3));
	assert_string_equal(given, "0/0:3@2 10-16 x4; 0/0:2@1 10-16 x4; 0/0:1@0 10-16 x4; ");
	RUN(AT(10, 4), AT(12, 4), AT(14, 3));
	assert_string_equal(
		given, "0/0:4@3 10-12 x2; 0/0:3@2 10-14 x3; 0/0:2@1 10-14 x3; 0/0:1@0 10-14 x3; ");
}

static void a_wait_ends_no_interval(void **state)
{
	/* Off the CPU, and sampled there or not. */
	RUN(AT(10, 1), AT(12, 2), OFF(14, 2, 5000), AT(9000, 2), AT(9002, 1));
	assert_string_equal(given, "0/0:2@1 12-9000 x3; 0/0:1@0 10-9002 x5; ");
	RUN(AT(10, 1), OFF(12, 1, 100));
	assert_string_equal(given, "0/0:1@0 10-112 x2; ");
}

static void a_sample_without_a_job_says_nothing(void **state)
{
	RUN(AT(10, 1), AT(12, 0), AT(14, 1), AT(16, 0), AT(18, 0));
	assert_string_equal(given, "0/0:1@0 10-14 x2; ");
}

static void threads_and_processes_are_apart(void **state)
{
	RUN(ON(10, 1, 5, 0), ON(10, 1, 6, 0), ON(11, 1, 5, 1), ON(12, 1, 5, 0), ON(13, 1, 6, 0),
	    ON(14, 6, 5, 0), ON(16, 6, 5, 0), ON(18, 1, 5, 1));
	assert_string_equal(given, "0/5:1@0 10-12 x2; 1/5:1@0 11-18 x2; 0/6:1@0 10-13 x2; "
				   "0/5:6@0 14-16 x2; ");
}

static void a_process_that_is_over_is_forgotten(void **state)
{
	struct sampled_intervals s = {.job = job, .take = take};
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
	sampled_intervals__destroy(&s);
}

static void only_samples_of_a_trace_without_probes_in_queries_count(void **state)
{
	struct sampled_intervals s = {.job = job, .take = take};
	struct trace_item sampling = {.kind = TRACE_ITEM_SAMPLING};
	const struct trace_item sample = {.kind = TRACE_ITEM_SAMPLE, .sample = {.job = 1}};
	const struct trace_item span = {.kind = TRACE_ITEM_SPAN};

	for (int i = 0; i < 2; i++)
		assert_int_equal(sampled_intervals__item(&s, &sample), 0);
	assert_int_equal(sampled_intervals__item(&s, &sampling), 0);
	assert_int_equal(sampled_intervals__item(&s, &sample), 0);
	assert_int_equal(s.n, 0);
	sampling.sampling.queries = true;
	assert_int_equal(sampled_intervals__item(&s, &sampling), 0);
	assert_int_equal(sampled_intervals__item(&s, &span), 0);
	assert_int_equal(sampled_intervals__item(&s, &sample), 0);
	assert_int_equal(s.n, 1);
	sampled_intervals__destroy(&s);
}

/* Job 1 is of one, and 2 within it of another. */
static void a_query_whose_executions_are_recorded_has_no_intervals_by_samples(void **state)
{
	struct sampled_intervals s = {.job = job, .take = take, .is_on = true};
	const struct trace_item span = {.kind = TRACE_ITEM_SPAN, .span = {.label = 101}};
	struct trace_item sample = {.kind = TRACE_ITEM_SAMPLE, .sample = {.job = 2, .time_ns = 10}};

	*given = '\0';
	for (int i = 0; i < 2; i++, sample.sample.time_ns++)
		assert_int_equal(sampled_intervals__item(&s, &sample), 0);
	/* Even after the samples in it. */
	assert_int_equal(sampled_intervals__item(&s, &span), 0);
	assert_int_equal(sampled_intervals__over(&s, TRACE_NO_PROCESS), 0);
	assert_string_equal(given, "0/0:2@1 10-11 x2; ");
	sampled_intervals__destroy(&s);
}

/* Times that go back, jobs around themselves, and such that are not known. */
static void a_trace_that_lies_makes_intervals_all_the_same(void **state)
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

static void depth_is_bounded(void **state)
{
	unsigned int n = 0;
	struct sampled_intervals s = {.job = deep, .take = count, .take_ctx = &n};
	const struct trace_sample sample = {.job = 1000000, .cause = TRACE_SAMPLE_CPU};

	for (int i = 0; i < 3; i++)
		assert_int_equal(sampled_intervals__sample(&s, &sample), 0);
	assert_int_equal(sampled_intervals__over(&s, TRACE_NO_PROCESS), 0);
	assert_int_equal(n, SAMPLED_DEPTH_MAX);
	sampled_intervals__destroy(&s);
}

static void an_error_of_the_receiver_is_returned(void **state)
{
	struct sampled_intervals s = {.job = job, .take = take, .take_ctx = &s};
	struct trace_sample sample = {.job = 2, .cause = TRACE_SAMPLE_CPU};

	*given = '\0';
	assert_int_equal(sampled_intervals__sample(&s, &sample), 0);
	assert_int_equal(sampled_intervals__sample(&s, &sample), 0);
	sample.job = 5;
	assert_int_equal(sampled_intervals__sample(&s, &sample), -ENOSPC);
	sampled_intervals__destroy(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_execution_that_several_samples_met_is_an_interval),
		cmocka_unit_test(samples_within_count_for_what_is_around),
		cmocka_unit_test(the_same_query_within_itself_is_another_execution),
		cmocka_unit_test(a_wait_ends_no_interval),
		cmocka_unit_test(a_sample_without_a_job_says_nothing),
		cmocka_unit_test(threads_and_processes_are_apart),
		cmocka_unit_test(a_process_that_is_over_is_forgotten),
		cmocka_unit_test(only_samples_of_a_trace_without_probes_in_queries_count),
		cmocka_unit_test(a_query_whose_executions_are_recorded_has_no_intervals_by_samples),
		cmocka_unit_test(a_trace_that_lies_makes_intervals_all_the_same),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(an_error_of_the_receiver_is_returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
