// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/chosen.h"

#include "../fixtures/budget_plan.h"
#include "test.h"

static bool all_sites[BP_SITES], all_queries[BP_QUERIES];

/* 10 s of earlier compilers, in which each query was executed so often a second. */
static struct rates *remember(double hot, double rare)
{
	struct rates *r;

	assert_int_equal(rates__new(budget_plan(), &r), 0);
	r->compilers = 10;
	r->cpu_s = 10;
	for (int i = 0; i < BP_QUERIES; i++)
		r->queries[i] = (struct rates_query){10 * rare, 10};
	r->queries[BP_HOT].executions = 10 * hot;
	for (uint32_t i = 0; i < r->n_groups; i++)
		r->groups[i] = (struct rates_group){0, 10};
	r->groups[BP_MET].intervals = 10;
	/* No group has its turn. */
	r->turn = 1;
	return r;
}

static struct chosen *choose_some(struct rates *known, uint64_t budget_ppm, uint64_t sampled_ppm,
				  bool only_queries)
{
	const struct chosen_input in = {
		.plan = budget_plan(),
		.sites = all_sites,
		.queries = all_queries,
		.known = known,
		.budget_ppm = budget_ppm,
		.sampled_ppm = sampled_ppm,
		.only_queries = only_queries,
		.costs = {.hit_ps = 1000000},
	};
	struct chosen *c;

	assert_int_equal(chosen__new(&in, &c), 0);
	return c;
}

static struct chosen *choose(struct rates *known, uint64_t budget_ppm, uint64_t sampled_ppm)
{
	return choose_some(known, budget_ppm, sampled_ppm, false);
}

static void without_a_budget_everything_is_probed(void **state)
{
	_rates_ struct rates *known = remember(1e6, 1e6);
	_chosen_ struct chosen *c = choose(known, 0, 0);

	for (int i = 0; i < BP_SITES; i++)
		assert_true(c->sites[i]);
	for (int i = 0; i < BP_QUERIES; i++)
		assert_true(c->queries[i] && c->has_starts[i]);
}

static void what_was_not_asked_for_is_not_probed(void **state)
{
	_rates_ struct rates *known = remember(10, 10);
	_chosen_ struct chosen *c = NULL;

	all_sites[BP_START + BP_HOT] = false;
	c = choose(known, 0, 0);
	all_sites[BP_START + BP_HOT] = true;
	assert_true(!c->sites[BP_START + BP_HOT] && !c->has_starts[BP_HOT]);
	assert_true(c->sites[BP_END + BP_HOT]);
}

/* 20,000 executions of 2 hits of 1 us: 4 % of the CPU time. */
static void a_hot_query_goes_with_its_end(void **state)
{
	_rates_ struct rates *known = remember(20000, 10);
	_chosen_ struct chosen *some = choose(known, 30000, 0), *all = choose(known, 100000, 0);

	assert_true(!some->queries[BP_HOT] && some->queries[BP_RARE] && some->queries[BP_OWN] &&
		    some->queries[BP_WRAPPED]);
	assert_true(!some->sites[BP_START + BP_HOT] && !some->sites[BP_END + 0]);
	assert_true(some->sites[BP_START + BP_RARE] && some->sites[BP_END + 1]);
	assert_true(some->sites[BP_IDENTIFY] && some->sites[BP_CAUGHT]);
	assert_true(all->queries[BP_HOT] && all->sites[BP_END + 0]);
	assert_in_range(some->cost_ppm, 1, 30000);
	assert_in_range(all->cost_ppm, 39000, 100000);
}

static void samples_take_their_part_of_the_budget(void **state)
{
	_rates_ struct rates *known = remember(20000, 10);
	_chosen_ struct chosen *c = choose(known, 100000, 60000);

	assert_false(c->queries[BP_HOT]);
	assert_in_range(c->cost_ppm, 60000, 70000);
}

/* Without the starts of OWN, an end in their body could be that of either. */
static void a_wrapped_query_goes_with_others_of_its_body(void **state)
{
	_rates_ struct rates *known = remember(10, 10);
	_chosen_ struct chosen *c = NULL;

	known->queries[BP_OWN].executions = 10 * 20000;
	c = choose(known, 30000, 0);
	assert_true(!c->queries[BP_OWN] && !c->queries[BP_WRAPPED]);
	assert_true(!c->sites[BP_IDENTIFY] && !c->sites[BP_START + BP_WRAPPED]);
	assert_true(c->queries[BP_HOT] && c->queries[BP_RARE]);
}

/* It is probed only as it may call others. */
static void a_query_that_was_not_asked_for_goes_first(void **state)
{
	_rates_ struct rates *known = remember(9000, 9000);
	_chosen_ struct chosen *c = NULL;

	all_queries[BP_RARE] = false;
	c = choose(known, 80000, 0);
	all_queries[BP_RARE] = true;
	assert_true(!c->queries[BP_RARE] && c->queries[BP_HOT]);
}

static void groups_that_were_never_met_are_left_out(void **state)
{
	_rates_ struct rates *known = remember(10, 10);
	_chosen_ struct chosen *c = choose(known, 30000, 0);

	assert_false(c->groups[c->group_of[BP_WAITS]] || c->groups[c->group_of[BP_NOT_MET]]);
	assert_true(c->groups[c->group_of[BP_MET]] && c->groups[c->group_of[BP_UNNAMED]]);
	/* Only incremental compilers load, and there may have been none yet. */
	assert_true(c->groups[c->group_of[BP_LOADS]] && c->groups[c->group_of[BP_INCR]]);
	assert_true(!c->sites[BP_GUARD + BP_WAITS] && !c->sites[BP_GUARD_END + BP_WAITS]);
	assert_true(c->sites[BP_GUARD + BP_MET] && c->sites[BP_GUARD_END + BP_MET]);
}

/* Its two sites cost 5.5 us each in each of the compilers, of which there was one a second. */
static void breakpoints_of_an_optional_part_cost_once_it_was_met(void **state)
{
	_rates_ struct rates *known = remember(10, 10);
	_chosen_ struct chosen *never = choose(known, 100000, 0), *met = NULL;

	known->groups[never->group_of[BP_LOADS]].intervals = 0.01;
	met = choose(known, 100000, 0);
	assert_in_range(met->cost_ppm, never->cost_ppm + 9, never->cost_ppm + 20);
}

static void groups_stay_if_only_queries_may_go(void **state)
{
	_rates_ struct rates *known = remember(20000, 10);
	_chosen_ struct chosen *c = choose_some(known, 30000, 0, true);

	for (uint32_t i = 0; i < BP_GUARDS; i++)
		assert_true(c->sites[BP_GUARD + i] && c->sites[BP_GUARD_END + i]);
	assert_true(!c->queries[BP_HOT] && c->queries[BP_RARE]);
}

static void each_group_has_its_turn(void **state)
{
	_rates_ struct rates *known = remember(10, 10);
	uint32_t waits = 0, not_met = 0;

	for (known->turn = 0; known->turn < 16; known->turn++) {
		_chosen_ struct chosen *c = choose(known, 30000, 0);

		waits += c->groups[c->group_of[BP_WAITS]];
		not_met += c->groups[c->group_of[BP_NOT_MET]];
	}
	assert_int_equal(waits, 2);
	assert_int_equal(not_met, 2);
}

/* No query of rustc is unknown; a new one may be hot. */
static void without_memory_the_usual_is_probed(void **state)
{
	_rates_ struct rates *none = NULL;
	_chosen_ struct chosen *c = NULL;

	assert_int_equal(rates__new(budget_plan(), &none), 0);
	none->turn = 1;
	c = choose(none, 2000, 0);
	assert_true(c->queries[BP_OWN] && c->queries[BP_WRAPPED]);
	assert_true(!c->queries[BP_HOT] && !c->queries[BP_RARE]);
	assert_true(c->groups[c->group_of[BP_MET]] && !c->groups[c->group_of[BP_NOT_MET]]);
	assert_false(c->groups[c->group_of[BP_WAITS]]);
	/* Compilers were seen to execute less, though not what. */
	none->usual_others = 1e9;
	chosen__free(c);
	c = choose(none, 2000, 0);
	assert_true(c->queries[BP_HOT] && c->queries[BP_RARE]);
}

static void a_budget_that_is_too_small_leaves_samples(void **state)
{
	_rates_ struct rates *known = remember(10, 10);
	_chosen_ struct chosen *c = choose(known, 1, 1000);

	for (int i = 0; i < BP_QUERIES; i++)
		assert_true(!c->queries[i] && !c->sites[BP_START + i]);
	assert_true(c->sites[BP_CAUGHT]);
}

/* The cost of a hit could not be measured: no budget can be kept. */
static void without_known_costs_everything_is_probed(void **state)
{
	_rates_ struct rates *known = remember(1e6, 1e6);
	const struct chosen_input in = {
		.plan = budget_plan(),
		.sites = all_sites,
		.queries = all_queries,
		.known = known,
		.budget_ppm = 10000,
	};
	_chosen_ struct chosen *c = NULL;

	assert_int_equal(chosen__new(&in, &c), 0);
	for (int i = 0; i < BP_SITES; i++)
		assert_true(c->sites[i]);
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
		cmocka_unit_test(without_a_budget_everything_is_probed),
		cmocka_unit_test(what_was_not_asked_for_is_not_probed),
		cmocka_unit_test(a_hot_query_goes_with_its_end),
		cmocka_unit_test(samples_take_their_part_of_the_budget),
		cmocka_unit_test(a_wrapped_query_goes_with_others_of_its_body),
		cmocka_unit_test(a_query_that_was_not_asked_for_goes_first),
		cmocka_unit_test(groups_that_were_never_met_are_left_out),
		cmocka_unit_test(breakpoints_of_an_optional_part_cost_once_it_was_met),
		cmocka_unit_test(groups_stay_if_only_queries_may_go),
		cmocka_unit_test(each_group_has_its_turn),
		cmocka_unit_test(without_memory_the_usual_is_probed),
		cmocka_unit_test(a_budget_that_is_too_small_leaves_samples),
		cmocka_unit_test(without_known_costs_everything_is_probed),
	};

	return cmocka_run_group_tests(tests, ask_for_all, NULL);
}
