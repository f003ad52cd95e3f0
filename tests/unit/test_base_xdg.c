// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/own_path.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../fixtures/output.h"
#include "test.h"

static void assert_path(enum xdg_kind kind, const char *rest, const char *expected)
{
	_free_ char *path = xdg__path(kind, rest);

	assert_string_equal(path, expected);
}

TEST_CASE(a_variable_names_the_directory)
{
	setenv("HOME", "/home/a", 1);
	setenv("XDG_STATE_HOME", "/state", 1);
	setenv("XDG_DATA_HOME", "data", 1);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("XDG_CACHE_HOME");
	assert_path(XDG_STATE, "a/b", "/state/a/b");
	/* A relative one does not count. */
	assert_path(XDG_DATA, "a", "/home/a/.local/share/a");
	assert_path(XDG_CONFIG, "a", "/home/a/.config/a");
	assert_path(XDG_CACHE, "a", "/home/a/.cache/a");
	unsetenv("XDG_STATE_HOME");
	assert_path(XDG_STATE, "a", "/home/a/.local/state/a");
}

TEST_CASE(without_a_home_it_is_that_of_the_user_database)
{
	_free_ char *path = NULL;

	setenv("HOME", "relative", 1);
	unsetenv("XDG_CACHE_HOME");
	path = xdg__path(XDG_CACHE, "a");
	assert_non_null(path);
	assert_int_equal(path[0], '/');
	assert_null(strstr(path, "relative"));
	assert_contains(path, "/.cache/a");
}

TEST_CASE(directories_are_their_owners_alone)
{
	char base[] = "/tmp/qprof-test.XXXXXX", path[64], file[80];
	struct stat st;

	assert_non_null(mkdtemp(base));
	snprintf(path, sizeof(path), "%s/a/b", base);
	for (int i = 0; i < 2; i++)
		assert_int_equal(xdg__make(path), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	snprintf(file, sizeof(file), "%s/a/file", base);
	output_write(file, "");
	snprintf(path, sizeof(path), "%s/a/file/b", base);
	assert_int_equal(xdg__make(path), -ENOTDIR);
	unlink(file);
	snprintf(path, sizeof(path), "%s/a/b", base);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/a", base);
	rmdir(path);
	assert_int_equal(rmdir(base), 0);
}

TEST_MAIN(NULL, NULL)
