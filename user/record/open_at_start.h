/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The compilers that ran before the recording: when it begins, each of their threads is stopped for
 * a moment, and the queries and activities that its stack shows are recorded as begun before.
 */
#ifndef QPROF_RECORD_OPEN_AT_START_H
#define QPROF_RECORD_OPEN_AT_START_H

#include <stdio.h>

#include "capture/session.h"
#include "stuck/answers.h"

struct watch;

/* All zeroes: nothing is looked at. */
struct open_at_start {
	struct watch *watch;
	struct answers *answers; /* the watch's: gets what the session reports; NULL: nothing */
	pid_t *pids;		 /* compilers that were running, and other processes */
	uint32_t n, capacity;
};

/* Once the session is open, before any library is attached. Prints on failure. */
int open_at_start__open(struct open_at_start *b, struct session *s);

/* A process was running when it was first followed. 0 or -ENOMEM. */
int open_at_start__add(struct open_at_start *b, pid_t pid);

/* Right before session__start(): what takes long. */
void open_at_start__prepare(struct open_at_start *b);

/*
 * Right after it. Print a line to `talk` (NULL: none) for each thread that was in something, and
 * clear `b`. What cannot be found is not recorded, which is no error. -EINTR: a signal has come.
 */
int open_at_start__take(struct open_at_start *b, struct session *s, FILE *talk);

void open_at_start__clear(struct open_at_start *b);

#endif /* QPROF_RECORD_OPEN_AT_START_H */
