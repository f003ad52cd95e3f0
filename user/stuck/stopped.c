// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/stopped.h"

#include <elf.h>
#include <errno.h>
#include <semaphore.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/signals.h"

/* A running thread stops within microseconds of getting a CPU, which a busy machine delays. */
#define PATIENCE_NS 2000000000
#define PAUSE_NS    50000
/* The work during a stop takes less than a millisecond, unless a disk or a busy machine delays
 * us. */
#define MEANWHILE_NS 1000000000

enum { STOPPED, HELD, CONTINUED };

/* The thread that traces, and the one that waits for it. */
struct taking {
	struct stopped *s;
	sem_t is_stopped; /* or cannot be */
	sem_t may_continue;
	int err;
};

/*
 * *signal is a signal that was about to be delivered when the thread stopped; the caller delivers
 * it again. 0: none.
 */
static int stop(pid_t tid, int *signal)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	uint64_t end;
	int status, got;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
		return -errno;
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
		return -errno;
	end = clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
	while (!(got = waitpid(tid, &status, __WALL | WNOHANG))) {
		if (clock_ns(CLOCK_MONOTONIC) >= end)
			return -EBUSY;
		nanosleep(&pause, NULL);
	}
	if (got < 0)
		return errno == ECHILD ? -ESRCH : -errno;
	if (!WIFSTOPPED(status))
		return -ESRCH;
	*signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
	return 0;
}

static int read_registers(struct stopped *s)
{
	struct user_regs_struct r;
	struct iovec io = {&r, sizeof(r)};

	if (ptrace(PTRACE_GETREGSET, s->tid, NT_PRSTATUS, &io))
		return -errno;
	if (io.iov_len < sizeof(r))
		return -ENOTSUP;
	s->pc = r.rip;
	s->sp = r.rsp;
	s->bp = r.rbp;
	s->r11 = r.r11;
	s->fs_base = r.fs_base;
	return 0;
}

static void wait_on(sem_t *s)
{
	while (sem_wait(s) && errno == EINTR)
		;
}

/* The stop must end however long the other thread is busy. */
static void wait_for_meanwhile(struct taking *t)
{
	const struct timespec at = clock_timespec(clock_ns(CLOCK_MONOTONIC) + MEANWHILE_NS);
	int state = STOPPED;

	while (sem_clockwait(&t->may_continue, CLOCK_MONOTONIC, &at)) {
		if (errno == EINTR)
			continue;
		if (!__atomic_compare_exchange_n(&t->s->state, &state, CONTINUED, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			wait_on(&t->may_continue);
		return;
	}
}

bool stopped__hold(struct stopped *s)
{
	int state = STOPPED;

	return __atomic_compare_exchange_n(&s->state, &state, HELD, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

static void *take(void *taking)
{
	struct taking *t = taking;
	uint64_t since = clock_ns(CLOCK_MONOTONIC);
	struct stopped *s = t->s;
	int signal = 0;

	t->err = stop(s->tid, &signal);
	if (t->err) {
		sem_post(&t->is_stopped);
		return NULL;
	}
	t->err = read_registers(s);
	sem_post(&t->is_stopped);
	wait_for_meanwhile(t);
	if (ptrace(PTRACE_DETACH, s->tid, NULL, (void *)(intptr_t)signal) && !t->err)
		t->err = -errno;
	s->ns = clock_ns(CLOCK_MONOTONIC) - since;
	return NULL;
}

/*
 * Only a stopped thread can be detached. When a tracing thread ends, the kernel detaches its
 * tracees and withdraws the stop request, so a thread of our own does the tracing. It does nothing
 * else: children that `meanwhile` starts must outlive it. No signal may interrupt the stop, not
 * even Ctrl-Z, which would stop the whole process.
 */
int stopped__take(struct stopped *s, pid_t tid, stopped_fn meanwhile, void *ctx)
{
	const sigset_t keys = signals_of((const int[]){SIGTSTP, 0});
	struct taking t = {.s = s};
	pthread_t thread;
	sigset_t before;
	int err;

	*s = (struct stopped){.tid = tid};
	sem_init(&t.is_stopped, 0, 0);
	sem_init(&t.may_continue, 0, 0);
	pthread_sigmask(SIG_BLOCK, &keys, &before);
	err = signals_start_thread(&thread, NULL, take, &t);
	if (!err) {
		wait_on(&t.is_stopped);
		err = t.err ?: meanwhile(ctx, s);
		sem_post(&t.may_continue);
		pthread_join(thread, NULL);
		if (!err && s->state == CONTINUED)
			err = -EBUSY;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err ?: t.err;
}
