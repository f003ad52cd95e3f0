// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Decisions within a budget, on simulated compilers. */
#include "budget/governor.h"

#include "test.h"
#include "../fixtures/random.h"

#define TICK_NS 10000000ull
#define HIT_NS	1300ull
#define MOST	40

/* A compiler that only executes queries, and its probes. */
struct world {
	struct governor *g;
	uint32_t n, n_sets;
	struct governor_query queries[MOST];
	double rate[MOST]; /* executions per second */
	uint64_t mean_ns[MOST];
	double rest[MOST]; /* the fraction of an execution that is due at the next tick */
	struct governor_load load;
	uint64_t executed[MOST], recorded[MOST], counted[MOST];
	unsigned int changes; /* of `watch` */
	enum governor_watch watch[MOST];
};

static struct world w;

static void add(uint32_t set, bool wrapped, double rate, uint64_t mean_ns)
{
	w.queries[w.n] = (struct governor_query){.set = set, .wrapped = wrapped};
	w.rate[w.n] = rate;
	w.mean_ns[w.n++] = mean_ns;
	if (set >= w.n_sets)
		w.n_sets = set + 1;
}

static void begin(uint64_t budget_ppm)
{
	uint32_t base, set_base;

	assert_int_equal(governor__new(budget_ppm, &w.g), 0);
	assert_int_equal(governor__add(w.g, w.queries, w.n, w.n_sets, &base, &set_base), 0);
	assert_int_equal(base, 0);
	assert_int_equal(set_base, 0);
}

static void execute(uint32_t i, double seconds)
{
	bool starts = governor__wants_starts(w.g, i) || governor__samples(w.g, i);
	bool ends = governor__wants_ends(w.g, w.queries[i].set);
	uint64_t n;

	w.rest[i] += w.rate[i] * seconds;
	n = (uint64_t)w.rest[i];
	w.rest[i] -= (double)n;
	w.executed[i] += n;
	w.load.hits += n * (uint64_t)(starts + ends);
	if (governor__watch(w.g, i) == GOVERNOR_FULL) {
		w.recorded[i] += n;
		governor__recorded(w.g, i, n, n * w.mean_ns[i]);
	} else if (starts) {
		w.counted[i] += n;
		governor__counted(w.g, i, n);
	}
}

static void tick(void)
{
	for (uint32_t i = 0; i < w.n; i++)
		execute(i, TICK_NS / 1e9);
	w.load.now_ns += TICK_NS;
	w.load.cpu_ns += TICK_NS;
	w.load.spent_ns = w.load.hits * HIT_NS;
	governor__tick(w.g, &w.load);
	for (uint32_t i = 0; i < w.n; i++) {
		w.changes += governor__watch(w.g, i) != w.watch[i];
		w.watch[i] = governor__watch(w.g, i);
	}
}

static void run(int ticks)
{
	while (ticks-- > 0)
		tick();
}

static double cost(void)
{
	return (double)w.load.spent_ns / (double)w.load.cpu_ns;
}

static int reset(void **state)
{
	governor__free(w.g);
	w = (struct world){};
	return 0;
}

static void queries_within_the_budget_stay_recorded(void **state)
{
	add(0, false, 3000, 2000);
	add(1, true, 100, 2000);
	begin(30000);
	run(200);
	assert_int_equal(w.changes, 0);
	assert_int_equal(w.recorded[0], w.executed[0]);
	assert_int_equal(w.recorded[1], w.executed[1]);
}

static void the_hottest_and_shortest_goes_first(void **state)
{
	add(0, false, 30000, 300);
	add(1, false, 3000, 300);
	add(2, false, 3000, 30000);
	begin(60000);
	run(200);
	assert_int_not_equal(governor__watch(w.g, 0), GOVERNOR_FULL);
	assert_int_equal(governor__watch(w.g, 2), GOVERNOR_FULL);
}

/* The budget has room for one of the two probes. */
static void counts_stay_where_one_probe_fits(void **state)
{
	add(0, false, 30000, 300);
	add(1, false, 100, 300000);
	begin(55000);
	run(200);
	assert_int_equal(governor__watch(w.g, 0), GOVERNOR_COUNTED);
	assert_int_equal(governor__watch(w.g, 1), GOVERNOR_FULL);
	assert_int_equal(w.recorded[1], w.executed[1]);
	assert_in_range(cost() * 1e6, 0, 60000);
}

/* The end of a wrapped query would be taken for the end of another query. */
static void wrapped_queries_go_with_the_first_of_their_set(void **state)
{
	add(0, false, 40000, 100);
	add(0, true, 10, 1000000);
	add(0, false, 10, 9000000);
	begin(60000);
	run(100);
	assert_int_not_equal(governor__watch(w.g, 0), GOVERNOR_FULL);
	assert_int_equal(governor__watch(w.g, 1), GOVERNOR_OFF);
	assert_false(governor__wants_starts(w.g, 1));
}

static void it_comes_back_when_it_gets_rare(void **state)
{
	add(0, false, 80000, 300);
	begin(30000);
	run(100);
	assert_int_equal(governor__watch(w.g, 0), GOVERNOR_OFF);
	w.rate[0] = 200;
	run(400);
	assert_int_equal(governor__watch(w.g, 0), GOVERNOR_FULL);
}

/* The samples show the new rate of a query that is off. */
static void a_query_that_is_off_is_sampled(void **state)
{
	add(0, false, 80000, 300);
	begin(10000);
	run(100);
	w.rate[0] = 40000;
	run(200);
	assert_int_equal(governor__watch(w.g, 0), GOVERNOR_OFF);
	assert_true(w.counted[0] > 0);
	assert_in_range(governor__sample(w.g, 0), 39000, 41000);
}

/* Change the rates in each phase, and check the cost of all probes. */
static void the_budget_holds(uint64_t budget_ppm, struct rng *r)
{
	double most = (double)budget_ppm / 1e6 + 0.01;

	reset(NULL);
	for (uint32_t i = 0; i < MOST; i++)
		add((uint32_t)rng_below(r, 15), !rng_below(r, 8), 0, 100 + rng_below(r, 100000));
	begin(budget_ppm);
	for (int phase = 0; phase < 20; phase++) {
		for (uint32_t i = 0; i < MOST; i++)
			w.rate[i] = (double)(rng_any_size(r) % 8192);
		run(20);
	}
	if (cost() > most)
		fail_msg("%.2f %% of %.2f %%", 100 * cost(), (double)budget_ppm / 1e4);
	/* Some of the budget must be used. */
	assert_true(cost() > (double)budget_ppm / 1e6 / 3);
	/* A change every 100 ms would be flapping. */
	assert_in_range(w.changes, 1, 400 / 10 * MOST);
}

static void budgets_hold_whatever_happens(void **state)
{
	struct rng r = rng_new();

	for (int i = 0; i < 20; i++) {
		the_budget_holds(10000, &r);
		the_budget_holds(30000, &r);
		the_budget_holds(100000, &r);
	}
}

static void nothing_is_decided_without_cpu_time(void **state)
{
	struct governor_load load = {.now_ns = 1000000000};

	add(0, false, 0, 100);
	begin(30000);
	assert_false(governor__tick(w.g, &load));
	assert_int_equal(governor__watch(w.g, 0), GOVERNOR_FULL);
}

static void libraries_are_numbered_on(void **state)
{
	const struct governor_query more[] = {{.set = 0}, {.set = 1}};
	uint32_t base, set_base;

	add(2, false, 0, 100);
	begin(30000);
	assert_int_equal(governor__add(w.g, more, 2, 2, &base, &set_base), 0);
	assert_int_equal(base, 1);
	assert_int_equal(set_base, 3);
	assert_true(governor__wants_ends(w.g, 4));
	assert_int_equal(governor__watch(w.g, 2), GOVERNOR_FULL);
}

/* ---- Rates of earlier recordings ------------------------------------------------------------- */

static void expect(uint32_t i)
{
	w.queries[i].rate = w.rate[i];
	w.queries[i].mean_ns = w.mean_ns[i];
}

static void foresee(uint64_t other_ns)
{
	const struct governor_load load = {.now_ns = TICK_NS, .other_ns = other_ns};

	w.load.now_ns = TICK_NS;
	governor__foresee(w.g, &load, HIT_NS * 1000);
}

static void a_query_beyond_the_budget_is_off_from_the_start(void **state)
{
	add(0, false, 80000, 300);
	add(1, false, 100, 300000);
	expect(0);
	expect(1);
	begin(30000);
	foresee(0);
	assert_int_equal(governor__watch(w.g, 0), GOVERNOR_OFF);
	assert_false(governor__wants_ends(w.g, 0));
	assert_int_equal(governor__watch(w.g, 1), GOVERNOR_FULL);
	run(40);
	assert_int_equal(w.recorded[0] + w.counted[0], 0);
	assert_int_equal(w.recorded[1], w.executed[1]);
}

/* Installation takes 20 ms. The budget allows 12 ms within FORESEEN_HORIZON_NS. */
static void the_cost_of_installing_probes_reduces_the_budget(void **state)
{
	add(0, false, 5000, 300);
	expect(0);
	begin(30000);
	foresee(0);
	assert_int_equal(governor__watch(w.g, 0), GOVERNOR_FULL);
	governor__free(w.g);
	begin(30000);
	foresee(20000000);
	assert_int_not_equal(governor__watch(w.g, 0), GOVERNOR_FULL);
}

static void a_query_of_unknown_rate_is_watched_at_first(void **state)
{
	add(0, false, 80000, 300);
	begin(30000);
	foresee(0);
	assert_int_equal(governor__watch(w.g, 0), GOVERNOR_FULL);
	run(20);
	assert_int_not_equal(governor__watch(w.g, 0), GOVERNOR_FULL);
}

/* The rates differ from those of earlier recordings. */
static void a_wrong_memory_is_corrected(void **state)
{
	add(0, false, 100, 4000);
	add(1, false, 90000, 300);
	expect(0);
	expect(1);
	w.rate[0] = 90000;
	w.rate[1] = 20;
	begin(30000);
	foresee(0);
	assert_int_equal(governor__watch(w.g, 0), GOVERNOR_FULL);
	run(2000);
	assert_int_not_equal(governor__watch(w.g, 0), GOVERNOR_FULL);
	assert_int_equal(governor__watch(w.g, 1), GOVERNOR_FULL);
	assert_in_range(cost() * 1e6, 0, 40000);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, reset, reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(queries_within_the_budget_stay_recorded),
		TEST(the_hottest_and_shortest_goes_first),
		TEST(counts_stay_where_one_probe_fits),
		TEST(wrapped_queries_go_with_the_first_of_their_set),
		TEST(it_comes_back_when_it_gets_rare),
		TEST(a_query_that_is_off_is_sampled),
		TEST(budgets_hold_whatever_happens),
		TEST(nothing_is_decided_without_cpu_time),
		TEST(libraries_are_numbered_on),
		TEST(a_query_beyond_the_budget_is_off_from_the_start),
		TEST(the_cost_of_installing_probes_reduces_the_budget),
		TEST(a_query_of_unknown_rate_is_watched_at_first),
		TEST(a_wrong_memory_is_corrected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
