// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "record/launch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../fixtures/output.h"

static struct launch *prepared(const char *const *argv)
{
	struct launch *l = NULL;

	assert_int_equal(launch__prepare((char *const *)argv, &l), 0);
	assert_true(launch__pid(l) > 0);
	return l;
}

static int run(const char *const *argv)
{
	_launch_ struct launch *l = prepared(argv);
	int status;

	assert_int_equal(launch__go(l), 0);
	while (launch__reap(l, true, &status) != 1)
		;
	return status;
}

static int run_shell(const char *script)
{
	return run((const char *const[]){"sh", "-c", script, NULL});
}

TEST_CASE(the_child_waits_until_it_may_go)
{
	char path[] = "/tmp/qprof-test-launch-XXXXXX";
	int fd = mkstemp(path), status;
	_launch_ struct launch *l = prepared((const char *const[]){"rm", path, NULL});

	close(fd);
	assert_int_equal(launch__reap(l, false, &status), 0);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(launch__go(l), 0);
	assert_int_equal(launch__reap(l, true, &status), 1);
	assert_int_equal(access(path, F_OK), -1);
}

TEST_CASE(a_child_that_never_goes_runs_nothing)
{
	char path[] = "/tmp/qprof-test-launch-XXXXXX";
	int fd = mkstemp(path);
	struct launch *l = prepared((const char *const[]){"rm", path, NULL});
	pid_t pid = launch__pid(l);

	close(fd);
	launch__free(l);
	launch__free(NULL);
	assert_int_equal(kill(pid, 0), -1); /* reaped, too */
	assert_int_equal(unlink(path), 0);
}

TEST_CASE(statuses_are_those_of_wait)
{
	int status = run_shell("exit 7");

	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	status = run_shell("kill -TERM $$");
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

TEST_CASE(reaping_twice_gives_the_same)
{
	_launch_ struct launch *l = prepared((const char *const[]){"false", NULL});
	int status = -1;

	assert_int_equal(launch__go(l), 0);
	assert_int_equal(launch__reap(l, true, &status), 1);
	status = -1;
	assert_int_equal(launch__reap(l, false, &status), 1);
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_int_equal(launch__signal(l, SIGTERM), -ESRCH);
}

TEST_CASE(the_launch_reports_why_a_command_cannot_run)
{
	struct launch *l = prepared((const char *const[]){"/nonexistent/command", NULL});
	pid_t pid;

	assert_int_equal(launch__go(l), -ENOENT);
	launch__free(l);
	l = prepared((const char *const[]){"no-such-command-at-all", NULL});
	pid = launch__pid(l);
	assert_int_equal(launch__go(l), -ENOENT);
	assert_int_equal(kill(pid, 0), -1);
	launch__free(l);
	l = prepared((const char *const[]){"/tmp", NULL});
	assert_int_equal(launch__go(l), -EACCES);
	launch__free(l);
}

TEST_CASE(signals_reach_the_child)
{
	_launch_ struct launch *l = prepared((const char *const[]){"sleep", "10", NULL});
	int status;

	assert_int_equal(launch__go(l), 0);
	assert_int_equal(launch__signal(l, SIGHUP), 0);
	assert_int_equal(launch__reap(l, true, &status), 1);
	assert_int_equal(WTERMSIG(status), SIGHUP);
}

TEST_CASE(a_child_killed_before_its_exec_counts_as_gone_by_a_signal)
{
	_launch_ struct launch *l = prepared((const char *const[]){"true", NULL});
	int status;

	assert_int_equal(launch__signal(l, SIGINT), 0);
	/* Wait until the child is dead, without reaping it. */
	assert_int_equal(waitid(P_PID, (id_t)launch__pid(l), &(siginfo_t){}, WEXITED | WNOWAIT), 0);
	assert_int_equal(launch__go(l), 0);
	assert_int_equal(launch__reap(l, true, &status), 1);
	assert_int_equal(WTERMSIG(status), SIGINT);
}

static void ignore(int sig)
{
}

/* The child's value of this field of /proc/self/status. */
static uint64_t child_mask(const char *field)
{
	_output_ struct output o;
	char script[128];

	snprintf(script, sizeof(script), "exec sed -n 's/^%s:.//p' /proc/self/status", field);
	output_begin(&o);
	assert_int_equal(run_shell(script), 0);
	output_end(&o);
	return strtoull(o.text[0], NULL, 16);
}

static uint64_t bit(int sig)
{
	return 1ull << (sig - 1);
}

TEST_CASE(the_child_has_the_signals_of_our_start)
{
	/* Our signal handling does not leak. */
	sigset_t set, old;

	launch__save_signals();
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &old);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, ignore);
	assert_int_equal(child_mask("SigBlk") & (bit(SIGTERM) | bit(SIGCHLD)), 0);
	assert_int_equal(child_mask("SigIgn") & bit(SIGPIPE), 0);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	/* The child ignores signals that were ignored at start. */
	/* As under nohup. */
	signal(SIGHUP, SIG_IGN);
	launch__save_signals();
	signal(SIGHUP, ignore);
	assert_int_equal(child_mask("SigIgn") & bit(SIGHUP), bit(SIGHUP));
	signal(SIGHUP, SIG_DFL);
	launch__save_signals();
	assert_int_equal(child_mask("SigIgn") & bit(SIGHUP), 0);
}

/* Our inheritable file descriptors from 3 on, one per line. */
static void list_inheritable(char *text, size_t size)
{
	size_t len = 0;

	*text = '\0';
	for (int fd = 3; fd < 1024 && len < size; fd++) {
		int flags = fcntl(fd, F_GETFD);

		if (flags >= 0 && !(flags & FD_CLOEXEC))
			len += (size_t)snprintf(text + len, size - len, "%d\n", fd);
	}
}

TEST_CASE(no_file_of_ours_stays_open_but_others_do)
{
	int inherited = fcntl(STDIN_FILENO, F_DUPFD, 90); /* as make's job server */
	_output_ struct output o;
	char expected[4096];

	output_begin(&o);
	list_inheritable(expected, sizeof(expected));
	assert_int_equal(run_shell("for fd in /proc/self/fd/*; do [ -e $fd ] && "
				   "[ ${fd##*/} -gt 2 ] && echo ${fd##*/}; done | sort -n"),
			 0);
	output_end(&o);
	assert_contains(expected, "90\n");
	assert_string_equal(o.text[0], expected);
	close(inherited);
}

/* The wait status of a child that calls launch__exit_like(status). */
static int end_like(int status)
{
	int ended;
	pid_t pid = fork();

	if (pid == 0) {
		sigset_t all;

		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, NULL);
		launch__exit_like(status);
	}
	assert_int_equal(waitpid(pid, &ended, 0), pid);
	return ended;
}

TEST_CASE(we_end_as_the_child_ended)
{
	assert_int_equal(end_like(3 << 8), 3 << 8);
	assert_int_equal(end_like(0), 0);
	assert_int_equal(end_like(SIGTERM), SIGTERM);
	assert_int_equal(end_like(SIGKILL), SIGKILL);
	/* The core dump flag is the command's; our own exit must not dump core. */
	assert_int_equal(end_like(SIGABRT | 0x80), SIGABRT);
}

TEST_MAIN(NULL, NULL)
