/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Stops a thread by ptrace, reads its registers, and lets it continue. What else is read of the
 * thread meanwhile is of the same moment.
 *
 * If we are killed during the stop, the kernel lets the thread continue.
 */
#ifndef QPROF_STUCK_STOPPED_H
#define QPROF_STUCK_STOPPED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct stopped {
	pid_t tid;
	uint64_t pc, sp, bp, r11;
	uint64_t fs_base; /* of its thread-local memory */
	uint64_t ns;	  /* from the stop request to the detach */
	int state;	  /* stopped.c's */
};

/* Called during the ptrace stop. stopped__take() returns its error. */
typedef int (*stopped_fn)(void *ctx, const struct stopped *s);

/*
 * Stop thread `tid`, fill in *s but for `ns`, call `meanwhile`, and let the thread continue.
 * -EBUSY: the thread did not stop within 2 s, because it waits uninterruptibly (a disk, the child
 * of a vfork()); it continues. So it does after 1 s in `meanwhile`, unless that calls
 * stopped__hold(): what was read may be torn. -ESRCH: it is gone. -EPERM: no permission, or another
 * debugger is attached. Other negative errnos.
 */
int stopped__take(struct stopped *s, pid_t tid, stopped_fn meanwhile, void *ctx);

/*
 * Called in `meanwhile`: the thread does not continue until that returns, which must be soon.
 * False: it continues already.
 */
bool stopped__hold(struct stopped *s);

#endif /* QPROF_STUCK_STOPPED_H */
