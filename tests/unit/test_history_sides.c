// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sides.h"

#include "../fixtures/history_builds.h"

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
	assert_int_equal(two.n[COMPARE_BASE], 2);
	assert_int_equal(two.n[COMPARE_NEW], 1);
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
	assert_int_equal(two.n[COMPARE_BASE], 1);
	assert_string_equal(two.all[0]->host, "y");
	assert_int_equal(two.left_out, 3);
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
	assert_int_equal(newest.n[COMPARE_BASE], 2);
	assert_int_equal(newest.n[COMPARE_NEW], 1);
	assert_string_equal(newest.all[0]->workspace, "tool");
	assert_string_equal(newest.all[2]->workspace, "tool");
	a.workspace = "app";
	assert_int_equal(sides__against(s, &a, &chosen), 0);
	assert_string_equal(chosen.all[0]->workspace, "app");
	assert_string_equal(chosen.all[2]->workspace, "app");
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
	assert_int_equal(sides.n[COMPARE_BASE], 2);
	assert_int_equal(sides.left_out, 2);
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
	assert_int_equal(sampled.n[COMPARE_BASE], 2);
	assert_string_equal(sampled.all[0]->how, "sampled");
	history_builds_add(s, 5, &(struct history_change){.commit = "c", .how = "exact"});
	assert_int_equal(sides__against(s, &main_branch, &exact), 0);
	assert_int_equal(exact.n[COMPARE_BASE], 2);
	assert_string_equal(exact.all[0]->how, "exact");
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
	assert_int_equal(newest.n[COMPARE_BASE], 5);
	assert_string_equal(newest.all[0]->commit, "4");
	assert_string_equal(newest.all[5]->commit, "f");
	a.commit = "3";
	assert_int_equal(sides__against(s, &a, &older), 0);
	assert_int_equal(older.n[COMPARE_BASE], 3);
	assert_string_equal(older.all[2]->commit, "2");
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
