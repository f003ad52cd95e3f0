// SPDX-License-Identifier: Apache-2.0 OR MIT
/* tests/e2e/test_cargo_qprof.py has sudo between the two processes. */
#include "proc/sudo_caller.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "test.h"

/* The status of a child, which is 0 if `is_right` of what it finds. */
static void in_child(uid_t caller, bool (*is_right)(char **env))
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(!is_right(sudo_caller__environ(caller)));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static bool has(char **env, const char *entry)
{
	for (; *env; env++)
		if (!strncmp(*env, entry, strlen(entry)))
			return true;
	return false;
}

static bool is_that_of_the_start(char **env)
{
	return env && has(env, "FIRST=a") && has(env, "EMPTY=") && !has(env, "SUDO_UID=") &&
	       !has(env, "LATER=");
}

static bool is_nothing(char **env)
{
	return !env;
}

TEST_CASE(a_parent_of_this_program_is_the_caller)
{
	setenv("LATER", "b", 1);
	in_child(geteuid(), is_that_of_the_start);
}

TEST_CASE(another_user_is_not)
{
	in_child(geteuid() + 1, is_nothing);
}

/*
 * As one of a program with capabilities, or one that has changed its user: root may look into it,
 * and must not do so for its user.
 */
TEST_CASE(nor_is_a_process_that_others_may_not_look_into)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (!geteuid() && setresuid(65534, 65534, 65534))
			_exit(1);
		prctl(PR_SET_DUMPABLE, 0);
		in_child(geteuid(), is_nothing);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* The nearest process of the user is a shell. */
TEST_CASE(nor_is_another_program)
{
	char command[128];

	snprintf(command, sizeof(command), "/proc/%d/exe --ask; exit $?", (int)getpid());
	assert_int_equal(system(command), 0);
}

int main(int argc, char **argv)
{
	static char *const env[] = {"FIRST=a", "SUDO_UID=1", "EMPTY=", NULL};

	if (argc > 1 && !strcmp(argv[1], "--ask"))
		return sudo_caller__environ(geteuid()) != NULL;
	/* Its environment is that of the exec. */
	if (!getenv("FIRST"))
		execve("/proc/self/exe", argv, env);
	return test_cases__run(NULL, NULL);
}
