// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/choice.h"

#include <stdlib.h>

#include "test.h"

#define MOST 16

static bool starts[MOST], ends[MOST];
static double set_costs[MOST];

static struct choice make(const struct choice_query *queries, uint32_t n, uint32_t n_sets,
			  double room)
{
	struct choice c = {
		.queries = queries,
		.n_queries = n,
		.sets = set_costs,
		.n_sets = n_sets,
		.room = room,
		.starts = starts,
		.ends = ends,
	};

	assert_int_equal(choice__make(&c), 0);
	return c;
}

/* The cost of the chosen probes, from nothing but the result. */
static double cost_of(const struct choice *c)
{
	double cost = 0;

	for (uint32_t i = 0; i < c->n_sets; i++)
		cost += c->ends[i] ? c->sets[i] : 0;
	for (uint32_t i = 0; i < c->n_queries; i++) {
		cost += c->starts[i] ? c->queries[i].starts : 0;
		cost += c->ends[c->queries[i].set] ? c->queries[i].ends : 0;
	}
	return cost;
}

static void all_are_probed_if_there_is_room(void **state)
{
	static const struct choice_query queries[] = {{0, false, 1, 3, 3}, {1, true, 1, 2, 2}};
	struct choice c = make(queries, 2, 2, 10);

	assert_true(starts[0] && starts[1] && ends[0] && ends[1]);
	assert_true(c.cost == 10);
}

static void the_most_expensive_goes_first(void **state)
{
	static const struct choice_query queries[] = {
		{0, false, 1, 1, 1}, {1, false, 1, 50, 50}, {2, false, 1, 5, 5}};
	struct choice c = make(queries, 3, 3, 20);

	assert_true(starts[0] && !starts[1] && starts[2]);
	assert_true(ends[0] && !ends[1] && ends[2]);
	assert_true(c.cost == 12);
}

static void what_is_worth_nothing_goes_before_that(void **state)
{
	static const struct choice_query queries[] = {{0, false, 0, 1, 1}, {1, false, 1, 9, 9}};

	make(queries, 2, 2, 19);
	assert_true(!starts[0] && starts[1]);
}

/* The ends of the set stay for the other query. */
static void one_query_of_a_set_may_go(void **state)
{
	static const struct choice_query queries[] = {{0, false, 1, 10, 10}, {0, false, 5, 1, 1}};

	make(queries, 2, 1, 13);
	assert_true(!starts[0] && starts[1] && ends[0]);
}

static void a_wrapped_query_needs_its_whole_set(void **state)
{
	static const struct choice_query queries[] = {
		{0, false, 1, 10, 0}, {0, true, 1, 1, 0}, {0, false, 1, 1, 0}};
	struct choice c = make(queries, 3, 1, 10.5);

	assert_true(!starts[0] && !starts[1] && starts[2] && ends[0]);
	assert_true(c.cost == 1);
}

static void room_that_is_left_over_is_used(void **state)
{
	/* The first to go is the cheap one, as it is worth nothing; the second makes room again. */
	static const struct choice_query queries[] = {
		{0, false, 0, 2, 0}, {0, false, 1, 90, 0}, {0, false, 9, 5, 0}};
	struct choice c = make(queries, 3, 1, 10);

	assert_true(starts[0] && !starts[1] && starts[2]);
	assert_true(c.cost == 7);
}

/* The larger set goes last, as it is worth more, and then the smaller one fits again. */
static void a_set_returns_if_it_fits(void **state)
{
	static const struct choice_query queries[] = {{0, false, 0, 2, 2}, {1, false, 9, 40, 40}};

	make(queries, 2, 2, 10);
	assert_true(starts[0] && ends[0] && !starts[1] && !ends[1]);
}

static void nothing_fits_into_no_room(void **state)
{
	static const struct choice_query queries[] = {{0, false, 1, 1, 1}, {1, true, 1, 1, 1}};
	struct choice c = make(queries, 2, 2, -1);

	assert_true(!starts[0] && !starts[1] && !ends[0] && !ends[1]);
	assert_true(c.cost == 0);
}

/* A probe that is never hit and not installed costs nothing, so it would gain nothing to go. */
static void what_costs_nothing_stays(void **state)
{
	static const struct choice_query queries[] = {{0, false, 0, 0, 0}, {1, false, 1, 5, 5}};

	make(queries, 2, 2, 1);
	assert_true(starts[0] && ends[0] && !starts[1]);
}

static void check_rules(const struct choice *c)
{
	for (uint32_t i = 0; i < c->n_queries; i++) {
		const struct choice_query *q = &c->queries[i];

		/* No start without its end. */
		assert_true(!c->starts[i] || c->ends[q->set]);
		for (uint32_t j = 0; q->wrapped && c->starts[i] && j < c->n_queries; j++)
			assert_true(c->queries[j].set != q->set || c->starts[j]);
	}
	assert_true(c->cost <= c->room + 1e-9);
	assert_true(c->cost < cost_of(c) + 1e-9 && c->cost > cost_of(c) - 1e-9);
}

static void random_choices_keep_the_rules(void **state)
{
	srand(4711);
	for (int round = 0; round < 3000; round++) {
		struct choice_query queries[MOST];
		uint32_t n = 1 + (uint32_t)rand() % MOST, n_sets = 1 + (uint32_t)rand() % n;
		double total = 0;
		struct choice c;

		for (uint32_t i = 0; i < n_sets; i++)
			total += set_costs[i] = rand() % 5;
		for (uint32_t i = 0; i < n; i++) {
			double hits = rand() % 3 ? rand() % 10 : rand() % 1000;

			queries[i] =
				(struct choice_query){(uint32_t)rand() % n_sets, rand() % 4 == 0,
						      rand() % 3, hits + rand() % 3, hits};
			total += queries[i].starts + queries[i].ends;
		}
		c = make(queries, n, n_sets, total * (rand() % 100) / 100);
		check_rules(&c);
	}
	memset(set_costs, 0, sizeof(set_costs));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_probed_if_there_is_room),
		cmocka_unit_test(the_most_expensive_goes_first),
		cmocka_unit_test(what_is_worth_nothing_goes_before_that),
		cmocka_unit_test(one_query_of_a_set_may_go),
		cmocka_unit_test(a_wrapped_query_needs_its_whole_set),
		cmocka_unit_test(room_that_is_left_over_is_used),
		cmocka_unit_test(a_set_returns_if_it_fits),
		cmocka_unit_test(nothing_fits_into_no_room),
		cmocka_unit_test(what_costs_nothing_stays),
		cmocka_unit_test(random_choices_keep_the_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
