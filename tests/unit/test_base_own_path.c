// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/own_path.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "test.h"

/* What others may write to is made by a chown to another user, which only root can do. */
#define THEIRS 1000

static char dir[] = "/tmp/qprof-own-path-XXXXXX";

static const char *at(const char *name)
{
	static char paths[4][128];
	static unsigned int next;
	char *path = paths[next++ % N_OF(paths)];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static int begin(void **state)
{
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	return !mkdtemp(dir) || mkdir(at("a"), 0700) || mkdir(at("a/b"), 0700) ||
	       symlink("a", at("link")) || symlink(at("link/b"), at("absolute"));
}

static int end(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static int resolve(const char *name, bool alone, const char *expected)
{
	_own_path_refusal_ struct own_path_refusal why = {0};
	_free_ char *real = NULL;
	int err = own_path__resolve(at(name), alone, &real, &why);

	if (!err)
		assert_string_equal(real, at(expected));
	else
		assert_null(real);
	return err;
}

/* It gives what realpath(3) gives, but for a last part that is missing. */
TEST_CASE_WITH(own_links_are_followed, begin, end)
{
	assert_int_equal(resolve("a/b", true, "a/b"), 0);
	assert_int_equal(resolve("link/./b//../b/", true, "a/b"), 0);
	assert_int_equal(resolve("absolute", true, "a/b"), 0);
	assert_int_equal(resolve("absolute/../missing", true, "a/missing"), 0);
	assert_int_equal(resolve("missing/too", false, ""), -ENOENT);
	assert_int_equal(symlink("round", at("round")), 0);
	assert_int_equal(resolve("round", false, ""), -ELOOP);
}

TEST_CASE_WITH(relative_paths_begin_at_the_working_directory, begin, end)
{
	_own_path_refusal_ struct own_path_refusal why = {0};
	_free_ char *real = NULL, *root = NULL;
	char cwd[256];

	assert_non_null(getcwd(cwd, sizeof(cwd)));
	assert_int_equal(chdir(at("a")), 0);
	assert_int_equal(own_path__resolve("../link/b", false, &real, &why), 0);
	assert_string_equal(real, at("a/b"));
	assert_int_equal(own_path__resolve("/../", true, &root, &why), 0);
	assert_string_equal(root, "/");
	assert_int_equal(own_path__resolve("", false, &root, &why), -ENOENT);
	assert_int_equal(chdir(cwd), 0);
}

TEST_CASE_WITH(a_link_that_anybody_could_put_there_is_not_followed, begin, end)
{
	if (geteuid())
		skip();
	assert_int_equal(lchown(at("link"), THEIRS, THEIRS), 0);
	/* Nobody but root could put it there. */
	assert_int_equal(resolve("link/b", false, "a/b"), 0);
	assert_int_equal(chmod(dir, 01777), 0);
	assert_int_equal(resolve("link", false, ""), -ELOOP);
	assert_int_equal(resolve("link/b", false, ""), -ELOOP);
	/* Our own link leads over it. */
	assert_int_equal(resolve("absolute", false, ""), -ELOOP);
	assert_int_equal(resolve("a/b", false, "a/b"), 0);
	/* As the kernel has it: a user's link in the user's own directory. */
	assert_int_equal(chown(dir, THEIRS, THEIRS), 0);
	assert_int_equal(resolve("link/b", false, "a/b"), 0);
}

TEST_CASE_WITH(others_must_not_replace_directories_on_the_way, begin, end)
{
	_own_path_refusal_ struct own_path_refusal why = {0};
	char *real = NULL;

	assert_int_equal(chmod(at("a"), 01777), 0);
	assert_int_equal(resolve("a/b", true, "a/b"), 0);
	assert_int_equal(chmod(at("a"), 0777), 0);
	assert_int_equal(resolve("a/b", true, ""), -EPERM);
	assert_int_equal(resolve("a/b", false, "a/b"), 0);
	/* The way back from below is one, too. */
	assert_int_equal(resolve("a/b/../../link", true, ""), -EPERM);
	/* Who may write to the last one is not asked. */
	assert_int_equal(resolve("a", true, "a"), 0);
	assert_int_equal(own_path__resolve(at("link/b"), true, &real, &why), -EPERM);
	assert_string_equal(why.at, at("a"));
	assert_false(why.is_link || why.theirs);
	if (geteuid())
		return;
	assert_int_equal(chmod(at("a"), 0755) ?: chown(at("a"), THEIRS, THEIRS), 0);
	assert_int_equal(resolve("a/b", true, ""), -EPERM);
}

TEST_MAIN(NULL, NULL)
