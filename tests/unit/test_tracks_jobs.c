// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/jobs.h"

#include "test.h"

#define TYPECK	 11u
#define BORROWCK 12u

static struct {
	struct jobs jobs;
	struct keys keys;
	struct trace_job out[2 * TRACE_JOB_DEPTH_MAX];
	uint32_t n;
	uint32_t most; /* that the trace holds */
} w;

static int on_job(void *ctx, const struct trace_job *job, uint64_t key, uint32_t *id)
{
	*id = TRACE_NO_JOB;
	if (w.n == w.most)
		return 0;
	w.out[w.n++] = *job;
	*id = w.n;
	return 0;
}

static int setup(void **state)
{
	memset(&w, 0, sizeof(w));
	w.most = N_OF(w.out);
	return 0;
}

static int teardown(void **state)
{
	jobs__clear(&w.jobs);
	keys__clear(&w.keys);
	return 0;
}

static void note(uint64_t job, uint64_t parent, uint16_t query, uint64_t key)
{
	const struct wire_job r = {
		.type = WIRE_JOB, .job = job, .parent = parent, .query = query, .key = key};

	assert_int_equal(jobs__note(&w.jobs, &r), 0);
}

static uint32_t in_trace(uint64_t number)
{
	static uint32_t labels[] = {TYPECK, BORROWCK, TRACKS_NO_LABEL};
	static uint8_t types[] = {WIRE_KEY_LOCAL, WIRE_KEY_LOCAL, WIRE_KEY_LOCAL};
	static const struct tracks_sink sink = {.job = on_job};
	const struct library library = {.labels = labels, .n_labels = N_OF(labels), .keys = types};
	const struct jobs_context c = {
		.sink = &sink, .library = &library, .keys = &w.keys, .process = 5};
	uint32_t id = 99;

	assert_int_equal(jobs__in_trace(&w.jobs, &c, number, &id), 0);
	return id;
}

static void the_jobs_around_come_first(void **state)
{
	note(300, 200, 1, wire_key(WIRE_KEY_LOCAL_CRATE, 7));
	note(100, 0, 0, 0);
	note(200, 100, 0, wire_key(WIRE_KEY_LOCAL_CRATE, 7));
	assert_int_equal(in_trace(300), 3);
	assert_int_equal(w.n, 3);
	assert_int_equal(w.out[0].query, TYPECK);
	assert_int_equal(w.out[0].parent, TRACE_NO_JOB);
	assert_int_equal(w.out[0].invocation, TRACE_NO_INVOCATION);
	assert_int_equal(w.out[1].parent, 1);
	assert_int_equal(w.out[2].parent, 2);
	assert_int_equal(w.out[2].query, BORROWCK);
	assert_int_equal(w.out[2].process, 5);
	/* Each has an id of its own, to be mapped to the name of its key. */
	assert_int_equal(w.out[1].invocation, KEYS_OWN_IDS);
	assert_int_equal(w.out[2].invocation, KEYS_OWN_IDS + 1);
}

static void a_job_is_in_the_trace_once(void **state)
{
	note(1, 0, 0, 0);
	note(2, 1, 1, 0);
	note(2, 1, 1, 0);
	assert_int_equal(in_trace(1), 1);
	assert_int_equal(in_trace(2), 2);
	assert_int_equal(in_trace(2), 2);
	assert_int_equal(w.n, 2);
	assert_int_equal(w.out[1].query, BORROWCK);
	/* Of another context, whose jobs have the same numbers. */
	note(2, 7, 0, 0);
	assert_int_equal(in_trace(2), 3);
	assert_int_equal(w.out[2].query, TYPECK);
}

static void an_unknown_job_is_none(void **state)
{
	note(1, 0, 2, 0);
	note(2, 0, 500, 0);
	assert_int_equal(in_trace(0), TRACE_NO_JOB);
	assert_int_equal(in_trace(9), TRACE_NO_JOB);
	assert_int_equal(in_trace(1), TRACE_NO_JOB);
	assert_int_equal(in_trace(2), TRACE_NO_JOB);
	assert_int_equal(w.n, 0);
}

static void an_unknown_job_around_is_none(void **state)
{
	note(4, 3, 0, 0);
	assert_int_equal(in_trace(4), 1);
	assert_int_equal(w.out[0].parent, TRACE_NO_JOB);
}

static void a_circle_ends(void **state)
{
	note(1, 2, 0, 0);
	note(2, 1, 0, 0);
	assert_int_not_equal(in_trace(1), TRACE_NO_JOB);
	assert_int_equal(w.n, 2);
	assert_int_equal(w.out[0].parent, TRACE_NO_JOB);
}

/* At once, or in parts. */
static void a_chain_has_an_end(void **state)
{
	const uint32_t n = 3 * TRACE_JOB_DEPTH_MAX / 2;
	uint32_t depth[2 * TRACE_JOB_DEPTH_MAX + 1] = {0};

	for (uint32_t i = 1; i <= n; i++)
		note(i, i - 1, 0, 0);
	in_trace(TRACE_JOB_DEPTH_MAX - 1);
	assert_int_not_equal(in_trace(n), TRACE_NO_JOB);
	/* One is too deep. */
	assert_int_equal(w.n, n - 1);
	for (uint32_t i = 0; i < w.n; i++) {
		assert_in_range(w.out[i].parent, 0, i);
		depth[i + 1] = depth[w.out[i].parent] + 1;
		assert_in_range(depth[i + 1], 1, TRACE_JOB_DEPTH_MAX);
	}
	assert_int_equal(depth[TRACE_JOB_DEPTH_MAX], TRACE_JOB_DEPTH_MAX);
}

static void a_full_trace_has_no_further_job(void **state)
{
	w.most = 1;
	note(1, 0, 0, 0);
	note(2, 1, 0, 0);
	assert_int_equal(in_trace(2), TRACE_NO_JOB);
	assert_int_equal(in_trace(1), 1);
	/* It is not tried again. */
	w.most = 2;
	assert_int_equal(in_trace(2), TRACE_NO_JOB);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_jobs_around_come_first),
		TEST(a_job_is_in_the_trace_once),
		TEST(an_unknown_job_is_none),
		TEST(an_unknown_job_around_is_none),
		TEST(a_circle_ends),
		TEST(a_chain_has_an_end),
		TEST(a_full_trace_has_no_further_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
