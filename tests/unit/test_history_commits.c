// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/commits.h"
#include "../fixtures/history_builds.h"
#include "history/sides.h"

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
	must(commits__compare(s, out->all, out->builds.n - n_new, n_new, &rules, &out->c));
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
	assert_struct(*r, n_crates, 2, tables[COMPARE_OF_QUERIES].n, 6);
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
	assert_struct(last, of[COMPARE_CPU][COMPARE_BASE].n, 8, significant, true);
}

/* Four builds of a new level are alike by chance: their range is not the noise. */
TEST_CASE(few_builds_of_a_level_do_not_show_the_noise)
{
	_store_ struct store *s = history_builds_store("few.db"),
			     *other = history_builds_store("far.db");
	__cleanup(compared__clear) struct compared c, far;
	struct compare_row near_row, far_row;

	for (unsigned int i = 0; i < 20; i++) {
		const struct history_change base = {.cpu_ns = (i < 16 ? 3000 : 4000) * MS +
							      i % 3 * MS};

		history_builds_add(s, i, &base);
		history_builds_add(other, i, &base);
	}
	history_builds_add(s, 20, &(struct history_change){.cpu_ns = 4150 * MS});
	history_builds_add(other, 20, &(struct history_change){.cpu_ns = 4900 * MS});
	compare(s, COMPARE_CPU, 1, &c);
	compare(other, COMPARE_CPU, 1, &far);
	assert_int_equal(commits__sum(c.c, is_build, NULL, true, &near_row), 1);
	assert_int_equal(commits__sum(far.c, is_build, NULL, true, &far_row), 1);
	assert_struct(near_row, of[COMPARE_CPU][COMPARE_BASE].n, 4, significant, false);
	assert_true(far_row.significant);
}

/* A build of "syn" with `n` functions of LLVM's from `first` on, and a pass; `number` is its time.
 */
static void add_with_llvm(struct store *s, unsigned int number, unsigned int first, unsigned int n)
{
	_history_rows_ struct history_rows r;

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

TEST_GROUP(directory_make, directory_remove)

/* ---- Sides ----------------------------------------------------------------------------------- */

static const struct sides_against main_branch = {.branch = "main", .last = 5};
static const struct history_filter any;

TEST_CASE(two_commits_are_found_by_their_beginnings)
{
	_store_ struct store *s = history_builds_store("two.db");
	_sides_ struct sides two = {}, none = {}, several = {};

	history_builds_add(s, 0, &(struct history_change){.commit = "aaaa1111"});
	history_builds_add(s, 1, &(struct history_change){.commit = "aaab2222"});
	history_builds_add(s, 2, &(struct history_change){.commit = "aaaa1111"});
	history_builds_add(s, 3, &(struct history_change){.commit = "aaaa1111", .dirty = 1});
	assert_int_equal(sides__of_commits(s, "aaaa", "aaab", &any, &two), 0);
	assert_struct(two, n[COMPARE_BASE], 2, n[COMPARE_NEW], 1);
	assert_string_equal(two.all[2]->commit, "aaab2222");
	assert_int_equal(sides__of_commits(s, "aaa", "aaab", &any, &several), -EINVAL);
	assert_int_equal(sides__of_commits(s, "aaaa", "b", &any, &none), -ENOENT);
}

TEST_CASE(other_kinds_are_left_out)
{
	_store_ struct store *s = history_builds_store("kinds.db");
	_sides_ struct sides two = {}, none = {};

	history_builds_add(s, 0, &(struct history_change){.commit = "a", .host = "x"});
	history_builds_add(s, 1, &(struct history_change){.commit = "a", .host = "y"});
	history_builds_add(s, 2, &(struct history_change){.commit = "a", .profile = "release"});
	history_builds_add(s, 3, &(struct history_change){.commit = "a", .host = "y", .reused = 3});
	history_builds_add(s, 4, &(struct history_change){.commit = "b", .host = "y"});
	history_builds_add(s, 5, &(struct history_change){.commit = "c", .profile = "bench"});
	assert_int_equal(sides__of_commits(s, "a", "b", &any, &two), 0);
	assert_struct(two, n[COMPARE_BASE], 1, all[0]->host, "y", left_out, 3);
	assert_int_equal(sides__of_commits(s, "a", "c", &any, &none), -ENOENT);
}

/* A commit of a repository with two workspaces, and another project in the store. */
TEST_CASE(workspaces_are_compared_apart)
{
	_store_ struct store *s = history_builds_store("workspaces.db");
	_sides_ struct sides newest = {}, chosen = {}, none = {};
	struct sides_against a = main_branch;

	for (unsigned int i = 0; i < 6; i++)
		history_builds_add(s, i,
				   &(struct history_change){.commit = i < 4 ? "1" : "2",
							    .branch = "main",
							    .workspace = i % 2 ? "tool" : "app"});
	assert_int_equal(sides__against(s, &a, &newest), 0);
	assert_struct(newest, n[COMPARE_BASE], 2, n[COMPARE_NEW], 1, all[0]->workspace, "tool",
		      all[2]->workspace, "tool");
	a.workspace = "app";
	assert_int_equal(sides__against(s, &a, &chosen), 0);
	assert_struct(chosen, all[0]->workspace, "app", all[2]->workspace, "app");
	history_builds_add(s, 6, &(struct history_change){.commit = "3", .workspace = "new"});
	a.workspace = NULL;
	assert_int_equal(sides__against(s, &a, &none), -ENOENT);
}

TEST_CASE(builds_that_miss_something_are_left_out)
{
	_store_ struct store *s = history_builds_store("unsound.db");
	_sides_ struct sides sides = {}, failed = {}, exact = {};

	for (unsigned int i = 0; i < 4; i++)
		history_builds_add(s, i,
				   &(struct history_change){.commit = "a",
							    .branch = "main",
							    .failed = i == 1 ? 3 : 1,
							    .lost = i == 2 ? 9 : 0});
	history_builds_add(s, 4, &(struct history_change){.commit = "b", .failed = 1});
	assert_int_equal(sides__against(s, &main_branch, &sides), 0);
	assert_struct(sides, n[COMPARE_BASE], 2, left_out, 2);
	history_builds_add(s, 5, &(struct history_change){.commit = "c", .failed = 2});
	assert_int_equal(sides__against(s, &main_branch, &failed), -ENODATA);
	/* A commit as it was kept is no beginning of another. */
	history_builds_add(s, 6, &(struct history_change){.commit = "ab", .branch = "fix"});
	assert_int_equal(sides__of_commits(s, "a", "ab", &any, &exact), 0);
}

TEST_CASE(builds_that_were_recorded_otherwise_are_left_out)
{
	_store_ struct store *s = history_builds_store("recorded.db");
	_sides_ struct sides sampled = {}, exact = {}, other = {};

	for (unsigned int i = 0; i < 4; i++)
		history_builds_add(s, i,
				   &(struct history_change){.commit = "a",
							    .branch = "main",
							    .how = i % 2 ? "exact" : "sampled"});
	history_builds_add(s, 4, &(struct history_change){.commit = "b", .how = "sampled"});
	assert_int_equal(sides__against(s, &main_branch, &sampled), 0);
	assert_struct(sampled, n[COMPARE_BASE], 2, all[0]->how, "sampled");
	history_builds_add(s, 5, &(struct history_change){.commit = "c", .how = "exact"});
	assert_int_equal(sides__against(s, &main_branch, &exact), 0);
	assert_struct(exact, n[COMPARE_BASE], 2, all[0]->how, "exact");
	/* If there is no other. */
	assert_int_equal(sides__of_commits(s, "b", "c", &any, &other), 0);
	assert_int_equal(other.n[COMPARE_BASE], 1);
}

/* Those before it, of other commits, the last of them. */
TEST_CASE(the_newest_build_is_judged_by_a_branch)
{
	_store_ struct store *s = history_builds_store("branch.db");
	_sides_ struct sides newest = {}, older = {};
	struct sides_against a = main_branch;

	for (unsigned int i = 0; i < 9; i++) {
		char commit[8];

		snprintf(commit, sizeof(commit), "%u", i);
		history_builds_add(s, i,
				   &(struct history_change){.commit = commit, .branch = "main"});
	}
	history_builds_add(s, 9, &(struct history_change){.commit = "f", .branch = "fix"});
	assert_int_equal(sides__against(s, &a, &newest), 0);
	assert_struct(newest, n[COMPARE_BASE], 5, all[0]->commit, "4", all[5]->commit, "f");
	a.commit = "3";
	assert_int_equal(sides__against(s, &a, &older), 0);
	assert_struct(older, n[COMPARE_BASE], 3, all[2]->commit, "2");
}

TEST_CASE(what_cannot_be_judged_is_an_error)
{
	_store_ struct store *s = history_builds_store("cannot.db");
	_sides_ struct sides sides = {};

	assert_int_equal(sides__against(s, &main_branch, &sides), -ENOENT);
	history_builds_add(s, 0, &(struct history_change){.commit = "1", .branch = "main"});
	history_builds_add(s, 1, &(struct history_change){.commit = "2", .toolchain = "other"});
	sides__clear(&sides);
	assert_int_equal(sides__against(s, &main_branch, &sides), -ENOENT);
	history_builds_add(s, 2, &(struct history_change){.commit = "3", .state = "damaged"});
	sides__clear(&sides);
	assert_int_equal(sides__against(s, &main_branch, &sides), -ENODATA);
}

TEST_MAIN(directory_make, directory_remove)
