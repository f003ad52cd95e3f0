// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/commits.h"

#include "../fixtures/history_builds.h"

#define MS UINT64_C(1000000)

static bool is_build(const void *ctx, const struct compare_unit *unit, const char *query)
{
	return !unit && !query;
}

static bool is_typeck(const void *ctx, const struct compare_unit *unit, const char *query)
{
	return query && !strcmp(query, "typeck");
}

/* The builds of a store, the last `n_new` of them new. */
struct compared {
	struct history_builds builds;
	const struct history_build *all[32];
	struct commits *c;
};

static void compared__clear(struct compared *c)
{
	commits__free(c->c);
	history_builds__clear(&c->builds);
}

static void compare(struct store *s, enum compare_metric metric, size_t n_new, struct compared *out)
{
	const struct history_filter all = {};
	const struct compare_rules rules = {.metric = metric, .min_ns = 5 * MS};

	*out = (struct compared){};
	assert_int_equal(history_builds__ask(s, &all, &out->builds), 0);
	for (size_t i = 0; i < out->builds.n; i++)
		out->all[i] = &out->builds.at[i];
	assert_int_equal(
		commits__compare(s, out->all, out->builds.n - n_new, n_new, &rules, &out->c), 0);
}

static void crates_and_queries_are_paired(void **state)
{
	_store_ struct store *s = history_builds_store("pairs.db");
	__cleanup(compared__clear) struct compared c;
	const struct compare_result *r;
	struct compare_row sum;

	history_builds_add(s, 0, &(struct history_change){.commit = "a", .count = 1000});
	history_builds_add(s, 1, &(struct history_change){.commit = "b", .count = 1100});
	compare(s, COMPARE_COUNT, 1, &c);
	r = commits__result(c.c);
	assert_int_equal(r->n_crates, 2);
	assert_int_equal(r->n_rows, 6);
	/* Only typeck is counted in the sample, so that only its executions are in sums. */
	assert_int_equal(r->n_uncounted, 2);
	assert_int_equal(r->build.of[COMPARE_COUNT][COMPARE_NEW].median, 2001);
	assert_int_equal(commits__sum(c.c, is_typeck, NULL, false, &sum), 2);
	assert_int_equal(sum.of[COMPARE_COUNT][COMPARE_BASE].median, 2001);
	assert_false(sum.significant);
}

/* Twelve builds: their range is the noise, and one new build is enough. */
static void a_branch_has_its_own_noise(void **state)
{
	_store_ struct store *s = history_builds_store("noise.db"),
			     *other = history_builds_store("within.db");
	__cleanup(compared__clear) struct compared c, within;

	for (unsigned int i = 0; i < 12; i++) {
		const struct history_change base = {.cpu_ns = (4000 + i % 4 * 20) * MS};

		history_builds_add(s, i, &base);
		history_builds_add(other, i, &base);
	}
	history_builds_add(s, 12, &(struct history_change){.cpu_ns = 4200 * MS});
	history_builds_add(other, 12, &(struct history_change){.cpu_ns = 4070 * MS});
	compare(s, COMPARE_CPU, 1, &c);
	compare(other, COMPARE_CPU, 1, &within);
	assert_true(commits__result(c.c)->build.significant);
	assert_false(commits__result(c.c)->noise_is_estimated);
	assert_false(commits__result(within.c)->build.significant);
}

/* An old regression of a branch is not blamed on the new build, and hides nothing. */
static void the_last_level_is_the_base(void **state)
{
	_store_ struct store *s = history_builds_store("level.db");
	__cleanup(compared__clear) struct compared c;
	struct compare_row all, last;

	for (unsigned int i = 0; i < 21; i++)
		history_builds_add(s, i,
				   &(struct history_change){.cpu_ns = (i < 12	? 3000
								       : i < 20 ? 4000
										: 4500) *
									      MS +
								      i % 3 * MS});
	compare(s, COMPARE_CPU, 1, &c);
	assert_int_equal(commits__sum(c.c, is_build, NULL, false, &all), 1);
	assert_int_equal(commits__sum(c.c, is_build, NULL, true, &last), 1);
	assert_int_equal(all.of[COMPARE_CPU][COMPARE_BASE].n, 20);
	assert_int_equal(last.of[COMPARE_CPU][COMPARE_BASE].n, 8);
	assert_true(last.significant);
}

/* Four builds of a new level are alike by chance: their range is not the noise. */
static void few_builds_of_a_level_do_not_show_the_noise(void **state)
{
	_store_ struct store *s = history_builds_store("few.db"),
			     *other = history_builds_store("far.db");
	__cleanup(compared__clear) struct compared c, far;
	struct compare_row near_row, far_row;

	for (unsigned int i = 0; i < 20; i++) {
		const struct history_change base = {
			.cpu_ns = (i < 16 ? 3000 : 4000) * MS + i % 3 * MS,
		};

		history_builds_add(s, i, &base);
		history_builds_add(other, i, &base);
	}
	history_builds_add(s, 20, &(struct history_change){.cpu_ns = 4150 * MS});
	history_builds_add(other, 20, &(struct history_change){.cpu_ns = 4900 * MS});
	compare(s, COMPARE_CPU, 1, &c);
	compare(other, COMPARE_CPU, 1, &far);
	assert_int_equal(commits__sum(c.c, is_build, NULL, true, &near_row), 1);
	assert_int_equal(commits__sum(far.c, is_build, NULL, true, &far_row), 1);
	assert_int_equal(near_row.of[COMPARE_CPU][COMPARE_BASE].n, 4);
	assert_false(near_row.significant);
	assert_true(far_row.significant);
}

static void too_many_builds_are_refused(void **state)
{
	_store_ struct store *s = history_builds_store("many.db");
	const struct history_build *all[COMMITS_MOST + 1] = {};
	const struct compare_rules rules = {};
	struct commits *c;

	assert_int_equal(commits__compare(s, all, COMMITS_MOST, 1, &rules, &c), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crates_and_queries_are_paired),
		cmocka_unit_test(a_branch_has_its_own_noise),
		cmocka_unit_test(the_last_level_is_the_base),
		cmocka_unit_test(few_builds_of_a_level_do_not_show_the_noise),
		cmocka_unit_test(too_many_builds_are_refused),
	};

	return cmocka_run_group_tests(tests, directory_make, directory_remove);
}
