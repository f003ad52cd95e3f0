/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Watches compilers in order to tell, at any moment, what they are doing. What their threads enter
 * from now on is kept in the kernel, and looked up there; what they entered before is read from
 * their stacks.
 */
#ifndef QPROF_STUCK_WATCH_H
#define QPROF_STUCK_WATCH_H

#include "capture/session.h"
#include "stuck/picture.h"

struct watch;

/* Prints one line on failure. */
int watch__open(struct watch **out);

/*
 * Follow a running process and what is below it; *compilers counts the compilers found. -ESRCH if
 * it is gone; other errors are printed.
 */
int watch__follow(struct watch *w, pid_t pid, unsigned int *compilers);

/* What is entered from now on is seen. */
void watch__start(struct watch *w);

/* Take in what the kernel half has sent: about compilers that were started, mostly. */
int watch__drain(struct watch *w);

/* To be called before we stop for a time that nobody knows: as session__suspend(). */
int watch__suspend(struct watch *w);

/*
 * Add the compilers among process `pid` and those below it to the picture, whose texts are the
 * watch's in part: clear it first. Each of their threads is stopped for a moment. 0 also if `pid`
 * is gone; -EINTR: a signal came, and we have to exit (stuck/stopped.h).
 */
int watch__look(struct watch *w, pid_t pid, struct picture *p);

void watch__free(struct watch *w);
DEFINE_CLEANUP(struct watch, watch__free)
#define _watch_ __cleanup(watch__free_p)

#endif /* QPROF_STUCK_WATCH_H */
