// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The jobs of samples, as the test program's tables of active jobs say. Tables that lie, or change
 * while they are read, make a job unknown, which is counted; the sample comes all the same, and the
 * jobs behind it are known again.
 */
#include "jobs_of_target.h"
#include "sampled_target.h"

/* The name of a query is at an address of its own. */
static void complete(struct plan *plan)
{
	uint64_t text = address_of(w.syms, w.n_syms, "body_alpha");

	plan->layout.wire.current = (struct wire_layout_current){
		.offset = address_of(w.syms, w.n_syms, "jobs_current_offset"),
		.context = JOBS_CONTEXT,
		.known = 1,
	};
	plan->jobs = (struct plan_jobs){
		.current = JOBS_CURRENT, .ctrl = JOBS_CTRL, .mask = JOBS_MASK, .known = true};
	plan->tables = (struct wire_tables){.n = plan->n_queries,
					    .items = JOBS_ITEMS,
					    .mode = JOBS_MODE,
					    .sharded = JOBS_SHARDED,
					    .n_shards = JOBS_SHARDS,
					    .shard_size = JOBS_SHARD};
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		plan->queries[i].key = WIRE_KEY_LOCAL;
		plan->queries[i].table = (struct wire_query_table){
			.text = text + i,
			.length = JOBS_NAME_LENGTH,
			.name = jobs_table(i) + JOBS_NAME,
			.active = jobs_table(i),
			.kind = WIRE_CACHE_ONCE,
		};
		plan->queries[i].active = (struct plan_job_entry){.size = JOBS_ENTRY,
								  .key = JOBS_KEY,
								  .job = JOBS_JOB,
								  .parent = JOBS_PARENT};
	}
}

/* Where the globals would be is not read. */
static void complete_with_globals(struct plan *plan)
{
	complete(plan);
	plan->layout.wire.globals = plan->layout.wire.current.offset;
}

/* What a thread does in its job, and the samples that it has there. */
struct doing {
	struct sampling_options sampling;
	const char *script, *leaf;
	enum wire_sample_cause cause;
};

static const struct doing spinning = {{.hz = HZ}, "F40", "chain_spin", WIRE_SAMPLE_CPU};
static const struct doing waiting = {
	{.off_cpu = true}, "Q20000", "chain_sleep", WIRE_SAMPLE_OFF_CPU};
static const struct doing touching = {
	{.fault_period = 10}, "P200", "chain_touch", WIRE_SAMPLE_FAULT};

/* Of the samples there, those with the job, or with none. */
static size_t samples_in(const struct doing *d, uint64_t job)
{
	size_t n = 0;

	for (size_t i = 0; i < w.n; i++)
		n += w.samples[i].job == job && w.samples[i].cause == d->cause &&
		     find(&w.samples[i], 0, d->leaf) < w.samples[i].n;
	return n;
}

/* A job has its own key, not that of a job that had the same entry before or has it later. */
static void check_job(const struct wire_job *j)
{
	assert_int_equal(j->pid, w.c.pid);
	assert_int_equal(j->lib, w.c.lib);
	assert_true(j->parent < j->job);
	if (j->job >= jobs_outer(JOBS_TRUTH))
		assert_int_equal(j->key, wire_key(WIRE_KEY_LOCAL_CRATE, jobs_key_of(j->job)));
}

/* The record of a job, which comes once at most; NULL: there is none. */
static const struct wire_job *find_job(uint64_t job)
{
	const struct wire_job *found = NULL;

	for (size_t i = 0; i < w.n_jobs; i++) {
		check_job(&w.jobs[i]);
		if (w.jobs[i].job != job)
			continue;
		assert_null(found);
		found = &w.jobs[i];
	}
	return found;
}

static void assert_job(uint64_t job, uint64_t parent, uint32_t query)
{
	const struct wire_job *j = find_job(job);

	assert_non_null(j);
	assert_int_equal(j->parent, parent);
	assert_int_equal(j->query, query);
}

static void assert_true_jobs(enum jobs_lie lie)
{
	assert_job(jobs_outer(lie), 0, JOBS_OUTER_QUERY);
	assert_job(jobs_inner(lie), jobs_outer(lie), JOBS_INNER_QUERY);
}

/* The lie, and the truth behind it, until both had samples, which say `job` in the lie. */
static size_t run_lie(const struct doing *d, enum jobs_lie lie, uint64_t job)
{
	char script[64];
	size_t n = 0;

	w.complete = complete;
	open_with(&d->sampling);
	snprintf(script, sizeof(script), ".j%d(%s)j%d(%s)", lie, d->script, JOBS_TRUTH, d->script);
	for (int i = 0; i < TRIES && !(n && samples_in(d, jobs_inner(JOBS_TRUTH))); i++) {
		if (i)
			end_run();
		run_once(script);
		n = samples_in(d, job);
		assert_int_equal(w.c.counters[WIRE_LOST_SAMPLES_RING], 0);
	}
	assert_true(n > 0);
	assert_true_jobs(JOBS_TRUTH);
	return n;
}

TEST_CASE_WITH(jobs_around_come_with_their_keys, NULL, teardown)
{
	need_capture();
	run_lie(&spinning, JOBS_TRUTH, jobs_inner(JOBS_TRUTH));
	assert_int_equal(w.n_jobs, 2);
	assert_int_equal(w.c.counters[WIRE_LOST_JOBS], 0);
}

/* No tick met these jobs. */
TEST_CASE_WITH(waits_and_page_faults_have_their_jobs_too, NULL, teardown)
{
	static const struct doing *const all[] = {&waiting, &touching};

	need_capture();
	for (size_t i = 0; i < N_OF(all); i++) {
		run_lie(all[i], JOBS_TRUTH, jobs_inner(JOBS_TRUTH));
		assert_int_equal(w.n_jobs, 2);
		assert_int_equal(w.c.counters[WIRE_LOST_JOBS], 0);
		teardown(state);
	}
}

/*
 * The first query, whose result is hashed, has a probe; executions are not recorded. Samples show
 * where the context is; the wait itself has no stack. One that is too short is not sent.
 */
TEST_CASE_WITH(waits_without_stacks_have_their_jobs, NULL, teardown)
{
	static const char *const list = "default,incr-result-hashing";
	const struct sampling_options sampling = {.hz = HZ};
	_filter_ struct filter *filter = NULL;
	size_t n = 0, without = 0;

	need_capture();
	assert_int_equal(filter__new(&list, 1, &filter), 0);
	w.filter = filter;
	w.complete = complete_with_globals;
	open_with(&sampling);
	for (int i = 0; i < TRIES && !n; i++) {
		if (i)
			end_run();
		run_once(".ij0(F40Z20000Z1)Z30000");
		for (size_t k = without = 0; k < w.n; k++) {
			const struct wire_sample *s = &w.samples[k];

			if (s->cause != WIRE_SAMPLE_OFF_CPU)
				continue;
			assert_int_equal(s->n, 0);
			assert_int_equal(s->pid, w.c.pid);
			assert_in_range(s->value, 50000, UINT64_MAX);
			n += s->value >= 20000000 && s->job == jobs_inner(JOBS_TRUTH) &&
			     s->job_lib == w.c.lib;
			without += s->value >= 30000000 && !s->job;
		}
	}
	assert_int_equal(n, 1);
	assert_int_equal(without, 1);
	assert_true_jobs(JOBS_TRUTH);
	w.filter = NULL;
}

/* Each lost job is one of a sample: most switches make none. */
TEST_CASE_WITH(short_waits_lose_no_jobs, NULL, teardown)
{
	static const char *const list = "default,incr-result-hashing";
	const struct sampling_options sampling = {.hz = HZ};
	_filter_ struct filter *filter = NULL;
	char script[128], *end = script;
	size_t n = 0;

	need_capture();
	assert_int_equal(filter__new(&list, 1, &filter), 0);
	w.filter = filter;
	w.complete = complete_with_globals;
	open_with(&sampling);
	end += sprintf(end, ".ij%d(F40", JOBS_FULL);
	for (int i = 0; i < 40; i++)
		end = stpcpy(end, "Z1");
	strcpy(end, ")");
	run_once(script);
	for (size_t k = 0; k < w.n; k++)
		n += w.samples[k].job == jobs_inner(JOBS_FULL);
	assert_in_range(w.c.counters[WIRE_LOST_JOBS], 0, n);
	w.filter = NULL;
}

TEST_CASE_WITH(those_in_jobs_that_no_table_has_are_counted, NULL, teardown)
{
	static const struct doing *const all[] = {&waiting, &touching};

	need_capture();
	for (size_t i = 0; i < N_OF(all); i++) {
		size_t n = run_lie(all[i], JOBS_FULL, jobs_inner(JOBS_FULL));

		assert_null(find_job(jobs_inner(JOBS_FULL)));
		assert_in_range(w.c.counters[WIRE_LOST_JOBS], n, SIZE_MAX);
		teardown(state);
	}
}

/* Samples in executions that no table has. All runs are counted. */
TEST_CASE_WITH(lies_make_jobs_unknown, NULL, teardown)
{
	static const enum jobs_lie lies[] = {
		JOBS_NAMES_ELSEWHERE, JOBS_CONTEXT_NOWHERE, JOBS_CONTEXT_NULL, JOBS_CTRL_NOWHERE,
		JOBS_CTRL_KERNEL,     JOBS_MASK_2_60,	    JOBS_ITEMS_2_60,   JOBS_SHARDS_NOWHERE,
		JOBS_SHARDS_SELF,     JOBS_PARENT_SELF,	    JOBS_YOUNGER,      JOBS_FULL,
		JOBS_FULL_SHARDS,
	};

	need_capture();
	for (size_t i = 0; i < N_OF(lies); i++) {
		size_t n = run_lie(&spinning, lies[i], jobs_inner(lies[i]));

		assert_null(find_job(jobs_inner(lies[i])));
		assert_in_range(w.c.counters[WIRE_LOST_JOBS], n, SIZE_MAX);
		teardown(state);
	}
}

TEST_CASE_WITH(what_a_thread_has_is_nowhere, NULL, teardown)
{
	size_t n;

	need_capture();
	n = run_lie(&spinning, JOBS_CURRENT_NOWHERE, 0);
	assert_in_range(w.c.counters[WIRE_LOST_JOBS], n, SIZE_MAX);
}

TEST_CASE_WITH(of_a_circle_one_job_is_known, NULL, teardown)
{
	need_capture();
	run_lie(&spinning, JOBS_CIRCLE, jobs_inner(JOBS_CIRCLE));
	assert_null(find_job(jobs_outer(JOBS_CIRCLE)));
	assert_job(jobs_inner(JOBS_CIRCLE), jobs_outer(JOBS_CIRCLE), JOBS_INNER_QUERY);
}

TEST_CASE_WITH(tables_may_change_meanwhile, NULL, teardown)
{
	need_capture();
	run_lie(&spinning, JOBS_MOVING, jobs_inner(JOBS_MOVING));
	if (find_job(jobs_inner(JOBS_MOVING)))
		assert_job(jobs_inner(JOBS_MOVING), jobs_outer(JOBS_MOVING), JOBS_INNER_QUERY);
	else
		assert_true(w.c.counters[WIRE_LOST_JOBS] > 0);
}

TEST_MAIN(make_cache, remove_cache)
