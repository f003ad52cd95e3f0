// SPDX-License-Identifier: Apache-2.0 OR MIT
/* With programs in git's place. */
#include "history/git.h"

#include <sys/stat.h>

#include "../fixtures/directory.h"
#include "../fixtures/output.h"
#include "test.h"

static char *path_before;

static int make_place(void **state)
{
	char path[512];

	if (directory_make(state))
		return -1;
	path_before = strdup(getenv("PATH"));
	snprintf(path, sizeof(path), "%s:%s", directory, path_before);
	return setenv("PATH", path, 1);
}

static int remove_place(void **state)
{
	setenv("PATH", path_before, 1);
	free(path_before);
	return directory_remove(state);
}

static void let_git_be(const char *script)
{
	output_write(directory_path("git"), script);
	assert_int_equal(chmod(directory_path("git"), 0700), 0);
}

static int ask(int left_ms, char *line, size_t size)
{
	static const char *const args[] = {"rev-parse", "HEAD", NULL};
	struct git g = {.directory = directory, .work_tree = "/w", .fd = -1, .left_ms = left_ms};

	return git__ask(&g, args, line, size);
}

TEST_CASE_WITH(the_first_line_is_the_answer, make_place, remove_place)
{
	char line[32];

	let_git_be("#!/bin/sh\necho one\necho two\n");
	assert_int_equal(ask(GIT_MS, line, sizeof(line)), 0);
	assert_string_equal(line, "one");
	assert_int_equal(ask(GIT_MS, line, 3), 0);
	assert_string_equal(line, "on");
	let_git_be("#!/bin/sh\nexit 0\n");
	assert_int_equal(ask(GIT_MS, line, sizeof(line)), 0);
	assert_string_equal(line, "");
}

TEST_CASE_WITH(an_error_is_no_answer, make_place, remove_place)
{
	char line[32];

	let_git_be("#!/bin/sh\nexit 128\n");
	assert_int_equal(ask(GIT_MS, line, sizeof(line)), -ENOENT);
	setenv("PATH", "/nonexistent", 1);
	assert_int_equal(ask(GIT_MS, line, sizeof(line)), -ENOENT);
}

/* The process ends with the question: else this test would not. */
TEST_CASE_WITH(git_may_not_take_longer, make_place, remove_place)
{
	char line[32];

	let_git_be("#!/bin/sh\nsleep 100000\n");
	assert_int_equal(ask(0, line, sizeof(line)), -ETIMEDOUT);
	let_git_be("#!/bin/sh\necho yes\nsleep 100000\n");
	assert_int_equal(ask(GIT_MS, line, sizeof(line)), 0);
	assert_string_equal(line, "yes");
}

TEST_CASE_WITH(it_sees_no_environment_but_ours, make_place, remove_place)
{
	char line[512];

	setenv("GIT_DIR", "/nonexistent", 1);
	setenv("GIT_CONFIG_COUNT", "1", 1);
	let_git_be("#!/bin/sh\necho \"$PWD [$GIT_DIR] [$GIT_WORK_TREE] [$HOME] "
		   "[$GIT_CONFIG_COUNT] [${GIT_ALLOW_PROTOCOL-any}] $*\"\n");
	assert_int_equal(ask(GIT_MS, line, sizeof(line)), 0);
	unsetenv("GIT_DIR");
	unsetenv("GIT_CONFIG_COUNT");
	assert_contains(line, "/ [");
	assert_contains(line, directory);
	assert_contains(line, "] [/w] [");
	assert_contains(line, "] [] [] --no-pager rev-parse HEAD");
}

TEST_MAIN(NULL, NULL)
