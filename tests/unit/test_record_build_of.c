// SPDX-License-Identifier: Apache-2.0 OR MIT
/* This file defines a fake /proc. The linker prefers it to the real functions. */
#include "record/build_of.h"

#include <stdio.h>

#include "proc/processes.h"

#include "test.h"

static struct {
	const char *name;
	pid_t parent, session;
	uint64_t ticks, group;
	bool runs;
} world[16];

uid_t process_uid(pid_t pid)
{
	return world[pid].name ? 1000 : PROCESS_USER_UNKNOWN;
}

pid_t process_parent(pid_t pid)
{
	return world[pid].parent;
}

void process_name(pid_t pid, char *buf, size_t size)
{
	snprintf(buf, size, "%s", world[pid].name ?: "?");
}

uint64_t process_cgroup(pid_t pid)
{
	return world[pid].group;
}

bool process_is_running(pid_t pid)
{
	return world[pid].runs;
}

bool process_session(pid_t pid, pid_t *session, uint64_t *start_ticks)
{
	*session = world[pid].session;
	*start_ticks = world[pid].ticks;
	return world[pid].name != NULL;
}

static void set(pid_t pid, const char *name, pid_t parent, pid_t session)
{
	world[pid].name = name;
	world[pid].parent = parent;
	world[pid].session = session;
	world[pid].ticks = 100 + (uint64_t)pid;
	world[pid].group = 7;
	world[pid].runs = true;
}

TEST_CASE(a_build_is_that_of_the_topmost_cargo)
{
	struct build_of a, b;

	set(2, "sh", 1, 2);
	set(3, "cargo", 2, 2);
	set(4, "build-script", 3, 2);
	set(5, "cargo", 4, 2);
	set(6, "rustc", 5, 2);
	set(7, "rustc", 3, 2);
	a = build_of(6);
	b = build_of(7);
	assert_int_equal(a.root, 3);
	assert_int_equal(a.user, 1000);
	assert_true(build_of_is_same(&a, &b));
	/* Another process has its number. */
	world[3].ticks++;
	b = build_of(7);
	assert_false(build_of_is_same(&a, &b));
	assert_false(build_of_runs(&a));
	assert_true(build_of_runs(&b));
	world[3].runs = false;
	assert_false(build_of_runs(&b));
}

TEST_CASE(without_cargo_it_is_a_session)
{
	set(2, "make", 1, 2);
	set(3, "rustc", 2, 2);
	set(4, "rustc", 1, 0);
	assert_int_equal(build_of(3).root, 2);
	assert_int_equal(build_of(4).root, 4);
}

/* An agent that cargo runs starts a container for each job, and one compiler has a limit. */
TEST_CASE(a_cargo_outside_the_container_is_another_one)
{
	struct build_of a, b;

	set(2, "cargo", 1, 2);
	set(3, "agent", 2, 2);
	set(4, "cargo", 3, 4);
	set(5, "cargo", 4, 4);
	set(6, "rustc", 5, 4);
	set(7, "rustc", 4, 4);
	for (pid_t pid = 4; pid <= 6; pid++)
		world[pid].group = 8;
	world[7].group = 9;
	a = build_of(6);
	b = build_of(7);
	assert_int_equal(a.root, 4);
	assert_true(build_of_is_same(&a, &b));
}

TEST_CASE(a_session_in_two_groups_has_two_builds)
{
	struct build_of a, b, c;

	set(2, "sh", 1, 2);
	set(3, "rustc", 2, 2);
	set(4, "rustc", 2, 2);
	set(5, "rustc", 2, 2);
	world[4].group = 8;
	a = build_of(3);
	b = build_of(4);
	c = build_of(5);
	assert_int_equal(b.root, 2);
	assert_false(build_of_is_same(&a, &b));
	assert_true(build_of_is_same(&a, &c));
}

/* Processes that change their parents while they are read, and one that is gone. */
TEST_CASE(a_circle_of_parents_ends)
{
	set(2, "sh", 3, 2);
	set(3, "sh", 2, 2);
	assert_int_equal(build_of(3).root, 2);
	assert_int_equal(build_of(9).root, 9);
	assert_int_equal(build_of(9).user, PROCESS_USER_UNKNOWN);
}

TEST_MAIN(NULL, NULL)
