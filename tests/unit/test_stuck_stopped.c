// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/stopped.h"

#include <sys/mman.h>
#include <unistd.h>

#include "test.h"
#include "../fixtures/running_child.h"
#include "base/cleanup.h"

static void run_for_ever(void)
{
	for (volatile unsigned int i = 0;; i++)
		;
}

/* The value after `field` in a file of /proc/PID: a number or a letter. */
static int number_in(pid_t pid, const char *file, const char *field, const char *format)
{
	char name[64], line[256];
	_fclose_ FILE *f = NULL;
	char letter = 0;
	int number = 0;

	snprintf(name, sizeof(name), "/proc/%d/%s", (int)pid, file);
	f = fopen(name, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, field, strlen(field)))
			continue;
		sscanf(line + strlen(field), format, format[2] == 'c' ? (void *)&letter : &number);
	}
	return letter ?: number;
}

static char state_of(pid_t pid)
{
	return (char)number_in(pid, "status", "State:", " %c");
}

static int tracer_of(pid_t pid)
{
	return number_in(pid, "status", "TracerPid:", " %d");
}

struct seen {
	int calls;
	char state;
	int tracer;
	uint64_t sp;
	int err;
};

static int look_at(void *ctx, const struct stopped *s)
{
	struct seen *seen = ctx;

	seen->calls++;
	seen->state = state_of(s->tid);
	seen->tracer = tracer_of(s->tid);
	seen->sp = s->sp;
	return seen->err;
}

TEST_CASE(it_is_stopped_meanwhile)
{
	struct seen seen = {0};
	pid_t pid = running_child__start(run_for_ever);
	struct stopped s;

	if (!running_child__may_stop(pid))
		return;
	assert_int_equal(stopped__take(&s, pid, look_at, &seen), 0);
	assert_true(seen.tracer);
	assert_struct(seen, calls, 1, state, 't', sp, s.sp);
	assert_int_equal(s.tid, pid);
	assert_true(s.ns > 0 && s.pc && s.sp && s.fs_base);
	running_child__end(pid);
}

TEST_CASE(it_continues_after_an_error)
{
	struct seen seen = {.err = -EBADMSG};
	pid_t pid = running_child__start(run_for_ever);
	struct stopped s;

	if (!running_child__may_stop(pid))
		return;
	assert_int_equal(stopped__take(&s, pid, look_at, &seen), -EBADMSG);
	assert_int_equal(tracer_of(pid), 0);
	running_child__end(pid);
}

/* Until the thread continues, however long that takes. */
static int outlast(void *ctx, const struct stopped *s)
{
	bool *held = ctx;

	while (tracer_of(s->tid))
		usleep(1000);
	*held = stopped__hold((struct stopped *)s);
	return 0;
}

TEST_CASE(it_does_not_wait_for_us_for_ever)
{
	pid_t pid = running_child__start(run_for_ever);
	struct stopped s;
	bool held = true;

	if (!running_child__may_stop(pid))
		return;
	assert_int_equal(stopped__take(&s, pid, outlast, &held), -EBUSY);
	assert_false(held);
	running_child__end(pid);
}

static int hold_it(void *ctx, const struct stopped *s)
{
	*(bool *)ctx = stopped__hold((struct stopped *)s);
	return 0;
}

TEST_CASE(a_held_one_is_stopped_to_the_end)
{
	pid_t pid = running_child__start(run_for_ever);
	bool held = false;
	struct stopped s;

	if (!running_child__may_stop(pid))
		return;
	assert_int_equal(stopped__take(&s, pid, hold_it, &held), 0);
	assert_true(held);
	assert_int_equal(tracer_of(pid), 0);
	running_child__end(pid);
}

static volatile sig_atomic_t *signals;

static void on_signal(int sig)
{
	++*signals;
}

/* A signal that was about to be delivered at the stop is delivered afterwards. */
TEST_CASE(signals_reach_it)
{
	int sent = 0;
	pid_t pid;

	signals = mmap(NULL, sizeof(*signals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	signal(SIGUSR1, on_signal);
	pid = running_child__start(run_for_ever);
	if (!running_child__may_stop(pid))
		return;
	for (; sent < 200; sent++) {
		struct stopped s;

		kill(pid, SIGUSR1);
		assert_int_equal(stopped__take(&s, pid, running_child__look, NULL), 0);
		/* A second pending instance of a signal would be merged with the first. */
		for (int i = 0; i < 5000 && *signals <= sent; i++)
			usleep(1000);
		assert_int_equal(*signals, sent + 1);
	}
	running_child__end(pid);
	signal(SIGUSR1, SIG_DFL);
	munmap((void *)signals, sizeof(*signals));
}

static pid_t child_of(pid_t pid)
{
	char file[64];

	snprintf(file, sizeof(file), "task/%d/children", (int)pid);
	return number_in(pid, file, "", " %d");
}

/* A thread in vfork() waits until its child ends; only a fatal signal interrupts it. */
TEST_CASE(one_that_cannot_stop_is_not_waited_for)
{
	pid_t pid = fork();
	struct stopped s;
	int err, status;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!vfork()) {
			pause();
			_exit(0);
		}
		_exit(0);
	}
	while (state_of(pid) != 'D')
		usleep(100);
	err = stopped__take(&s, pid, running_child__look, NULL);
	if (err != -EPERM)
		assert_int_equal(err, -EBUSY);
	/* The kernel detaches when the tracing thread exits, which may be after pthread_join(). */
	for (int i = 0; i < 30000 && tracer_of(pid); i++)
		usleep(1000);
	assert_int_equal(tracer_of(pid), 0);
	kill(child_of(pid), SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
}

TEST_CASE(a_process_that_is_gone_is_reported)
{
	struct stopped s;

	assert_int_equal(stopped__take(&s, 0x7fffffff, running_child__look, NULL), -ESRCH);
}

TEST_MAIN(NULL, NULL)
