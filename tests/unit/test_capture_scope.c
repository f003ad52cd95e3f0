// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/scope.h"

#include <unistd.h>

#include "test.h"

#define MOUNT "/sys/fs/cgroup"

TEST_CASE(all_processes_are_in_no_group_in_particular)
{
	_scope_ struct scope *s = NULL;

	assert_int_equal(scope__new(NULL, &s), 0);
	assert_true(scope__holds(s, getpid()));
	assert_true(scope__holds(s, 1));
}

TEST_CASE(a_group_holds_what_is_in_it_and_below)
{
	assert_true(scope_cgroup_holds("0::/ci.slice\n", MOUNT, MOUNT "/ci.slice"));
	assert_true(scope_cgroup_holds("0::/ci.slice/job\n", MOUNT, MOUNT "/ci.slice"));
	assert_true(scope_cgroup_holds("0::/ci.slice", MOUNT, MOUNT "/ci.slice"));
	assert_false(scope_cgroup_holds("0::/\n", MOUNT, MOUNT "/ci.slice"));
	assert_false(scope_cgroup_holds("0::/ci.slice2\n", MOUNT, MOUNT "/ci.slice"));
	assert_false(scope_cgroup_holds("0::/a/ci.slice\n", MOUNT, MOUNT "/ci.slice"));
}

TEST_CASE(the_root_holds_all)
{
	assert_true(scope_cgroup_holds("0::/\n", MOUNT, MOUNT));
	assert_true(scope_cgroup_holds("0::/a/b\n", MOUNT, MOUNT));
}

TEST_CASE(only_the_line_of_version_2_counts)
{
	const char *both = "4:memory:/ci.slice\n1:name=systemd:/ci.slice\n0::/user.slice\n";

	assert_true(scope_cgroup_holds(both, MOUNT, MOUNT "/user.slice"));
	assert_false(scope_cgroup_holds(both, MOUNT, MOUNT "/ci.slice"));
	assert_false(scope_cgroup_holds("4:memory:/ci.slice\n", MOUNT, MOUNT "/ci.slice"));
	assert_false(scope_cgroup_holds("", MOUNT, MOUNT "/ci.slice"));
}

TEST_CASE(a_path_that_is_not_a_control_group_is_an_error)
{
	struct scope *s = NULL;

	assert_int_equal(scope__new("/tmp", &s), -EINVAL);
	assert_int_equal(scope__new("/no/such/directory", &s), -ENOENT);
	assert_null(s);
	scope__free(NULL);
}

TEST_MAIN(NULL, NULL)
