// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The test process stands for the compiler; its CPU time is real. */
#include "budget/estimates.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test.h"
#include "base/clock.h"

#define LIB	3
#define QUERIES 2
#define RATE	1000000.0

struct reports {
	struct estimates *estimates;
	unsigned int n[QUERIES];
	uint64_t events[QUERIES];
	double cpu_s; /* of LIB */
};

/* The estimates of the test, and their reports. */
static struct reports seen;

static struct rates_query learnt[QUERIES];
static struct rates rates = {.n = QUERIES, .queries = learnt};

static int on_estimated(void *ctx, pid_t pid, uint32_t query, uint64_t events)
{
	struct reports *r = ctx;

	assert_int_equal(pid, getpid());
	assert_in_range(query, 0, QUERIES - 1);
	r->n[query]++;
	r->events[query] = events;
	return 0;
}

static void on_used_cpu(void *ctx, uint8_t lib, double cpu_s)
{
	struct reports *r = ctx;

	assert_int_equal(lib, LIB);
	r->cpu_s += cpu_s;
}

/* Both queries are watched at first. */
static void begin(bool wrapped)
{
	const struct estimates_sink sink = {&seen, on_estimated, on_used_cpu};

	seen = (struct reports){0};
	memset(learnt, 0, sizeof(learnt));
	assert_int_equal(estimates__new(&sink, &seen.estimates), 0);
	assert_int_equal(estimates__reserve(seen.estimates, QUERIES), 0);
	for (uint32_t i = 0; i < QUERIES; i++) {
		const struct estimates_query q = {LIB, i, wrapped, true, true};

		estimates__add_query(seen.estimates, &q, &rates);
		estimates__begin(seen.estimates, i, true, RATE, 0);
	}
}

static void add_self(bool incremental)
{
	assert_int_equal(estimates__add_process(seen.estimates, getpid(), incremental,
						clock_ns(CLOCK_MONOTONIC)),
			 0);
}

/* Use at least 5 ms of CPU time. */
static void work(void)
{
	clock_t until = clock() + CLOCKS_PER_SEC / 200;

	while (clock() < until)
		;
}

static void see(uint32_t query, uint32_t invocation)
{
	const struct wire_span span = {
		.type = WIRE_SPAN,
		.pid = (uint32_t)getpid(),
		.lib = LIB,
		.query = (uint16_t)query,
		.invocation = invocation,
	};

	estimates__saw_span(seen.estimates, query, &span);
}

static void end(void)
{
	assert_int_equal(estimates__remove_all(seen.estimates), 0);
	assert_int_equal(estimates__n_processes(seen.estimates), 0);
	estimates__free(seen.estimates);
}

static void a_query_without_a_gap_has_no_estimate(void **state)
{
	begin(false);
	add_self(false);
	see(0, 1);
	work();
	end();
	assert_int_equal(seen.n[0] + seen.n[1], 0);
	assert_int_equal((int)learnt[0].executions, 1);
	assert_true(learnt[0].cpu_s > 0 && learnt[1].cpu_s > 0);
	assert_true(seen.cpu_s >= learnt[0].cpu_s);
}

static void a_gap_is_estimated_by_the_rates_before_and_after(void **state)
{
	uint64_t before_ns, gap_us;

	begin(false);
	add_self(false);
	before_ns = estimates__cpu_ns(seen.estimates);
	for (uint32_t i = 0; i < QUERIES; i++)
		estimates__open_gap(seen.estimates, i, RATE, 1);
	work();
	estimates__advance(seen.estimates);
	gap_us = (estimates__cpu_ns(seen.estimates) - before_ns) / 1000;
	for (uint32_t i = 0; i < QUERIES; i++) {
		estimates__watch(seen.estimates, i);
		estimates__close_gap(seen.estimates, i, i ? 0 : RATE);
	}
	assert_true(estimates__rate_before(seen.estimates, 0) == RATE);
	assert_true(estimates__rate_before(seen.estimates, 1) == 0);
	work();
	end();
	assert_int_equal(seen.n[0], 1);
	assert_int_equal(seen.n[1], 1);
	/* RATE is one execution per microsecond. */
	assert_true(gap_us >= 4900);
	assert_in_range(seen.events[0], gap_us - 1, gap_us + 1);
	/* The mean of RATE and 0 is half of it. */
	assert_in_range(2 * seen.events[1], gap_us - 2, gap_us + 2);
}

/* An estimate of 0 marks the count as not exact. */
static void a_gap_without_cpu_time_is_reported_too(void **state)
{
	begin(false);
	add_self(false);
	estimates__open_gap(seen.estimates, 1, 0, 1);
	estimates__watch(seen.estimates, 1);
	estimates__close_gap(seen.estimates, 1, 0);
	end();
	assert_int_equal(seen.n[1], 1);
	assert_int_equal(seen.events[1], 0);
}

static void ids_are_only_a_limit_in_incremental_compilers(void **state)
{
	for (int incremental = 0; incremental < 2; incremental++) {
		begin(false);
		add_self(incremental);
		estimates__open_gap(seen.estimates, 1, RATE, 1);
		see(0, 100);
		work();
		end();
		assert_int_equal(seen.events[1], incremental ? 99 : 92);
	}
}

/* WIRE_COUNTED_STEP executions, long after the starts were detached. */
static void wrapped_queries_that_are_counted_need_no_estimate(void **state)
{
	const struct wire_counted counted = {
		.type = WIRE_COUNTED,
		.pid = (uint32_t)getpid(),
		.lib = LIB,
		.query = 1,
		.n = WIRE_COUNTED_STEP,
		.time_ns = 1000000000,
	};

	for (int wrapped = 0; wrapped < 2; wrapped++) {
		begin(wrapped);
		add_self(true);
		estimates__open_gap(seen.estimates, 1, RATE, 1);
		estimates__saw_counted(seen.estimates, 1, &counted);
		work();
		end();
		assert_int_equal(seen.n[1], !wrapped);
	}
}

static void cpu_time_before_the_probes_does_not_count(void **state)
{
	uint64_t before = clock_ns(CLOCK_MONOTONIC);

	for (int i = 0; i < 4; i++)
		work();
	begin(false);
	before = clock_ns(CLOCK_MONOTONIC);
	add_self(false);
	assert_true(estimates__cpu_ns(seen.estimates) <= clock_ns(CLOCK_MONOTONIC) - before);
	assert_true(estimates__has_process(seen.estimates, getpid()));
	end();
}

static void a_process_that_is_gone_is_not_added(void **state)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	begin(false);
	assert_int_equal(estimates__add_process(seen.estimates, pid, false, 0), -ESRCH);
	assert_int_equal(estimates__n_processes(seen.estimates), 0);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_query_without_a_gap_has_no_estimate),
		cmocka_unit_test(a_gap_is_estimated_by_the_rates_before_and_after),
		cmocka_unit_test(a_gap_without_cpu_time_is_reported_too),
		cmocka_unit_test(ids_are_only_a_limit_in_incremental_compilers),
		cmocka_unit_test(wrapped_queries_that_are_counted_need_no_estimate),
		cmocka_unit_test(cpu_time_before_the_probes_does_not_count),
		cmocka_unit_test(a_process_that_is_gone_is_not_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
