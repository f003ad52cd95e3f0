/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Stops a process by ptrace while the compiler that it is about to run is planned and attached to.
 *
 * Unlike SIGSTOP, a ptrace stop does not notify the parent, which may be a shell or a build tool.
 * If we die, the kernel lets the process run on. Needs CAP_SYS_PTRACE for a process of another
 * user.
 *
 * Each ptrace stop has a thread, which makes all calls on the process and waits for nothing else.
 * The process runs on at its deadline even if the thread that began the stop is blocked. A call
 * that does not return (the kernel waits in PTRACE_SEIZE for an execve of the process to end)
 * blocks only the thread of that stop, and the process is not stopped then.
 */
#ifndef QPROF_CAPTURE_PTRACE_STOP_H
#define QPROF_CAPTURE_PTRACE_STOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct ptrace_stop;

enum ptrace_stop_state {
	PTRACE_STOP_BEGUN,   /* its main thread has not stopped yet */
	PTRACE_STOP_STOPPED, /* its main thread is stopped */
	PTRACE_STOP_OVER,    /* it runs, is gone, or cannot be stopped */
};

/*
 * Begin to stop the main thread of process `pid`. The process runs on at `until_ns`
 * (CLOCK_MONOTONIC), when a signal that ends or suspends a recording is pending for us, or with
 * ptrace_stop__free(), whichever comes first. Every change of the state writes to `wake_fd`: an
 * eventfd that stays open until ptrace_stop__free(), or -1. -EAGAIN: too many processes are
 * stopped. Prints nothing.
 */
int ptrace_stop__begin(pid_t pid, uid_t user, uint64_t until_ns, int wake_fd,
		       struct ptrace_stop **out);

enum ptrace_stop_state ptrace_stop__state(struct ptrace_stop *s);

/* How long the main thread is stopped so far, or was in all. */
uint64_t ptrace_stop__held_ns(struct ptrace_stop *s);

/* The address at which the main thread stopped; 0 if it did not stop, or if that cannot be read. */
uint64_t ptrace_stop__pc(struct ptrace_stop *s);

/*
 * Let the process run on, and deliver the signal that arrived during the stop, if there is one. The
 * process runs when this returns, unless the thread of this stop did not run for 100 ms because the
 * machine is busy.
 */
void ptrace_stop__free(struct ptrace_stop *s);
DEFINE_CLEANUP(struct ptrace_stop, ptrace_stop__free)
#define _ptrace_stop_ __cleanup(ptrace_stop__free_p)

#endif /* QPROF_CAPTURE_PTRACE_STOP_H */
