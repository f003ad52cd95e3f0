/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Watches compilers, to show at any moment what they are doing. The kernel keeps the intervals that
 * their threads enter from now on; stuck reads earlier entries from the threads' stacks.
 */
#ifndef QPROF_STUCK_WATCH_H
#define QPROF_STUCK_WATCH_H

#include "capture/session.h"
#include "stuck/answers.h"
#include "stuck/snapshot.h"

struct watch;

/* Prints one line on failure. */
int watch__open(struct watch **out);

/*
 * The same on the session of a recording, which outlives the watch and passes what it reports to
 * `*answers`, too. Its kernel half has show_open. Only watch__prepare() and watch__begin() are used
 * then.
 */
int watch__open_beside(struct session *s, struct answers **answers, struct watch **out);

/* Make what is needed to read the stacks of a compiler that watch__begin() will look at. */
void watch__prepare(struct watch *w, pid_t pid);

/*
 * The recording began at `begun_ns`. Look at process `pid`, if it is a compiler, as watch__look(),
 * and have the intervals recorded that its threads were in already, as if they began then.
 */
int watch__begin(struct watch *w, pid_t pid, uint64_t begun_ns, struct snapshot *p);

/*
 * Follow a running process and its descendants; *compilers counts the compilers found. -ESRCH if
 * the process is gone; other errors are printed.
 */
int watch__follow(struct watch *w, pid_t pid, unsigned int *compilers);

/* Record entries from now on. */
void watch__start(struct watch *w);

/* Process the records of the kernel half, mostly about new compilers. */
int watch__drain(struct watch *w);

/* Call before stopping for an unknown time, as session__suspend(). */
int watch__suspend(struct watch *w);

/*
 * Add the compilers among process `pid` and its descendants to the snapshot. Some of its texts
 * belong to the watch, so clear it first. Each thread of the compilers is stopped for a moment. 0
 * also if `pid` is gone. -EINTR: a signal arrived and the program has to exit (stuck/stopped.h).
 */
int watch__look(struct watch *w, pid_t pid, struct snapshot *p);

/* Probe hits in compilers so far, and the lost ones among them. 0 or a negative errno. */
int watch__hits(const struct watch *w, uint64_t *hits, uint64_t *lost);

void watch__free(struct watch *w);
DEFINE_CLEANUP(struct watch, watch__free)
#define _watch_ __cleanup(watch__free_p)

#endif /* QPROF_STUCK_WATCH_H */
