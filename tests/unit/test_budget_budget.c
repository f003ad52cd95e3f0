// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/budget.h"

#include <stdlib.h>
#include <unistd.h>

#include "../fixtures/budget_plan.h"
#include "test.h"

static bool all_sites[BP_SITES], all_queries[BP_QUERIES], all_guards[BP_GUARDS];
static char home[] = "/tmp/qprof-budget-XXXXXX";

struct got {
	struct session_decision decisions[BP_QUERIES + BP_GUARDS];
	uint32_t n;
	int err;
};

static int on_decision(void *ctx, const struct session_decision *d)
{
	struct got *got = ctx;

	assert_in_range(got->n, 0, BP_QUERIES + BP_GUARDS - 1);
	got->decisions[got->n++] = *d;
	return got->err;
}

static struct budget_library library(void)
{
	return (struct budget_library){budget_plan(), all_sites, all_queries, all_guards};
}

/* A budget for which a library was chosen, and attached. */
static struct budget *begin(struct got *got, uint64_t budget_ppm, uint32_t hz)
{
	const struct budget_sink sink = {got, on_decision};
	const struct budget_library l = library();
	_chosen_ struct chosen *c = NULL;
	struct budget *b;

	assert_int_equal(budget__new((struct budget_limit){.ppm = budget_ppm}, hz, &sink, &b), 0);
	budget__set_cost(b, 1000000);
	assert_int_equal(budget__choose(b, &l, &c), 0);
	assert_int_equal(budget__add_library(b, 0, &l, c), 0);
	return b;
}

static int meet(struct budget *b)
{
	const struct wire_thread r = {.type = WIRE_THREAD, .pid = (uint32_t)getpid()};

	return budget__record(b, &r, sizeof(r));
}

static void execute(struct budget *b, uint16_t query, int n)
{
	const struct wire_span r = {.type = WIRE_SPAN,
				    .kind = WIRE_KIND_QUERY,
				    .query = query,
				    .pid = (uint32_t)getpid()};

	for (int i = 0; i < n; i++)
		assert_int_equal(budget__record(b, &r, sizeof(r)), 0);
}

static bool is_off(const struct got *got, uint8_t kind, uint32_t query)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < got->n; i++)
		n += got->decisions[i].kind == kind && got->decisions[i].query == query;
	assert_in_range(n, 0, 1);
	return n;
}

static void decisions_come_with_the_first_compiler(void **state)
{
	struct got got = {};
	_budget_ struct budget *b = begin(&got, 2000, 0);

	assert_int_equal(budget__tick(b), 0);
	assert_int_equal(got.n, 0);
	assert_int_equal(meet(b), 0);
	assert_true(is_off(&got, WIRE_KIND_QUERY, BP_HOT) &&
		    is_off(&got, WIRE_KIND_QUERY, BP_RARE));
	assert_false(is_off(&got, WIRE_KIND_QUERY, BP_OWN));
	assert_true(is_off(&got, WIRE_KIND_ACTIVITY, BP_NOT_MET));
	assert_false(is_off(&got, WIRE_KIND_ACTIVITY, BP_MET));
	assert_false(is_off(&got, WIRE_KIND_LOAD, SESSION_ALL));
	for (uint32_t i = 0; i < got.n; i++) {
		assert_int_equal(got.decisions[i].budget_ppm, 2000);
		assert_in_range(got.decisions[i].cost_ppm, 1, 2000);
		assert_true(got.decisions[i].time_ns > 0);
	}
	got.n = 0;
	assert_int_equal(meet(b), 0);
	assert_int_equal(budget__finish(b), 0);
	assert_int_equal(got.n, 0);
}

static void without_a_compiler_they_come_at_the_end(void **state)
{
	struct got got = {};
	_budget_ struct budget *b = begin(&got, 2000, 0);

	assert_int_equal(budget__finish(b), 0);
	assert_true(got.n > 0);
}

static void without_a_budget_there_are_none(void **state)
{
	struct got got = {};
	_budget_ struct budget *b = begin(&got, 0, 499);

	assert_int_equal(meet(b), 0);
	assert_int_equal(budget__finish(b), 0);
	assert_int_equal(got.n, 0);
}

static void what_was_not_asked_for_is_not_decided(void **state)
{
	struct got got = {};
	struct budget *b;

	all_queries[BP_HOT] = all_guards[BP_NOT_MET] = false;
	b = begin(&got, 2000, 0);
	all_queries[BP_HOT] = all_guards[BP_NOT_MET] = true;
	assert_int_equal(meet(b), 0);
	assert_false(is_off(&got, WIRE_KIND_QUERY, BP_HOT));
	assert_false(is_off(&got, WIRE_KIND_ACTIVITY, BP_NOT_MET));
	assert_true(got.n > 0);
	budget__free(b);
}

static void an_error_of_the_sink_is_returned(void **state)
{
	struct got got = {.err = -ENOSPC};
	_budget_ struct budget *b = begin(&got, 2000, 0);

	assert_int_equal(meet(b), -ENOSPC);
	assert_int_equal(got.n, 1);
}

static void a_budget_that_was_given_up_leaves_nothing_out(void **state)
{
	const struct budget_library l = library();
	_chosen_ struct chosen *c = NULL;
	struct got got = {};
	_budget_ struct budget *b = NULL;

	assert_int_equal(budget__new((struct budget_limit){.ppm = 5000}, 0,
				     &(struct budget_sink){&got, on_decision}, &b),
			 0);
	budget__set_cost(b, 1000000);
	budget__give_up(b);
	assert_int_equal(budget__choose(b, &l, &c), 0);
	assert_int_equal(budget__add_library(b, 0, &l, c), 0);
	assert_int_equal(meet(b), 0);
	assert_int_equal(got.n, 0);
	for (uint32_t i = 0; i < BP_SITES; i++)
		assert_true(c->sites[i]);
}

static uint64_t decisions_with(uint64_t budget_ppm)
{
	struct got got = {};
	_budget_ struct budget *b = begin(&got, budget_ppm, 0);

	assert_int_equal(meet(b), 0);
	return is_off(&got, WIRE_KIND_QUERY, BP_HOT);
}

static void use_cpu(void)
{
	uint64_t until = (uint64_t)clock() + CLOCKS_PER_SEC / 20;

	while ((uint64_t)clock() < until)
		;
}

/* A recording without a budget teaches what fits in the next. */
static void what_was_recorded_is_remembered(void **state)
{
	struct library_file *file;
	struct got got = {};
	struct budget *b;

	assert_int_equal(library_file__open("/proc/self/exe", &file), 0);
	budget_plan()->file = file;
	assert_true(decisions_with(4000));
	b = begin(&got, 0, 0);
	budget__set_cost(b, 1);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(meet(b), 0);
		execute(b, BP_OWN, 10000);
		use_cpu();
	}
	assert_int_equal(budget__finish(b), 0);
	budget__free(b);
	/* HOT was never executed, and OWN is hot. */
	assert_false(decisions_with(4000));
	budget_plan()->file = NULL;
	library_file__free(file);
}

static int make_home(void **state)
{
	memset(all_sites, true, sizeof(all_sites));
	memset(all_queries, true, sizeof(all_queries));
	memset(all_guards, true, sizeof(all_guards));
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	return mkdtemp(home) && !setenv("XDG_CACHE_HOME", home, 1) ? 0 : -1;
}

static int remove_home(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", home);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decisions_come_with_the_first_compiler),
		cmocka_unit_test(without_a_compiler_they_come_at_the_end),
		cmocka_unit_test(without_a_budget_there_are_none),
		cmocka_unit_test(what_was_not_asked_for_is_not_decided),
		cmocka_unit_test(an_error_of_the_sink_is_returned),
		cmocka_unit_test(a_budget_that_was_given_up_leaves_nothing_out),
		cmocka_unit_test(what_was_recorded_is_remembered),
	};

	return cmocka_run_group_tests(tests, make_home, remove_home);
}
