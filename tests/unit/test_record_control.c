// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/control.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "base/signals.h"

#include "test.h"

static struct control c;
static unsigned int n_suspended;

static void begin(bool has_command)
{
	c = (struct control){.fd = -1};
	assert_int_equal(control__open(&c, has_command), 0);
}

static int end(void **state)
{
	const sigset_t none = signals_of((const int[]){0});

	control__destroy(&c);
	sigprocmask(SIG_SETMASK, &none, NULL);
	diag_drop_blocked(false);
	return 0;
}

static bool blocks_interrupts(void)
{
	sigset_t set;

	sigprocmask(SIG_BLOCK, NULL, &set);
	return sigismember(&set, SIGINT);
}

/* A shell that has begun, and that the terminal sent nothing. */
static void launch_shell(const char *script)
{
	const char *const argv[] = {"sh", "-c", script, NULL};

	assert_int_equal(launch__prepare((char *const *)argv, &c.launch), 0);
	assert_int_equal(launch__go(c.launch), 0);
}

TEST_CASE_WITH(a_signal_ends_the_recording_and_a_second_interrupt_kills, NULL, end)
{
	begin(false);
	control__take(&c);
	assert_false(c.stop);
	assert_true(blocks_interrupts());
	raise(SIGTERM);
	control__take(&c);
	assert_true(c.stop);
	assert_int_equal(c.signal, SIGTERM);
	assert_int_equal(c.n_signals, 1);
	assert_false(blocks_interrupts());
}

/*
 * As timeout(1) does; without a limit to what is one signal, the second one would end this test. A
 * timer of the kernel sends it, however late a process of ours would run.
 */
TEST_CASE_WITH(a_signal_that_is_sent_twice_is_one, NULL, end)
{
	static const int signals[] = {SIGINT, SIGTERM};
	const struct itimerspec soon = {.it_value.tv_nsec = 2000000};

	for (size_t i = 0; i < N_OF(signals); i++) {
		struct sigevent again = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = signals[i]};
		timer_t timer;

		begin(false);
		raise(signals[i]);
		assert_int_equal(timer_create(CLOCK_MONOTONIC, &again, &timer), 0);
		assert_int_equal(timer_settime(timer, 0, &soon, NULL), 0);
		control__take(&c);
		control__take(&c);
		assert_int_equal(c.n_signals, 1);
		timer_delete(timer);
		end(NULL);
	}
}

TEST_CASE_WITH(later_signals_are_seen_as_interruptions, NULL, end)
{
	begin(false);
	raise(SIGINT);
	control__take(&c);
	assert_false(control__is_interrupted(&c));
	control__block_interrupts();
	raise(SIGINT);
	assert_true(control__is_interrupted(&c));
	assert_int_equal(c.n_signals, 2);
}

static void count_suspend(void *ctx)
{
	n_suspended++;
	assert_ptr_equal(ctx, &c);
}

/* A child stops as its parent would; it is continued, and the recording goes on. */
TEST_CASE(it_is_suspended_and_goes_on)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		begin(false);
		c.suspend = count_suspend;
		c.suspend_ctx = &c;
		raise(SIGTSTP);
		control__take(&c);
		_exit(n_suspended == 1 && !c.stop ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	kill(pid, SIGCONT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* A signal that a process sent reaches only us. */
TEST_CASE_WITH(a_signal_is_passed_on_to_the_command, NULL, end)
{
	begin(true);
	launch_shell("trap 'exit 7' USR1; while :; do sleep 0.01; done");
	while (!c.child_done) {
		kill(getpid(), SIGUSR1);
		usleep(1000);
		control__take(&c);
	}
	assert_true(c.stop);
	assert_int_equal(c.signal, 0);
	/* The shell may not have set its trap yet. */
	assert_true(WIFSIGNALED(c.child_status) ? WTERMSIG(c.child_status) == SIGUSR1
						: WEXITSTATUS(c.child_status) == 7);
}

TEST_CASE_WITH(the_end_of_the_command_is_waited_for, NULL, end)
{
	begin(true);
	launch_shell("sleep 0.05; exit 3");
	control__wait_for_command(&c);
	assert_true(c.child_done);
	assert_int_equal(WEXITSTATUS(c.child_status), 3);
	assert_false(blocks_interrupts());
}

/* The program ignores interrupts, however many come. */
TEST_CASE_WITH(a_program_that_cargo_runs_has_its_signals, NULL, end)
{
	begin(true);
	launch_shell("trap '' INT; echo cargo >/proc/$$/comm; kill -STOP $$; "
		     "exec sh -c 'sleep 0.05; exit 3'");
	while (!c.is_cargo) {
		assert_false(control__runs_on(&c));
		usleep(1000);
	}
	while (!control__runs_on(&c)) {
		launch__signal(c.launch, SIGCONT);
		usleep(1000);
	}
	for (int i = 0; i < 3; i++) {
		raise(SIGINT);
		control__take(&c);
	}
	control__wait_for_command(&c);
	assert_int_equal(c.signal, 0);
	assert_true(WIFEXITED(c.child_status));
	assert_int_equal(WEXITSTATUS(c.child_status), 3);
}

/* Nor does a shell that executes a program, as it is no cargo. */
TEST_CASE_WITH(another_command_never_runs_on, NULL, end)
{
	begin(true);
	launch_shell("exec sleep 0.05");
	while (!c.child_done) {
		assert_false(control__runs_on(&c));
		usleep(1000);
		control__take(&c);
	}
}

TEST_CASE_WITH(a_wait_ends_with_its_result_or_a_signal, NULL, end)
{
	int ready[2], never[2];

	begin(false);
	assert_int_equal(pipe(ready) | pipe(never), 0);
	assert_int_equal(write(ready[1], "", 1), 1);
	assert_int_equal(control__wait(&c, -1, -1), 0);
	assert_int_equal(control__wait(&c, ready[0], -1), 0);
	assert_int_equal(control__wait(&c, never[0], 1), -ETIME);
	raise(SIGHUP);
	assert_int_equal(control__wait(&c, never[0], -1), -EINTR);
	assert_int_equal(c.signal, SIGHUP);
	for (int i = 0; i < 2; i++) {
		close(ready[i]);
		close(never[i]);
	}
}

TEST_CASE_WITH(a_reader_is_given_up_after_two_signals, NULL, end)
{
	int ready[2], never[2];

	begin(false);
	assert_int_equal(pipe(ready) | pipe(never), 0);
	assert_int_equal(write(ready[1], "", 1), 1);
	raise(SIGTERM);
	assert_true(control__wait_for_reader(&c, ready[0]));
	assert_true(control__waits_for_stderr(&(struct control){.fd = -1}));
	assert_false(control__waits_for_stderr(&c));
	raise(SIGHUP);
	assert_false(control__wait_for_reader(&c, never[0]));
	assert_int_equal(c.n_signals, 2);
	for (int i = 0; i < 2; i++) {
		close(ready[i]);
		close(never[i]);
	}
}

TEST_MAIN(NULL, NULL)
