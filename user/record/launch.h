/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A command that is launched to be profiled. It is forked first and waits just before its exec, so
 * that it can be followed from its first instruction. It runs as the invoking user
 * (base/invoker.h), with the signals and the open files that it would have without us.
 *
 * It stays in our process group: the terminal sends Ctrl-C to it as well, so this must not be sent
 * again. The caller must pass on a signal that is sent to us alone (SIGTERM, SIGHUP).
 */
#ifndef QPROF_RECORD_LAUNCH_H
#define QPROF_RECORD_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct launch;

/*
 * Remember the signal mask and the ignored signals that we were started with, for later commands.
 * Call it before changing either. Without this call, commands get an empty mask and ignore nothing.
 */
void launch__save_signals(void);

/* In a child that will exec: make signals what they were then. */
void launch__restore_signals(void);

/*
 * Fork a child that waits for launch__go(). `argv` is NULL-terminated and must outlive the call
 * only. If we die before launch__go(), so does the child, without running anything.
 */
int launch__prepare(char *const argv[], struct launch **out);

pid_t launch__pid(const struct launch *l);

/*
 * Let the child exec, and wait until it has. If it cannot, returns the reason (-ENOENT, -EACCES,
 * ...) and the child is gone. A child that is killed before its exec counts as launched.
 */
int launch__go(struct launch *l);

/* Send a signal; -ESRCH once it has been reaped. */
int launch__signal(const struct launch *l, int sig);

/*
 * 1 and the status of wait(2) if the child has ended (again on every later call), 0 if it has
 * not and `block` is false. -EINTR if a signal came while blocking.
 */
int launch__reap(struct launch *l, bool block, int *status);

/* CPU time of the child and of its children that have ended, in ns; 0 until it is reaped. */
uint64_t launch__cpu_ns(const struct launch *l);

/* End this process as the child ended: the same exit status, or by the same signal (no core). */
void launch__exit_like(int status) __attribute__((noreturn));

/* A child that launch__go() did not release ends without running; a running child goes on. */
void launch__free(struct launch *l);
DEFINE_CLEANUP(struct launch, launch__free)
#define _launch_ __cleanup(launch__free_p)

#endif /* QPROF_RECORD_LAUNCH_H */
