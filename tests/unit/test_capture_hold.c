// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/hold.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cmocka.h>

static volatile unsigned long *steps;	    /* counted by the child as it runs */
static volatile sig_atomic_t *child_signal; /* as the child tells it */

static void on_signal(int sig)
{
	(void)sig;
	*child_signal = 1;
}

static pid_t start_counting(void)
{
	pid_t pid;

	*steps = 0;
	*child_signal = 0;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGUSR1, on_signal);
		for (;;) {
			++*steps;
			usleep(100);
		}
	}
	while (!*steps)
		usleep(100);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void wait_for_more_steps(void)
{
	unsigned long before = *steps;

	while (*steps == before)
		usleep(100);
}

static char state_of(pid_t pid)
{
	_fclose_ FILE *f = NULL;
	char name[64], state = 0;

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
	f = fopen(name, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*d (%*[^)]) %c", &state), 1);
	return state;
}

static int setup(void **state)
{
	(void)state;
	steps = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	child_signal = (volatile sig_atomic_t *)(steps + 1);
	return steps == MAP_FAILED;
}

static void it_stands_still_while_it_is_held(void **state)
{
	_hold_ struct hold *h = NULL;
	pid_t pid = start_counting();

	(void)state;
	assert_int_equal(hold__begin(pid, &h), 0);
	assert_int_equal(state_of(pid), 't');
	hold__free(take_ptr(h));
	wait_for_more_steps();
	assert_int_not_equal(state_of(pid), 't');
	end(pid);
}

static void a_signal_that_comes_meanwhile_is_not_lost(void **state)
{
	_hold_ struct hold *h = NULL;
	pid_t pid = start_counting();

	(void)state;
	assert_int_equal(hold__begin(pid, &h), 0);
	kill(pid, SIGUSR1);
	hold__free(take_ptr(h));
	while (!*child_signal)
		usleep(100);
	end(pid);
}

/* 200 times, as only some of the signals come just when it stops. */
static void a_signal_that_comes_as_it_stops_is_not_lost(void **state)
{
	pid_t pid = start_counting();

	(void)state;
	for (int i = 0; i < 200; i++) {
		_hold_ struct hold *h = NULL;

		*child_signal = 0;
		kill(pid, SIGUSR1);
		assert_int_equal(hold__begin(pid, &h), 0);
		hold__free(take_ptr(h));
		while (!*child_signal)
			usleep(10);
	}
	end(pid);
}

static void one_that_is_killed_while_it_is_held_is_still_ours_to_wait_for(void **state)
{
	_hold_ struct hold *h = NULL;
	pid_t pid = start_counting();
	int status = 0;

	(void)state;
	assert_int_equal(hold__begin(pid, &h), 0);
	kill(pid, SIGKILL);
	hold__free(take_ptr(h));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* 500 times, as only some of them die between the two steps that it takes to hold one. */
static void one_that_is_killed_as_it_stops_is_still_ours_to_wait_for(void **state)
{
	(void)state;
	for (int i = 0; i < 500; i++) {
		_hold_ struct hold *h = NULL;
		pid_t pid = fork(), killer;
		int status = 0;

		if (!pid)
			for (;;)
				pause();
		killer = fork();
		if (!killer) {
			for (volatile int n = 0; n < i % 50 * 400; n++)
				;
			kill(pid, SIGKILL);
			_exit(0);
		}
		hold__begin(pid, &h);
		hold__free(take_ptr(h));
		assert_int_equal(waitpid(killer, NULL, 0), killer);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
}

/* A child's child: its parent gets to know of its death, and of nothing else. */
static void its_parent_sees_nothing_but_its_end(void **state)
{
	pid_t *grandchild = (pid_t *)(steps + 2), parent;
	_hold_ struct hold *h = NULL;
	int status;

	(void)state;
	*grandchild = 0;
	parent = fork();
	if (!parent) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		*grandchild = start_counting();
		if (waitpid(*grandchild, &status, WUNTRACED | WCONTINUED) != *grandchild)
			_exit(1);
		_exit(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : 2);
	}
	while (!*(volatile pid_t *)grandchild)
		usleep(100);
	assert_int_equal(hold__begin(*grandchild, &h), 0);
	hold__free(take_ptr(h));
	wait_for_more_steps();
	assert_int_equal(hold__begin(*grandchild, &h), 0);
	kill(*grandchild, SIGKILL);
	hold__free(take_ptr(h));
	assert_int_equal(waitpid(parent, &status, 0), parent);
	assert_int_equal(status, 0);
}

static void one_that_is_gone_cannot_be_held(void **state)
{
	struct hold *h = NULL;
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_int_equal(hold__begin(pid, &h), -ESRCH);
	assert_null(h);
}

static void one_that_somebody_traces_cannot_be_held(void **state)
{
	struct hold *h = NULL;

	(void)state;
	assert_int_equal(hold__begin(getpid(), &h), -EPERM);
	assert_null(h);
}

static void a_program_that_runs_is_not_loading(void **state)
{
	_hold_ struct hold *h = NULL;
	pid_t pid = start_counting();

	(void)state;
	assert_int_equal(hold__begin(pid, &h), 0);
	assert_false(hold__is_loading(h));
	hold__free(take_ptr(h));
	end(pid);
}

/* A loader that has much to say, and nobody listens: it waits within its own code. */
static void a_program_whose_loader_works_is_loading(void **state)
{
	_hold_ struct hold *h = NULL;
	int pair[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(pair), 0);
	fcntl(pair[1], F_SETPIPE_SZ, 4096);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(pair[1], 2);
		setenv("LD_DEBUG", "all", 1);
		execlp("cat", "cat", NULL);
		_exit(127);
	}
	for (int room = 1; room;) {
		struct pollfd pfd = {.fd = pair[1], .events = POLLOUT};

		usleep(1000);
		room = poll(&pfd, 1, 0);
	}
	assert_int_equal(hold__begin(pid, &h), 0);
	assert_true(hold__is_loading(h));
	hold__free(take_ptr(h));
	end(pid);
	close(pair[0]);
	close(pair[1]);
}

static void nothing_can_be_freed(void **state)
{
	(void)state;
	hold__free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_stands_still_while_it_is_held),
		cmocka_unit_test(a_signal_that_comes_meanwhile_is_not_lost),
		cmocka_unit_test(a_signal_that_comes_as_it_stops_is_not_lost),
		cmocka_unit_test(one_that_is_killed_while_it_is_held_is_still_ours_to_wait_for),
		cmocka_unit_test(one_that_is_killed_as_it_stops_is_still_ours_to_wait_for),
		cmocka_unit_test(its_parent_sees_nothing_but_its_end),
		cmocka_unit_test(one_that_is_gone_cannot_be_held),
		cmocka_unit_test(one_that_somebody_traces_cannot_be_held),
		cmocka_unit_test(a_program_that_runs_is_not_loading),
		cmocka_unit_test(a_program_whose_loader_works_is_loading),
		cmocka_unit_test(nothing_can_be_freed),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
