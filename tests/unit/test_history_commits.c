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

static bool is_gvn(const void *ctx, const struct compare_unit *unit, const char *query)
{
	return query && !strcmp(query, "GVN");
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

TEST_CASE(crates_and_queries_are_paired)
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
	assert_int_equal(r->tables[COMPARE_OF_QUERIES].n, 6);
	/* Only typeck is counted in the sample, so that only its executions are in sums. */
	assert_int_equal(r->n_uncounted, 2);
	assert_int_equal(r->build.of[COMPARE_COUNT][COMPARE_NEW].median, 2001);
	assert_int_equal(commits__sum(c.c, is_typeck, NULL, false, &sum), 2);
	assert_int_equal(sum.of[COMPARE_COUNT][COMPARE_BASE].median, 2001);
	assert_false(sum.significant);
}

/* Twelve builds: their range is the noise, and one new build is enough. */
TEST_CASE(a_branch_has_its_own_noise)
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
TEST_CASE(the_last_level_is_the_base)
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
TEST_CASE(few_builds_of_a_level_do_not_show_the_noise)
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

/* A build of "syn" with `n` functions of LLVM's from `first` on, and a pass; `number` is its time.
 */
static void add_with_llvm(struct store *s, unsigned int number, unsigned int first, unsigned int n)
{
	_history_rows_ struct history_rows r;

	history_rows__init(&r);
	sample_history(&r, number);
	r.n[HISTORY_LLVM] = 0;
	for (unsigned int i = 0; i <= n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "syn::f%u", first + i);
		sample_history_llvm(&r, i < n ? name : "GVN", i < n ? "function" : "pass",
				    (i < n ? 100 : 1000) * (number + 1) * MS);
	}
	assert_int_equal(store__add(s, &r), 0);
}

static const struct compare_row *llvm_row(const struct compare_result *r, enum compare_of of,
					  const char *name)
{
	struct compare_table table = compare_result__table(r, of);

	for (size_t i = 0; i < table.n; i++)
		if (!strcmp(table.rows[i].query, name))
			return &table.rows[i];
	return NULL;
}

TEST_CASE(llvms_work_is_paired_by_name)
{
	_store_ struct store *s = history_builds_store("llvm.db");
	__cleanup(compared__clear) struct compared c;
	const struct compare_result *r;
	const struct compare_row *pass, *function;
	struct compare_row sum;

	add_with_llvm(s, 0, 0, 2);
	add_with_llvm(s, 3, 1, 2);
	compare(s, COMPARE_CPU, 1, &c);
	r = commits__result(c.c);
	assert_true(r->has_llvm);
	assert_int_equal(compare_result__table(r, COMPARE_OF_PASSES).n, 1);
	assert_int_equal(compare_result__table(r, COMPARE_OF_GENERICS).n, 3);
	pass = llvm_row(r, COMPARE_OF_PASSES, "GVN");
	assert_true(pass->significant && !pass->unit && !pass->is_build);
	assert_int_equal(pass->table, COMPARE_OF_PASSES);
	/* Each of 5 ms: so many samples have the error of their root. */
	assert_in_range(pass->error_ns[COMPARE_SELF], 150 * MS, 165 * MS);
	function = llvm_row(r, COMPARE_OF_GENERICS, "syn::f1");
	assert_in_range(function->of[COMPARE_SELF][COMPARE_BASE].median, 99 * MS, 101 * MS);
	assert_in_range(function->of[COMPARE_SELF][COMPARE_NEW].median, 399 * MS, 401 * MS);
	function = llvm_row(r, COMPARE_OF_GENERICS, "syn::f0");
	assert_true(function->in[COMPARE_BASE] && !function->in[COMPARE_NEW]);
	/* A limit of queries is of none of these. */
	assert_int_equal(commits__sum(c.c, is_gvn, NULL, false, &sum), 0);
}

TEST_CASE(a_function_beyond_those_that_are_kept_is_not_compared)
{
	_store_ struct store *s = history_builds_store("cut.db");
	__cleanup(compared__clear) struct compared c;
	const struct compare_result *r;

	add_with_llvm(s, 0, 0, HISTORY_FUNCTIONS);
	add_with_llvm(s, 1, 1, HISTORY_FUNCTIONS);
	compare(s, COMPARE_CPU, 1, &c);
	r = commits__result(c.c);
	assert_int_equal(compare_result__table(r, COMPARE_OF_GENERICS).n, HISTORY_FUNCTIONS - 1);
	assert_null(llvm_row(r, COMPARE_OF_GENERICS, "syn::f0"));
	assert_non_null(llvm_row(r, COMPARE_OF_GENERICS, "syn::f1"));
}

TEST_CASE(without_llvms_work_in_all_builds_none_is_compared)
{
	_store_ struct store *s = history_builds_store("some.db");
	__cleanup(compared__clear) struct compared c;
	_history_rows_ struct history_rows r;

	add_with_llvm(s, 0, 0, 2);
	history_rows__init(&r);
	sample_history(&r, 1);
	r.n[HISTORY_LLVM] = 0;
	assert_int_equal(store__add(s, &r), 0);
	compare(s, COMPARE_CPU, 1, &c);
	assert_false(commits__result(c.c)->has_llvm);
	assert_int_equal(compare_result__table(commits__result(c.c), COMPARE_OF_PASSES).n, 0);
}

TEST_CASE(too_many_builds_are_refused)
{
	_store_ struct store *s = history_builds_store("many.db");
	const struct history_build *all[COMMITS_MOST + 1] = {};
	const struct compare_rules rules = {};
	struct commits *c;

	assert_int_equal(commits__compare(s, all, COMMITS_MOST, 1, &rules, &c), -E2BIG);
}

TEST_MAIN(directory_make, directory_remove)
