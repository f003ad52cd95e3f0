// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/learning.h"

#include <time.h>
#include <unistd.h>

#include "../fixtures/budget_plan.h"
#include "base/clock.h"
#include "test.h"

#define LIB 3

static bool all_sites[BP_SITES], all_queries[BP_QUERIES];

static struct chosen *choose(uint64_t budget_ppm)
{
	_rates_ struct rates *none = NULL;
	struct chosen_input in = {
		.plan = budget_plan(),
		.sites = all_sites,
		.queries = all_queries,
		.budget_ppm = budget_ppm,
		.costs = {.hit_ps = 1},
	};
	struct chosen *c;

	assert_int_equal(rates__new(budget_plan(), &none), 0);
	none->turn = 1;
	in.known = none;
	assert_int_equal(chosen__new(&in, &c), 0);
	return c;
}

static struct learning *learn(uint64_t budget_ppm)
{
	_chosen_ struct chosen *c = choose(budget_ppm);
	struct learning *l;

	assert_int_equal(learning__new(&l), 0);
	assert_int_equal(learning__add_library(l, LIB, budget_plan(), all_queries, c), 0);
	return l;
}

/* This process plays the compiler. */
static void begin(struct learning *l)
{
	const struct wire_thread r = {.type = WIRE_THREAD, .pid = (uint32_t)getpid()};

	assert_int_equal(learning__record(l, &r, sizeof(r)), 0);
}

static void span(struct learning *l, uint8_t lib, uint8_t kind, uint16_t query)
{
	const struct wire_span r = {.type = WIRE_SPAN,
				    .lib = lib,
				    .kind = kind,
				    .query = query,
				    .pid = (uint32_t)getpid()};

	assert_int_equal(learning__record(l, &r, sizeof(r)), 0);
}

static void end(struct learning *l)
{
	const struct wire_exit r = {
		.type = WIRE_EXIT, .pid = (uint32_t)getpid(), .time_ns = clock_ns(CLOCK_MONOTONIC)};

	assert_int_equal(learning__record(l, &r, sizeof(r)), 0);
}

static void use_cpu(void)
{
	uint64_t until = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + 2000000;

	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < until)
		;
}

static void executions_and_intervals_are_counted(void **state)
{
	_learning_ struct learning *l = learn(0);
	const struct rates *r = learning__of(l, LIB);

	begin(l);
	for (int i = 0; i < 5; i++)
		span(l, LIB, WIRE_KIND_QUERY, BP_HOT);
	span(l, LIB, WIRE_KIND_QUERY, BP_WRAPPED);
	span(l, LIB, WIRE_KIND_ACTIVITY, BP_MET);
	span(l, LIB, WIRE_KIND_BLOCKED, BP_HOT);
	span(l, LIB, WIRE_KIND_LOAD, BP_RARE);
	span(l, LIB, WIRE_KIND_LOAD, BP_RARE);
	use_cpu();
	learning__end(l);
	assert_true(r->queries[BP_HOT].executions == 5 && r->queries[BP_RARE].executions == 0);
	assert_true(r->queries[BP_WRAPPED].executions == 1);
	assert_true(r->groups[BP_MET].intervals == 1 && r->groups[BP_WAITS].intervals == 1 &&
		    r->groups[BP_LOADS].intervals == 2 && r->groups[BP_NOT_MET].intervals == 0);
	assert_true(r->compilers == 1 && r->cpu_s > 0.001);
	assert_true(r->queries[BP_RARE].cpu_s == r->cpu_s && r->groups[BP_WAITS].cpu_s == r->cpu_s);
}

/* So it is not remembered as never executed. */
static void what_is_not_probed_is_not_learnt_of(void **state)
{
	_learning_ struct learning *l = learn(1);
	const struct rates *r = learning__of(l, LIB);

	begin(l);
	span(l, LIB, WIRE_KIND_ACTIVITY, BP_UNNAMED);
	use_cpu();
	learning__end(l);
	assert_true(r->cpu_s > 0);
	assert_true(r->queries[BP_HOT].cpu_s == 0 && r->queries[BP_OWN].cpu_s == 0);
	assert_true(r->groups[BP_WAITS].cpu_s == 0 && r->groups[BP_UNNAMED].cpu_s == r->cpu_s);
}

/* Of queries without probes, how often they are executed in all is known by rustc's own numbers. */
static void results_without_probes_are_counted_together(void **state)
{
	struct wire_span r = {.type = WIRE_SPAN,
			      .lib = LIB,
			      .kind = WIRE_KIND_QUERY,
			      .query = BP_HOT,
			      .pid = (uint32_t)getpid()};

	for (uint64_t budget_ppm = 0; budget_ppm < 2; budget_ppm++) {
		_learning_ struct learning *l = learn(budget_ppm);
		const struct rates *learnt = learning__of(l, LIB);
		/* The first 1,000 results are from before the probes were attached. */
		static const uint32_t numbers[] = {1009, 1000, WIRE_NO_INVOCATION};

		begin(l);
		for (size_t i = 0; i < N_OF(numbers); i++) {
			r.invocation = numbers[i];
			assert_int_equal(learning__record(l, &r, sizeof(r)), 0);
		}
		use_cpu();
		learning__end(l);
		assert_true(learnt->others == 7);
		assert_true(budget_ppm ? learnt->usual_others > 0 : learnt->usual_others == 0);
	}
}

static void what_probes_took_is_not_the_compilers_own(void **state)
{
	_learning_ struct learning *l = learn(0);
	const struct costs huge = {.hit_ps = 1000000000000};
	const struct rates *r = learning__of(l, LIB);
	uint64_t ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	learning__set_costs(l, &huge);
	begin(l);
	span(l, LIB, WIRE_KIND_QUERY, BP_HOT);
	use_cpu();
	learning__end(l);
	/* Not more than all. */
	assert_true(r->cpu_s > 0);
	ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - ns;
	assert_true(r->cpu_s < (double)ns / 1e9 / 2);
}

static void a_compiler_that_hit_nothing_teaches_nothing(void **state)
{
	_learning_ struct learning *l = learn(0);

	begin(l);
	use_cpu();
	learning__end(l);
	assert_true(learning__of(l, LIB)->cpu_s == 0);
}

static void each_compiler_counts_once(void **state)
{
	_learning_ struct learning *l = learn(0);

	for (int i = 0; i < 3; i++) {
		begin(l);
		begin(l);
		span(l, LIB, WIRE_KIND_QUERY, BP_HOT);
		learning__tick(l);
		end(l);
		end(l);
	}
	learning__end(l);
	assert_true(learning__of(l, LIB)->compilers == 3);
}

static void impossible_records_are_ignored(void **state)
{
	_learning_ struct learning *l = learn(0);
	const struct rates *r = learning__of(l, LIB);

	begin(l);
	span(l, LIB, WIRE_KIND_QUERY, BP_QUERIES);
	span(l, LIB, WIRE_KIND_ACTIVITY, UINT16_MAX);
	span(l, LIB, WIRE_KIND_MAX, 0);
	span(l, LIB + 1, WIRE_KIND_QUERY, 0);
	span(l, UINT8_MAX, WIRE_KIND_QUERY, 0);
	assert_int_equal(learning__record(l, "", 0), 0);
	learning__end(l);
	for (int i = 0; i < BP_QUERIES; i++)
		assert_true(r->queries[i].executions == 0);
	assert_null(learning__of(l, LIB + 1));
	assert_null(learning__of(l, UINT8_MAX));
}

static void a_library_is_added_once(void **state)
{
	_chosen_ struct chosen *c = choose(0);
	_learning_ struct learning *l = learn(0);
	const struct rates *r = learning__of(l, LIB);

	assert_int_equal(learning__add_library(l, LIB, budget_plan(), all_queries, c), 0);
	assert_ptr_equal(learning__of(l, LIB), r);
	assert_int_equal(learning__add_library(l, LEARNING_LIBS, budget_plan(), all_queries, c), 0);
	assert_null(learning__of(l, LEARNING_LIBS));
}

static int ask_for_all(void **state)
{
	memset(all_sites, true, sizeof(all_sites));
	memset(all_queries, true, sizeof(all_queries));
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(executions_and_intervals_are_counted),
		cmocka_unit_test(what_is_not_probed_is_not_learnt_of),
		cmocka_unit_test(results_without_probes_are_counted_together),
		cmocka_unit_test(what_probes_took_is_not_the_compilers_own),
		cmocka_unit_test(a_compiler_that_hit_nothing_teaches_nothing),
		cmocka_unit_test(each_compiler_counts_once),
		cmocka_unit_test(impossible_records_are_ignored),
		cmocka_unit_test(a_library_is_added_once),
	};

	return cmocka_run_group_tests(tests, ask_for_all, NULL);
}
