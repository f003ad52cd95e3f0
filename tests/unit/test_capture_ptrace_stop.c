// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/ptrace_stop.h"

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "test.h"
#include "../fixtures/ended_child.h"
#include "base/clock.h"
#include "proc/processes.h"

static volatile unsigned long *steps;	    /* counted by the child as it runs */
static volatile sig_atomic_t *child_signal; /* set by the child */

#define WAIT_FOR(condition)          \
	do {                         \
		while (!(condition)) \
			usleep(100); \
	} while (0)

static void on_signal(int sig)
{
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
	WAIT_FOR(*steps);
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

	WAIT_FOR(*steps != before);
}

/* No test takes a minute. */
static uint64_t in_a_minute(void)
{
	return clock_ns(CLOCK_MONOTONIC) + 60000000000;
}

/* -EAGAIN: the threads of abandoned stops may not have ended yet. */
static struct ptrace_stop *begin_until(pid_t pid, uint64_t until_ns)
{
	struct ptrace_stop *s = NULL;
	uint64_t give_up_ns = in_a_minute();
	int err;

	do {
		err = ptrace_stop__begin(pid, getuid(), until_ns, -1, &s);
	} while (err == -EAGAIN && clock_ns(CLOCK_MONOTONIC) < give_up_ns && !usleep(100));
	assert_int_equal(err, 0);
	return s;
}

static struct ptrace_stop *begin(pid_t pid)
{
	return begin_until(pid, in_a_minute());
}

static struct ptrace_stop *stop(pid_t pid)
{
	struct ptrace_stop *s = begin(pid);

	WAIT_FOR(ptrace_stop__state(s) != PTRACE_STOP_BEGUN);
	return s;
}

/*
 * The thread of an abandoned stop may still be the tracer: if its PTRACE_SEIZE returned too late,
 * the kernel detaches only when the thread exits.
 */
static struct ptrace_stop *stop_at_last(pid_t pid)
{
	uint64_t give_up_ns = in_a_minute();
	struct ptrace_stop *s = stop(pid);

	while (ptrace_stop__state(s) != PTRACE_STOP_STOPPED &&
	       clock_ns(CLOCK_MONOTONIC) < give_up_ns) {
		ptrace_stop__free(s);
		usleep(1000);
		s = stop(pid);
	}
	return s;
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
	steps = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	child_signal = (volatile sig_atomic_t *)(steps + 1);
	return steps == MAP_FAILED;
}

TEST_CASE(a_stopped_process_does_not_run)
{
	pid_t pid = start_counting();
	_ptrace_stop_ struct ptrace_stop *s = stop(pid);

	assert_int_equal(state_of(pid), 't');
	ptrace_stop__free(take_ptr(s));
	wait_for_more_steps();
	assert_int_not_equal(state_of(pid), 't');
	end(pid);
}

/* 200 times, because only some of the signals come just as the process stops. */
TEST_CASE(a_signal_that_comes_as_it_stops_is_not_lost)
{
	pid_t pid = start_counting();

	for (int i = 0; i < 200; i++) {
		_ptrace_stop_ struct ptrace_stop *s = NULL;

		*child_signal = 0;
		kill(pid, SIGUSR1);
		s = stop(pid);
		ptrace_stop__free(take_ptr(s));
		while (!*child_signal)
			usleep(10);
	}
	end(pid);
}

TEST_CASE(a_signal_that_comes_meanwhile_is_not_lost)
{
	pid_t pid = start_counting();
	_ptrace_stop_ struct ptrace_stop *s = stop(pid);

	kill(pid, SIGUSR1);
	ptrace_stop__free(take_ptr(s));
	WAIT_FOR(*child_signal);
	end(pid);
}

TEST_CASE(a_child_killed_while_stopped_can_be_waited_for)
{
	pid_t pid = start_counting();
	_ptrace_stop_ struct ptrace_stop *s = stop(pid);
	int status = 0;

	kill(pid, SIGKILL);
	ptrace_stop__free(take_ptr(s));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* 500 times, because only some of the children die between the two steps of a stop. */
TEST_CASE(a_child_killed_as_it_stops_can_be_waited_for)
{
	for (int i = 0; i < 500; i++) {
		_ptrace_stop_ struct ptrace_stop *s = NULL;
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
		s = stop(pid);
		ptrace_stop__free(take_ptr(s));
		assert_int_equal(waitpid(killer, NULL, 0), killer);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
}

/* The stopped process is a grandchild, so that its parent is not its tracer. */
TEST_CASE(its_parent_sees_nothing_but_its_end)
{
	pid_t *grandchild = (pid_t *)(steps + 2), parent;
	_ptrace_stop_ struct ptrace_stop *s = NULL;
	int status;

	*grandchild = 0;
	parent = fork();
	if (!parent) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		*grandchild = start_counting();
		if (waitpid(*grandchild, &status, WUNTRACED | WCONTINUED) != *grandchild)
			_exit(1);
		_exit(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : 2);
	}
	WAIT_FOR(*(volatile pid_t *)grandchild);
	s = stop(*grandchild);
	ptrace_stop__free(take_ptr(s));
	wait_for_more_steps();
	s = stop(*grandchild);
	kill(*grandchild, SIGKILL);
	ptrace_stop__free(take_ptr(s));
	assert_int_equal(waitpid(parent, &status, 0), parent);
	assert_int_equal(status, 0);
}

TEST_CASE(a_process_that_is_gone_is_not_stopped)
{
	_ptrace_stop_ struct ptrace_stop *s = NULL;
	pid_t pid = ended_child();

	s = stop(pid);
	assert_int_equal(ptrace_stop__state(s), PTRACE_STOP_OVER);
	assert_int_equal(ptrace_stop__held_ns(s), 0);
}

TEST_CASE(a_process_that_may_not_be_traced_is_not_stopped)
{
	_ptrace_stop_ struct ptrace_stop *s = stop(getpid());

	assert_int_equal(ptrace_stop__state(s), PTRACE_STOP_OVER);
}

TEST_CASE(the_pc_of_the_stop_is_known)
{
	_ptrace_stop_ struct ptrace_stop *s = NULL;
	uint64_t pc, *expected = (uint64_t *)(steps + 3);
	pid_t pid;

	*expected = 0;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		__asm__ volatile("lea 1f(%%rip), %%rax; mov %%rax, (%0); 1: jmp 1b" ::"r"(expected)
				 : "rax", "memory");
	}
	WAIT_FOR(*(volatile uint64_t *)expected);
	s = stop(pid);
	pc = ptrace_stop__pc(s);
	assert_int_equal(pc, *expected);
	end(pid);
}

/* A busy machine may not stop the process before the deadline, so later deadlines are tried. */
TEST_CASE(it_runs_on_at_its_deadline)
{
	pid_t pid = start_counting();
	uint64_t held_ns = 0;

	for (uint64_t ns = 50000000; !held_ns && ns < 60000000000; ns *= 2) {
		struct ptrace_stop *s = begin_until(pid, clock_ns(CLOCK_MONOTONIC) + ns);

		WAIT_FOR(ptrace_stop__state(s) == PTRACE_STOP_OVER);
		held_ns = ptrace_stop__held_ns(s);
		ptrace_stop__free(s);
	}
	assert_true(held_ns > 0);
	wait_for_more_steps();
	end(pid);
}

/* A recording thread that hangs would not handle these signals. */
TEST_CASE(it_runs_on_at_a_signal_that_ends_a_recording)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP};
	pid_t pid = start_counting();
	sigset_t set;

	for (int i = 0; i < 4; i++) {
		_ptrace_stop_ struct ptrace_stop *s = NULL;
		int got;

		sigemptyset(&set);
		sigaddset(&set, signals[i]);
		sigprocmask(SIG_BLOCK, &set, NULL);
		s = stop(pid);
		assert_int_equal(ptrace_stop__state(s), PTRACE_STOP_STOPPED);
		kill(getpid(), signals[i]);
		WAIT_FOR(ptrace_stop__state(s) == PTRACE_STOP_OVER);
		wait_for_more_steps();
		sigwait(&set, &got);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
	}
	end(pid);
}

/*
 * The stop and the end of the stop wake the owner. The process is killed to end the stop, because
 * ptrace_stop__free() does not wait for its end on a busy machine.
 */
TEST_CASE(its_owner_is_woken)
{
	_close_ int wake = eventfd(0, EFD_CLOEXEC);
	_ptrace_stop_ struct ptrace_stop *s = NULL;
	pid_t pid = start_counting();
	eventfd_t n;

	assert_int_equal(ptrace_stop__begin(pid, getuid(), in_a_minute(), wake, &s), 0);
	assert_int_equal(eventfd_read(wake, &n), 0);
	assert_int_equal(ptrace_stop__state(s), PTRACE_STOP_STOPPED);
	kill(pid, SIGKILL);
	assert_int_equal(eventfd_read(wake, &n), 0);
	assert_int_equal(ptrace_stop__state(s), PTRACE_STOP_OVER);
	ptrace_stop__free(take_ptr(s));
	end(pid);
}

/* The main thread cannot stop until the child of its vfork() has ended. */
static pid_t start_vfork(pid_t *child)
{
	pid_t pid;

	*child = 0;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!vfork()) {
			*child = getpid();
			for (;;)
				pause();
		}
		for (;;)
			++*steps;
	}
	WAIT_FOR(*(volatile pid_t *)child);
	return pid;
}

TEST_CASE(a_process_that_never_stops_delays_nothing)
{
	pid_t *child = (pid_t *)(steps + 2), pid = start_vfork(child);
	struct ptrace_stop *s = begin(pid);

	*steps = 0;
	usleep(10000);
	assert_int_equal(ptrace_stop__state(s), PTRACE_STOP_BEGUN);
	ptrace_stop__free(s);
	/* The process is not traced any more, and will not stop. */
	s = begin(pid);
	ptrace_stop__free(s);
	s = begin_until(pid, clock_ns(CLOCK_MONOTONIC) + 20000000);
	WAIT_FOR(ptrace_stop__state(s) == PTRACE_STOP_OVER);
	assert_int_equal(ptrace_stop__held_ns(s), 0);
	ptrace_stop__free(s);
	kill(*child, SIGKILL);
	wait_for_more_steps();
	end(pid);
}

static void *second_thread(void *tid)
{
	*(volatile pid_t *)tid = gettid();
	for (;;)
		pause();
	return NULL;
}

/* The execve waits for the end of the second thread, which a tracer delays. */
static pid_t start_execve_that_waits(volatile pid_t *shared, pid_t *tracer)
{
	volatile pid_t *tid = shared, *traced = shared + 1;
	pthread_t thread;
	pid_t pid;

	*tid = *traced = 0;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_create(&thread, NULL, second_thread, (void *)tid);
		WAIT_FOR(*traced);
		execlp("sleep", "sleep", "60", NULL);
		_exit(127);
	}
	WAIT_FOR(*tid);
	*tracer = fork();
	if (!*tracer) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (ptrace(PTRACE_SEIZE, *tid, NULL, PTRACE_O_TRACEEXIT))
			_exit(1);
		*traced = 1;
		for (;;)
			pause();
	}
	WAIT_FOR(state_of(pid) == 'D');
	return pid;
}

static bool is_sleep(pid_t pid)
{
	char name[16];

	process_name(pid, name, sizeof(name));
	return !strcmp(name, "sleep");
}

TEST_CASE(a_process_that_cannot_be_seized_delays_nothing)
{
	struct ptrace_stop *s;
	pid_t tracer, pid;

	pid = start_execve_that_waits((volatile pid_t *)(steps + 2), &tracer);
	s = begin(pid);
	usleep(10000);
	assert_int_equal(ptrace_stop__state(s), PTRACE_STOP_BEGUN);
	ptrace_stop__free(s);
	/* One process may have two abandoned stops, so it does not use up those of others. */
	s = begin(pid);
	ptrace_stop__free(s);
	assert_int_equal(ptrace_stop__begin(pid, getuid(), in_a_minute(), -1, &s), -EAGAIN);
	end(tracer);
	/* The abandoned stops have seized the process by now, and give it up. */
	WAIT_FOR(is_sleep(pid) && state_of(pid) == 'S');
	s = stop_at_last(pid);
	assert_int_equal(ptrace_stop__state(s), PTRACE_STOP_STOPPED);
	ptrace_stop__free(s);
	end(pid);
}

TEST_MAIN(setup, NULL)
