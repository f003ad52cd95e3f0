/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A process that waits, while the compiler that it is about to run is planned and attached to.
 *
 * It is held by ptrace: its parent, which may be a shell or a build tool, is told nothing, as it
 * would be of SIGSTOP; and if we die, the kernel lets it run on. Needs CAP_SYS_PTRACE for a process
 * of somebody else's. All calls for one hold must be made by one thread.
 */
#ifndef QPROF_CAPTURE_HOLD_H
#define QPROF_CAPTURE_HOLD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct hold;

/*
 * Stop process `pid`, which has one thread, or any other thread. -ESRCH it is gone; -EPERM it is
 * somebody else's, or traced by another debugger. Nothing is printed.
 */
int hold__begin(pid_t pid, struct hold **out);

/*
 * True if the dynamic loader is at work in it: what it loads now has run no code yet. False if
 * that cannot be told.
 */
bool hold__is_loading(const struct hold *h);

/* Let it run on, with the signal that came meanwhile, if one did. */
void hold__free(struct hold *h);
DEFINE_CLEANUP(struct hold, hold__free)
#define _hold_ __cleanup(hold__free_p)

#endif /* QPROF_CAPTURE_HOLD_H */
